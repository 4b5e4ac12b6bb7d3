"""Former code and a commit's code, each where it is wanted, on sources that are run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from heal_bot.core.model import Attempt, ChangedFile, Cluster, Failure, Regression
from heal_bot.repair.search.attempt_log import AttemptLog
from heal_bot.repair.search.delta_debugging import find_reversals
from heal_bot.source import edit
from tests.fakes import ExecSession, FolderTree, quiet_run

TEST, NEW = "tests/test_m.py::test_m", "tests/test_m.py::test_new"


def _find(
    tmp_path: Path, before: str, after: str, old: str, new: str
) -> tuple[list[Attempt], list[str], AttemptLog]:
    """What is found for a commit that broke what `old` says, and brought a test of `new`."""
    tree = FolderTree.of(tmp_path, {"m.py": after})
    files = (
        ChangedFile("m.py", before.encode(), after.encode()),
        ChangedFile("tests/test_m.py", b"", b"def test_new():\n    pass\n"),
    )
    regression = Regression("a" * 40, "b" * 40, "Add it", (TEST,), True, files)
    ledger = AttemptLog(tree, regressions=(regression,))

    def holds(said: str) -> Any:
        return lambda names: bool(eval(said, names))

    session: Any = ExecSession(tree, "m.py", {TEST: holds(old)}, {NEW: holds(new)})
    cluster = Cluster("c1", (Failure(TEST, "AssertionError", "assert"),), ())
    run, _ = quiet_run()
    found = list(find_reversals(run, cluster, session, ledger))
    return found, [edit.patch_files(tree, one.candidate.edits)[0].content for one in found], ledger


@pytest.mark.parametrize(
    ("before", "after", "expected", "old", "new"),
    [
        pytest.param(
            "def label(n):\n    return str(n)\n",
            'def label(n, unit=None):\n    return f"{n} {unit}"\n',
            'def label(n, unit=None):\n    return str(n) if unit is None else f"{n} {unit}"\n',
            "label(3) == '3'",
            "label(3, 'm') == '3 m'",
            id="what it returns",
        ),
        pytest.param(
            "def pair(n):\n    one = 2 * n\n    two = 3 * n\n    return one, two\n",
            "def pair(n, by=None):\n    one = 2 * n * (by or 2)\n    two = 3 * n * (by or 2)\n"
            "    return one, two\n",
            "def pair(n, by=None):\n    one = 2 * n if by is None else 2 * n * (by or 2)\n"
            "    two = 3 * n if by is None else 3 * n * (by or 2)\n    return one, two\n",
            "pair(1) == (2, 3)",
            "pair(1, 3) == (6, 9)",
            id="two expressions",
        ),
        pytest.param(
            "def fill(n):\n    box = [n]\n    return box\n",
            "def fill(n, more=()):\n    box = [n]\n    box = [*more, *box, 0]\n    return box\n",
            "def fill(n, more=()):\n    box = [n]\n    if more:\n        box = [*more, *box, 0]\n"
            "    return box\n",
            "fill(3) == [3]",
            "fill(3, (4,)) == [4, 3, 0]",
            id="a statement that came",
        ),
        pytest.param(
            "def first(box):\n    return box[0]\n",
            "def first(box, most=None):\n    for one in box[:most]:\n        return max(box)\n",
            "def first(box, most=None):\n    if most is None:\n        return box[0]\n"
            "    for one in box[:most]:\n        return max(box)\n",
            "first([1, 2]) == 1",
            "first([1, 2], 2) == 2",
            id="statements that end there",
        ),
        pytest.param(
            "class Box:\n    def __init__(self, n):\n        self.n = n\n\n"
            "    def show(self):\n        self.n += 1\n        return self.n\n",
            "class Box:\n    def __init__(self, n, still=False):\n        self.n = n\n"
            "        self.still = still\n\n    def show(self):\n        return self.n\n",
            "class Box:\n    def __init__(self, n, still=False):\n        self.n = n\n"
            "        self.still = still\n\n    def show(self):\n        if not self.still:\n"
            "            self.n += 1\n        return self.n\n",
            "Box(3).show() == 4",
            "Box(3, True).show() == 3",
            id="a statement that went",
        ),
    ],
)
def test_a_change_that_came_with_an_option_is_kept_for_that_option(
    tmp_path: Path, before: str, after: str, expected: str, old: str, new: str
) -> None:
    found, texts, _ = _find(tmp_path, before, after, old, new)
    assert texts == [expected]
    assert found[0].candidate.family == "guarded reversal"
    assert found[0].doubts[-1].startswith("keeps a part of `bbbbbbb` (Add it) under a condition")


def test_where_no_condition_suits_both_sides_it_is_undecided(tmp_path: Path) -> None:
    before, after = "def twice(n):\n    return 2 * n\n", "def twice(n):\n    return 3 * n\n"
    found, _, ledger = _find(tmp_path, before, after, "twice(3) == 6", "twice(4) == 12")
    assert found == []
    assert "Undecided: the tests are out of date, or" in ledger.unsure["c1"]
