"""A small edit that does what the code before a commit did, on sources that are run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from heal_bot.core.model import (
    Attempt,
    CallResult,
    Calls,
    Candidate,
    ChangedFile,
    Cluster,
    Edit,
    Failure,
    Regression,
    Suspect,
)
from heal_bot.repair.search.attempt_log import AttemptLog
from heal_bot.repair.search.equivalent_edit import _is_own, _restrict, search_history
from heal_bot.source import functions
from heal_bot.source.edit import patch_files
from tests.fakes import ExecSession, FolderTree, ListProposer, quiet_run

TEST = "tests/test_m.py::test_m"
BEFORE = """def name(n):
    sign = "minus" if n < 0 else "some"
    return "none" if n == 0 else sign
"""
AFTER = """def name(n):
    words = {-1: "minus", 0: "none"}
    sign = (n > 0) - (n < 1)
    return words.get(sign, "some")
"""
TITLE = "refactor: take names from a table"
RIGHT, LUCKY = "(n < 0)", "(n < 0 and n != -3)"


@dataclass(frozen=True)
class ChangedTree(FolderTree):
    """A checkout of which it is known what changed."""

    changed: dict[str, frozenset[int]] = field(default_factory=dict)

    def changed_lines(self) -> dict[str, frozenset[int]]:
        return self.changed


def _names(m: dict[str, Any]) -> bool:
    return bool(m["name"](0) == "none" and m["name"](-2) == "minus")


def _find(
    tmp_path: Path,
    edits: Sequence[str],
    calls: int = 9,
    told: tuple[ChangedFile, ...] = (),
    title: str = TITLE,
    changed: dict[str, frozenset[int]] | None = None,
    code: tuple[str, str, str] = (BEFORE, AFTER, "(n < 1)"),
    check: Callable[[dict[str, Any]], bool] = _names,
) -> tuple[Attempt | None, AttemptLog]:
    """What is found among edits of the last part of some code, compared on so many calls."""
    before, after, last = code
    tree = ChangedTree(FolderTree.of(tmp_path, {"m.py": after}).root, changed=changed or {})
    files = (ChangedFile("m.py", before.encode(), after.encode()), *told)
    regression = Regression("a" * 40, "b" * 40, title, (TEST,), True, files)
    ledger = AttemptLog(tree, regressions=(regression,))

    def call(candidates: Sequence[Candidate]) -> Calls:
        rows = []
        for edits in [(), *(candidate.edits for candidate in candidates)]:
            names: dict[str, Any] = {}
            exec(patch_files(tree, edits)[0].content if edits else after, names)
            told = [repr(names["name"](n)) for n in range(-4, calls - 4)]
            rows.append(tuple(CallResult("returned", "str", one, one, one) for one in told))
        return Calls(tuple(f"name({n})" for n in range(-4, calls - 4)), 1, tuple(rows))

    session: Any = ExecSession(tree, "m.py", {TEST: check}, calls=call)
    cluster = Cluster("c1", (Failure(TEST, "AssertionError", "assert"),), ())
    (target,) = functions.read("m.py", after.encode())
    proposed = [
        Candidate((Edit(target, after.replace(last, text)),), "rules", "comparison", text)
        for text in edits
    ]
    run, _ = quiet_run()
    offered = [
        *search_history(run, cluster, session, ledger, [ListProposer(proposed)], lambda: iter(()))
    ]
    found = offered[0] if offered[0].candidate.proposer == "rules" else None
    return found, ledger


@pytest.mark.parametrize("edits", [[RIGHT], [LUCKY, RIGHT]])
def test_what_does_the_same_on_all_calls_is_found(tmp_path: Path, edits: list[str]) -> None:
    found, ledger = _find(tmp_path, edits)
    assert found is not None
    assert found.candidate.rationale == RIGHT
    assert (found.lacks, ledger.attempts[found.number - 1]) == ((), found)
    assert found.doubts == (
        "lets the code of `bbbbbbb` (refactor: take names from a table) do what the code before it"
        " did, on 9 calls: right unless the difference was meant",
    )


def test_what_does_something_else_on_a_call_is_not(tmp_path: Path) -> None:
    found, ledger = _find(tmp_path, [LUCKY])
    assert found is None
    assert ledger.attempts[1].lacks == (
        "on a call it does something else than the code before the commit did",
    )
    assert not any("attempt 2" in doubt for doubt in ledger.attempts[0].doubts)


def test_an_edit_that_gives_but_the_answers_of_the_tests_is_refused(tmp_path: Path) -> None:
    before = 'def name(n):\n    part = f" {n} EUR"\n    return part.strip()\n'
    after = 'def name(n):\n    part = f"EUR {n}"\n    return part.lower()\n'
    found, ledger = _find(
        tmp_path, ["'4 EUR'"], code=(before, after, "part.lower()"),
        check=lambda m: bool(m["name"](4) == "4 EUR"),
    )  # fmt: skip
    assert found is None
    assert ledger.attempts[1].verdict.status == "rejected"


def test_what_speaks_against_the_reversal_speaks_against_the_edit(tmp_path: Path) -> None:
    found, ledger = _find(tmp_path, [RIGHT], title="Take names from a table")
    assert found is not None
    assert found.lacks == (
        "it looks like a change that was meant:"
        " the commit's message does not call it a refactoring",
    )
    assert "because the commit's message does not call it a refactoring" in ledger.unsure["c1"]


@pytest.mark.parametrize(("line", "own"), [(1, True), (2, True), (3, True), (4, False)])
def test_a_statement_that_moves_past_what_the_commits_wrote_is_of_theirs(
    line: int, own: bool
) -> None:
    (target,) = functions.read("m.py", AFTER.encode())
    first, *middle, last = AFTER.splitlines(keepends=True)
    moved = Edit(target, "".join([first, *middle[::-1], last]))
    assert _is_own(moved, {"m.py": frozenset({line})}) is own


@pytest.mark.parametrize(("line", "found"), [(3, True), (2, True), (4, False)])
def test_an_edit_of_what_the_commits_did_not_write_is_not_tried(
    tmp_path: Path, line: int, found: bool
) -> None:
    changed = {"m.py": frozenset({line})}
    assert (_find(tmp_path, [RIGHT], changed=changed)[0] is not None) is found


def test_rules_look_at_what_the_commit_changed_and_brought() -> None:
    text = "def f(n):\n    return g(n)\n\n\ndef g(n):\n    return n\n\n\ndef h(n):\n    return n\n"
    f, g, h = functions.read("m.py", text.encode())
    cluster = Cluster("c1", (), (Suspect(h, 0.9), Suspect(f, 0.5, ("named",))))
    found = _restrict(cluster, (g, f)).suspects
    assert found == (Suspect(f, 0.5, ("named",)), Suspect(g, 0.5))


def test_where_few_calls_show_anything_the_edit_is_rated_by_itself(tmp_path: Path) -> None:
    found, _ = _find(tmp_path, [RIGHT], calls=7)
    assert found is not None
    assert found.confidence is not None
    assert found.doubts == (
        "one failing test alone vouches for it",
        f"{found.confidence.ground}; it was not shown to do what the code before the commit did",
    )


def test_an_edit_that_is_unlikely_to_be_right_is_named_beside_the_reversal(tmp_path: Path) -> None:
    found, ledger = _find(tmp_path, ["(n == -2)", "(n < 0 or n > 5)"], calls=0)
    assert found is None
    mentioned = "attempt 2 changes less, and passes too, unconfirmed: (n == -2)"
    assert ledger.attempts[0].doubts[-1] == mentioned


def test_where_the_commit_tells_of_the_change_somebody_decides_on_the_edit(tmp_path: Path) -> None:
    told = ChangedFile("CHANGELOG.md", b"", b"- `name` counts from one\n")
    found, ledger = _find(tmp_path, [RIGHT], title="Take names from a table", told=(told,))
    assert found is not None
    assert found.lacks == (ledger.attempts[0].lacks or ())[:1]
    assert found.lacks
