"""The real situations of the street: labels, spread, and what a check says."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from benchmarks.street import real
from benchmarks.street.clones import CloneError
from benchmarks.street.real import Cure, Real
from benchmarks.street.recipes import EXCLUDED

LOADED = real.load()
ONE = Real(
    id="situations/demo-1", repository="ada/demo", commit="0" * 40, kind="interpreter",
    action="explain", says=("python",), python="3.12", red=("tests/test_a.py::test_b",),
    environment={"TZ": "UTC"}, cure=Cure(python="3.11", environment={}), cured=True,
)  # fmt: skip


def test_the_situations_are_many_and_spread() -> None:
    assert len(LOADED) >= 46
    assert len({one.id for one in LOADED}) == len(LOADED)
    assert {one.split for one in LOADED} == {"tune", "held"}
    per_project = Counter(one.repository for one in LOADED)
    assert len(per_project) >= 15
    assert max(per_project.values()) <= 4
    assert not EXCLUDED & {one.project for one in LOADED}


@pytest.mark.parametrize("one", LOADED, ids=lambda one: one.id)
def test_a_situation_has_a_label_that_can_be_judged(one: Real) -> None:
    assert bool(one.red) == (one.action != "silent" or one.kind == "lint")
    assert bool(one.says) == (one.action == "explain")
    assert all(word == word.lower() and word for word in one.says)
    assert bool(one.fix and one.sources) == (one.action == "repair")
    assert one.cure is not None or not one.cured


def test_a_cure_takes_the_place_of_what_it_names() -> None:
    healthy = ONE.healthy()
    assert (healthy.python, healthy.environment, healthy.commit) == ("3.11", {}, ONE.commit)


def test_a_path_without_a_program_has_the_others(tmp_path: Path) -> None:
    given = real.job(ONE.model_copy(update={"without": ("git",), "root": False}), tmp_path)
    names = {program.name for program in (tmp_path / "programs").iterdir()}
    assert "git" not in names
    assert "env" in names
    assert given.environment["PATH"].endswith(str(tmp_path / "programs"))
    assert given.prefix


@pytest.mark.parametrize(
    ("red", "cured", "said"),
    [
        (ONE.red, True, ""),
        ((), True, "0 red, not 1"),
        (ONE.red, False, "cured is False now"),
    ],
)
def test_a_check_says_what_changed(
    red: tuple[str, ...], cured: bool, said: str, tmp_path: Path
) -> None:
    now = ONE.model_copy(update={"red": red, "cured": cured})
    assert real.checked(ONE, tmp_path, lambda *_: now) == said


def test_a_check_says_which_clone_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(CloneError):
        real.seen(ONE, tmp_path, tmp_path, 1)
    assert "no clone of ada/demo" in real.checked(ONE, tmp_path, real.measured)
