"""The commit that brought what a mined fix mends."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.street import recipes, veins
from benchmarks.street.recipes import Recipe
from benchmarks.street.workbench import Bench, DroppedError
from tests.benchmarks.project import on_a_bench

GOOD = "def half(n):\n    return n / 2\n"
BAD = GOOD.replace("/ 2", "// 2")
START = {"stats.py": GOOD, "test_stats.py": "def test_nothing(): ...\n"}
TEST = {
    "test_stats.py": "from stats import half\n\n\ndef test_half():\n    assert half(3) == 1.5\n"
}
NOTE = {"note.txt": "Something else.\n"}


def _fix(bench: Bench, shas: tuple[str, ...]) -> Recipe:
    return Recipe(
        id="fixes/stats", part="fixes", repository=bench.clone.repository, base=shas[-2],
        fix=shas[-1], tests=("test_stats.py",), sources=("stats.py",), python="3.11",
        red=("test_stats.py::test_half",), passed=0, seconds=0.1,
    )  # fmt: skip


@pytest.mark.long
def test_the_tests_of_a_fix_are_green_before_the_commit_that_brought_the_bug(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench, shas = on_a_bench(tmp_path, START, {"stats.py": BAD}, NOTE, {"stats.py": GOOD, **TEST})
    monkeypatch.setattr(recipes, "load", lambda name: (_fix(bench, shas),))
    (change,) = veins.mended(bench.clone)
    found = veins.brought(bench, change)
    assert (found.culprit, found.base, found.fix) == shas[1:]
    assert (found.part, found.id) == ("regressions", f"regressions/stats-{shas[1][:8]}")


@pytest.mark.long
@pytest.mark.parametrize(
    ("first", "why"),
    [
        ({"stats.py": GOOD.replace("/ 2", "/ 3")}, "its tests fail before it"),
        ({"stats.py": GOOD, "test_more.py": "def test_red():\n    raise ValueError\n"},
         "other tests fail before it"),
    ],
)  # fmt: skip
def test_what_was_red_before_is_no_regression(
    first: dict[str, str], why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench, shas = on_a_bench(tmp_path, first, {"stats.py": BAD}, {"stats.py": GOOD, **TEST})
    monkeypatch.setattr(recipes, "load", lambda name: (_fix(bench, shas),))
    (change,) = veins.mended(bench.clone)
    with pytest.raises(DroppedError, match=why):
        veins.brought(bench, change)


def test_a_function_that_came_with_its_bug_is_no_regression(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench, shas = on_a_bench(tmp_path, NOTE, {"stats.py": BAD}, {"stats.py": GOOD, **TEST})
    monkeypatch.setattr(recipes, "load", lambda name: (_fix(bench, shas),))
    assert not list(veins.mended(bench.clone))
