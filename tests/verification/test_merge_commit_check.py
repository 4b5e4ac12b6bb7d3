"""A repair of the head, tried on the merge commit that CI tested."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from heal_bot.core.errors import UsageError
from heal_bot.core.model import (
    Certificate,
    Confirmed,
    Edit,
    Environment,
    Patch,
    SuiteRun,
    SuiteTotals,
    Verdict,
)
from heal_bot.ports import Ask
from heal_bot.source.functions import find_target, index_targets
from heal_bot.verification.merge_commit_check import GATE, check_merge_commit
from tests.fakes import (
    ENVIRONMENT,
    ISOLATION,
    SHA,
    FolderTree,
    FolderWorkspace,
    context_of,
    failed,
    passed,
    quiet_run,
    suite,
)

MERGE = "9" * 40
SOURCE = "def add(a, b):\n    return a - b\n"
REPAIR = "def add(a, b):\n    return a + b\n"
CHECKS = {"t.py::test_add": "add(2, 3) == 5", "t.py::test_same": "add(4, 0) == 4"}


@dataclass
class Executing:
    """Runs the checks on `m.py` of each tree."""

    checks: dict[str, str]

    def run(self, run: Any, tree: FolderTree, env: Environment, tests: Any = None) -> SuiteRun:
        names: dict[str, Any] = {}
        exec(tree.read("m.py"), names)
        wanted = {t: c for t, c in self.checks.items() if tests is None or t in tests}
        return suite(*((passed if eval(c, names) else failed)(t) for t, c in wanted.items()))

    def run_many(self, run: Any, env: Environment, asks: Sequence[Ask]) -> tuple[SuiteRun, ...]:
        return tuple(self.run(run, ask.tree, env, ask.tests) for ask in asks)


@dataclass
class Workspace(FolderWorkspace):
    """A workspace that has the merge commit, or not."""

    merge: FolderTree | None = None

    def checkout(self, run: Any, sha: str) -> FolderTree:
        if self.merge is None or sha != MERGE:
            raise UsageError(f"commit {sha[:12]} is not there")
        return self.merge


@dataclass
class Scene:
    """A confirmed repair of the head, and the tested commit it is tried on."""

    folder: Path
    checks: dict[str, str]
    tested: str = MERGE

    def try_on(self, merged: str | None, tree_sha: str = "7" * 40) -> Confirmed | Verdict:
        run, _ = quiet_run()
        head = FolderTree.of(self.folder / "head", {"m.py": SOURCE})
        target = find_target(index_targets("m.py", SOURCE), "add")
        assert target is not None
        change = Edit(target, REPAIR)
        patch = Patch(head.sha, (), "", (change,), ("t.py::test_add",), ())
        totals = SuiteTotals(complete=True, passed=1, failed=0, skipped=0, seconds=0.1)
        certificate = Certificate(SHA, head.tree_sha, "", ENVIRONMENT, ISOLATION, 2, 2, (), totals,
                                  tests_unchanged=True)  # fmt: skip
        there = None
        if merged is not None:
            made = FolderTree.of(self.folder / "merged", {"m.py": merged})
            there = replace(made, sha=MERGE, tree_sha=tree_sha)
        workspace = Workspace(self.folder, merge=there)
        context = context_of(run, Executing(self.checks), head, workspace)
        confirmed = Confirmed(patch, certificate)
        return check_merge_commit(context, confirmed, tested_sha=self.tested, selected=None)


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path, CHECKS)


def gates(found: Confirmed | Verdict) -> dict[str, str]:
    assert isinstance(found, Confirmed)
    return dict(found.certificate.gates)


def test_a_repair_that_holds_on_the_merge_says_so(scene: Scene) -> None:
    found = scene.try_on("LIMIT = 3\n\n\n" + SOURCE)
    assert "1 of the fixed tests pass on 999999999999 too" in gates(found)[GATE]


def test_where_head_and_tested_commit_are_one_nothing_is_said(scene: Scene) -> None:
    scene.tested = SHA
    assert gates(scene.try_on(None)) == {}


def test_a_merge_with_the_same_files_needs_no_run(scene: Scene) -> None:
    scene.checks = {"t.py::test_add": "False"}
    assert "same files" in gates(scene.try_on(SOURCE, tree_sha="2" * 40))[GATE]


def test_a_repair_that_does_not_help_on_the_merge_is_no_repair(scene: Scene) -> None:
    scene.checks = CHECKS | {"t.py::test_add": "add(2, 3) == 5 and LIMIT < 3"}
    found = scene.try_on(SOURCE + "LIMIT = 3\n")
    assert isinstance(found, Verdict)
    assert [f.test for f in found.still_failing] == ["t.py::test_add"]
    assert "merge commit 999999999999" in found.detail


def test_a_repair_that_breaks_what_the_base_branch_brought_is_no_repair(scene: Scene) -> None:
    scene.checks = CHECKS | {"t.py::test_new": "add(9, 2) == 7"}
    found = scene.try_on("NEW = True\n" + SOURCE)
    assert isinstance(found, Verdict)
    assert [f.test for f in found.newly_failing] == ["t.py::test_new"]


def test_a_function_that_the_base_branch_changed_too_is_a_doubt(scene: Scene) -> None:
    found = scene.try_on(SOURCE.replace("a - b", "b - a"))
    assert isinstance(found, Confirmed)
    assert "m.py::add is another there" in found.certificate.doubts[0]


def test_a_merge_that_is_gone_is_a_doubt(scene: Scene) -> None:
    found = scene.try_on(None)
    assert isinstance(found, Confirmed)
    assert "cannot be had" in found.certificate.doubts[0]
