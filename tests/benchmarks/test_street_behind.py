"""Commits that change behaviour on purpose, with the tests that were there before them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from benchmarks.street import recipes
from benchmarks.street.history import adapted
from benchmarks.street.veins import left_behind
from benchmarks.street.workbench import DroppedError
from tests.benchmarks.project import on_a_bench

OLD = {
    "stats.py": "def half(n):\n    return n / 2\n",
    "test_stats.py": "from stats import half\n\n\ndef test_half():\n    assert half(3) == 1.5\n",
}
NEW = {name: text.replace("/ 2", "// 2").replace("1.5", "1") for name, text in OLD.items()}
FURTHER = {"test_more.py": "from stats import half\n\n\ndef test_two():\n    assert half(2) == 1\n"}


@pytest.mark.long
def test_a_commit_is_a_case_when_its_parents_tests_fail_with_its_source(tmp_path: Path) -> None:
    bench, shas = on_a_bench(tmp_path, OLD, {**NEW, **FURTHER})
    (change,) = adapted(bench.clone)
    found = left_behind(bench, change)
    assert (found.base, found.fix) == shas
    assert set(found.tests) == {"test_more.py", "test_stats.py"}
    assert (found.red, found.passed) == (("test_stats.py::test_half",), 0)
    assert found.id == f"situations/intended/stats-{shas[1][:8]}"


@pytest.mark.long
@pytest.mark.parametrize(
    ("commits", "why"),
    [
        ([OLD, {"stats.py": f"{OLD['stats.py']}\n\nMORE = 1\n",
                "test_stats.py": OLD["test_stats.py"].replace("(3) == 1.5", "(4) == 2")}],
         "the tests before it pass with it"),
        ([{**OLD, "test_more.py": FURTHER["test_more.py"].replace("(2) == 1", "(1) == 0.5")}, NEW],
         "a test fails that it leaves alone"),
        ([{**OLD, "test_more.py": "def test_red():\n    raise ValueError\n"}, NEW],
         "a test fails that it leaves alone"),
        ([OLD, {**NEW, "test_more.py": "def test_red():\n    raise ValueError\n"}], "red as it is"),
    ],
)  # fmt: skip
def test_what_is_no_change_that_was_meant_is_dropped(
    tmp_path: Path, commits: list[dict[str, str]], why: str
) -> None:
    bench, _ = on_a_bench(tmp_path, *commits)
    change = next(adapted(bench.clone))
    with pytest.raises(DroppedError, match=why):
        left_behind(bench, change)


def test_a_commit_that_only_adds_tests_changes_no_behaviour_on_purpose(tmp_path: Path) -> None:
    bench, _ = on_a_bench(tmp_path, OLD, {"stats.py": NEW["stats.py"], **FURTHER})
    assert not list(adapted(bench.clone))


def test_the_changes_that_were_meant_are_many_and_of_both_halves() -> None:
    found = recipes.load("intended")
    assert len(found) >= 30
    assert max(Counter(recipe.repository for recipe in found).values()) <= 3
    assert min(Counter(recipe.split for recipe in found).values()) >= 10
    assert not {recipe.project for recipe in found} & recipes.EXCLUDED
    for recipe in found:
        assert recipe.id.startswith("situations/intended/")
        assert {test.partition("::")[0] for test in recipe.red} <= set(recipe.tests)
