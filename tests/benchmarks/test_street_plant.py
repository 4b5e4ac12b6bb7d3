"""Faults planted in a small project, and those that are dropped."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.street import planted
from benchmarks.street.faults import mutant
from benchmarks.street.plant import Field, _place, _tried, _validated
from benchmarks.street.recipes import Planted
from benchmarks.street.workbench import DroppedError
from tests.benchmarks.project import on_a_bench
from tests.github_server.repository import GitRepository

STATS = (
    "def half(n):\n    return n / 2\n\n\ndef low(a, b):\n    return a if a < b else b\n\n\n"
    "def said(n):\n    print('n is', n)\n    return n\n"
)
TEST = (
    "from stats import half, low, said\n\n\ndef test_half():\n    assert half(3) == 1.5\n\n\n"
    "def test_low():\n    assert (low(1, 2), low(2, 1), said(1)) == (1, 1, 1)\n"
)
COMMITS = (
    {"stats.py": STATS.replace("< b", "<= b"), "test_stats.py": TEST},
    {"stats.py": STATS},
    {"note.txt": "A note.\n"},
    {"other.py": "OTHER = 1\n"},
)
FAULT = Planted(path="stats.py", qualname="low", nth=0, kind="comparison", seed=0, depth=2,
                inside=True)  # fmt: skip


def field(folder: Path) -> Field:
    """A green project whose functions are all executed."""
    bench, shas = on_a_bench(folder, *COMMITS)
    names = frozenset(("stats.py", name) for name in ("half", "low", "said"))
    return Field(bench, GitRepository(bench.clone.path), shas[-1], 1.0, names)


@pytest.mark.long
def test_a_seed_gives_a_recipe_that_grows_again(tmp_path: Path) -> None:
    here = field(tmp_path)
    for number in range(40):
        try:
            found = _tried(here, 0, number, [])
            break
        except DroppedError:
            continue
    assert found.planted is not None
    assert set(found.red) <= {"test_stats.py::test_half", "test_stats.py::test_low"}
    assert len(found.red) + found.passed == 2
    assert found == _tried(here, 0, number, []).model_copy(update={"seconds": found.seconds})
    head = planted.grow(here.git, found).head
    assert here.run("stats.py", planted.text_of(here.git, head, "stats.py")).red == {*found.red}


@pytest.mark.long
def test_a_fault_that_no_test_kills_is_dropped(tmp_path: Path) -> None:
    here = field(tmp_path)
    fault = FAULT.model_copy(update={"qualname": "said", "kind": "call"})
    with pytest.raises(DroppedError, match="no test kills it"):
        _validated(here, fault, here.head, STATS, mutant(STATS, fault))


@pytest.mark.parametrize(("wanted", "depth"), [(0, 2), (2, 2), (30, 2)])
def test_an_honest_commit_is_the_nearest_that_changes_what_is_executed(
    tmp_path: Path, wanted: int, depth: int
) -> None:
    here = field(tmp_path)
    assert _place(here, wanted, inside=True) == (depth, frozenset({"stats.py"}))
    assert _place(here, wanted, inside=False) == (min(wanted, 3), frozenset())
