"""A command that has to succeed with the patch."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from heal_bot.core.model import (
    Certificate,
    Confirmed,
    HealRequest,
    Patch,
    PatchedFile,
    SuiteTotals,
    Verdict,
)
from heal_bot.ports import Observed
from heal_bot.verification.verify_command import GATE, TESTS, run_commands
from tests.fakes import (
    ENVIRONMENT,
    ISOLATION,
    SHA,
    FolderTree,
    FolderWorkspace,
    context_of,
    quiet_run,
)


class Executing:
    """Runs a snippet in the folder of the tree."""

    def snippet(
        self, run: Any, tree: FolderTree, env: Any, code: str, *, seconds: float = 20.0
    ) -> Observed:
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=tree.root, capture_output=True, text=True, timeout=30
        )
        return Observed("exited", done.returncode, done.stdout + done.stderr)


def try_it(folder: Path, command: str, tests: str = "") -> Confirmed | Verdict:
    """A confirmed patch of m.txt, from `old` to `new`, and what the commands make of it."""
    run, _ = quiet_run()
    tree = FolderTree.of(folder / "head", {"m.txt": "old"})
    patch = Patch(SHA, (PatchedFile("m.txt", tree.blob("m.txt"), "new"),), "", (), ("t",), ())
    totals = SuiteTotals(complete=True, passed=1, failed=0, skipped=0, seconds=0.1)
    certificate = Certificate(SHA, "", "", ENVIRONMENT, ISOLATION, 2, 2, (), totals,
                              tests_unchanged=True)  # fmt: skip
    request = HealRequest("o/s", SHA, verify_command=command, test_command=tests)
    context = context_of(run, Executing(), tree, FolderWorkspace(folder))
    return run_commands(context, Confirmed(patch, certificate), request=request)


def test_a_command_that_succeeds_on_the_patched_tree_is_a_gate(tmp_path: Path) -> None:
    found = try_it(tmp_path, "test \"$(cat m.txt)\" = 'new'")
    assert isinstance(found, Confirmed)
    ((name, result),) = found.certificate.gates
    assert (name, result.endswith("exit 0")) == (GATE, True)


@pytest.mark.parametrize(
    ("command", "said"),
    [("echo no; echo worse >&2; exit 3", "exit 3: worse"), ("grep -q old m.txt", "exit 1"),
     ("nosuchcommand 'x'", "exit 127")],
)  # fmt: skip
def test_a_command_that_fails_vetoes_with_its_last_line(
    tmp_path: Path, command: str, said: str
) -> None:
    found = try_it(tmp_path, command)
    assert isinstance(found, Verdict)
    assert found.status == "unconfirmed"
    assert said in found.detail


def test_without_a_command_nothing_is_run_or_said(tmp_path: Path) -> None:
    found = try_it(tmp_path, "")
    assert isinstance(found, Confirmed)
    assert found.certificate.gates == ()


def test_a_command_that_ran_the_tests_is_named_with_a_doubt(tmp_path: Path) -> None:
    found = try_it(tmp_path, "", "tox -q")
    assert isinstance(found, Confirmed)
    assert found.certificate.gates == ((TESTS, "tox -q: ran the tests before and after"),)
    assert "`tox -q`" in found.certificate.doubts[-1]
