"""Which Python a repository is tested with, of those that it names and those that are there."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from heal_bot.environments.interpreters import choose
from heal_bot.environments.target_interpreter import find

OWN = f"3.{sys.version_info.minor}.1"
NEWER, OLDER = (f"3.{sys.version_info.minor + step}.2" for step in (1, -1))
CI = ".github/workflows/ci.yml"


def _short(version: str) -> str:
    return version.rpartition(".")[0]


def _chosen(*wishes: tuple[tuple[str, ...], str], there: tuple[str, ...] = (NEWER, OWN, OLDER)):
    real = find(Path(sys.executable).resolve())
    python, note = choose([replace(real, version=one) for one in there], "", wishes, "")
    return python.version, note


def test_where_nothing_is_named_it_is_our_own_else_the_newest() -> None:
    assert _chosen() == (OWN, "")
    assert _chosen(there=(NEWER, OLDER)) == (NEWER, "")


def test_the_first_place_that_names_one_which_is_there_counts() -> None:
    assert _chosen(((_short(OLDER),), "tox.ini"), ((_short(OWN),), CI)) == (OLDER, "")


@pytest.mark.parametrize(
    ("there", "chosen"),
    [((NEWER, OWN, OLDER), OWN), ((NEWER, OLDER), NEWER), ((OLDER,), OLDER)],
    ids=["our own is among them", "the newest", "the only one"],
)
def test_of_a_matrix_the_lowest_is_not_taken_without_a_reason(
    there: tuple[str, ...], chosen: str
) -> None:
    named = tuple(map(_short, (OLDER, OWN, NEWER)))
    python, note = _chosen((named, CI), there=there)
    assert python == chosen
    assert note == f"{CI} names Python {', '.join(named)}: tested with {chosen} alone"


def test_a_matrix_that_tests_counts_before_one_of_another_job() -> None:
    assert _chosen(((_short(OLDER),), CI), ((_short(OWN),), CI)) == (OLDER, "")


def test_our_own_comes_before_one_that_is_there_to_the_patch() -> None:
    python, _ = _chosen(((OLDER, _short(OWN)), CI))
    assert python == OWN


def test_what_is_named_first_and_absent_is_told() -> None:
    absent = "which is not on this machine: not tested with it, but with"
    found = _chosen((("3.99",), ".python-version"), ((_short(OLDER),), CI))
    assert found == (OLDER, f".python-version names Python 3.99, {absent} {OLDER}")
