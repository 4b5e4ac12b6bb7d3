"""Which passing tests watch over a search."""

from __future__ import annotations

from dataclasses import replace

import pytest

from heal_bot.core.model import (
    Baseline,
    ChangedFile,
    Cluster,
    Failure,
    Regression,
    Spectrum,
    Suspect,
    Target,
)
from heal_bot.verification.warm_trial import choose_guards
from tests.fakes import failed, passed, suite

RED = "tests/test_a.py::test_red"
# Lines 1 to 3 are one function, 4 and 5 another.
LINES = tuple(("shop.py", line) for line in (1, 2, 3, 4, 5))


def _cluster(*spans: tuple[int, int]) -> Cluster:
    targets = [Target("shop.py", f"f{a}", 0, "function", a, b, "") for a, b in spans]
    return Cluster("c", (Failure(RED, "", ""),), tuple(Suspect(t, 1.0) for t in targets), "")


def _baseline(**ran: tuple[float, int]) -> Baseline:
    """Passing tests of test_a.py by name: their seconds, and the lines that they executed."""
    named = {f"tests/test_a.py::{name}": (seconds, hits) for name, (seconds, hits) in ran.items()}
    results = [replace(passed(test), seconds=seconds) for test, (seconds, _) in named.items()]
    hits = {test: bits for test, (_, bits) in named.items()}
    done = suite(*results, failed(RED))
    return Baseline((), replace(done, spectrum=Spectrum(LINES, {RED: 1, **hits})), 1)


def _chosen(
    baseline: Baseline, cluster: Cluster, regressions: tuple[Regression, ...] = ()
) -> list[str]:
    chosen = choose_guards(baseline, cluster, regressions)
    return [test.rpartition("::")[2] for test in chosen]


def test_a_rare_function_keeps_its_tests_beside_hundreds_that_are_faster_elsewhere() -> None:
    fast = {f"fast_{n}": (0.001, 0b00111) for n in range(500)}
    rare = {f"rare_{n}": (0.5, 0b11000) for n in range(2)}
    chosen = _chosen(_baseline(**fast, **rare), _cluster((1, 3), (4, 5)))
    assert len(chosen) == 200
    assert chosen[:3] == ["fast_0", "rare_0", "fast_1"]
    assert "rare_1" in chosen


def test_each_line_is_executed_before_any_is_twice() -> None:
    found = _baseline(first=(0.1, 0b001), again=(0.2, 0b001), other=(0.3, 0b110))
    assert _chosen(found, _cluster((1, 3))) == ["first", "other", "again"]


def test_what_the_breaking_commit_brought_comes_first_however_slow_and_wherever_collected() -> None:
    found = _baseline(**{f"fast_{n}": (0.01, 0b111) for n in range(300)}, brought=(1.0, 0b001))
    assert "brought" not in _chosen(found, _cluster((1, 3)))
    new = ChangedFile("tests/test_parts.py", b"", b"def brought():\n    pass\n")
    commit = Regression("a" * 40, "b" * 40, "Add a price", (RED,), files=(new,))
    assert _chosen(found, _cluster((1, 3)), (commit,))[:2] == ["brought", "fast_0"]
    elsewhere = replace(commit, tests=("tests/test_b.py::test_red",))
    assert "brought" not in _chosen(found, _cluster((1, 3)), (elsewhere,))


def test_tests_of_the_same_file_come_last() -> None:
    found = _baseline(beside=(0.1, 0b10000), slow=(0.4, 0b00001))
    assert _chosen(found, _cluster((1, 3))) == ["slow", "beside"]


@pytest.mark.parametrize(
    ("seconds", "chosen"),
    [((5.0, 0.1, 0.1), ["b", "c"]), ((5.0, 3.0, 4.0), ["b"]), ((1.5, 0.4, 1.0), ["b", "c"])],
)
def test_what_takes_too_long_is_left_out_unless_nothing_else_is_there(
    seconds: tuple[float, float, float], chosen: list[str]
) -> None:
    found = _baseline(**{name: (took, 1) for name, took in zip("abc", seconds, strict=True)})
    assert sorted(_chosen(found, _cluster((1, 3)))) == chosen


def test_guards_of_a_suite_that_takes_long_may_take_longer() -> None:
    found = _baseline(first=(1.5, 0b001), other=(1.5, 0b110))
    slow = replace(found, suite=replace(found.suite, seconds=60.0))
    assert _chosen(found, _cluster((1, 3))) == ["first"]
    assert _chosen(slow, _cluster((1, 3))) == ["first", "other"]
