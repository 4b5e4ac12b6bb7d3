from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks._verified import GATED, Gated
from heal_bot.core.model import Candidate, Edit, Spectrum
from heal_bot.source import functions, patch_policy
from heal_bot.verification import gates
from tests.fakes import FolderTree


@pytest.mark.parametrize("case", GATED, ids=lambda case: case.name)
def test_a_change_is_refused_doubted_or_passed(tmp_path: Path, case: Gated) -> None:
    test = f"def test_it():\n    {case.test}\n"
    tree = FolderTree.of(tmp_path, {"m.py": case.old, "tests/test_m.py": test})
    target = functions.find_target(functions.index_targets("m.py", case.old), "f")
    assert target is not None
    edit = Edit(target, case.new)
    found = gates.list_findings((edit,), ("tests/test_m.py::test_it",), tree)
    doubts = patch_policy.list_doubts(Candidate((edit,), "p", "f"), tree)
    veto = any(finding.veto for finding in found)
    assert ("veto" if veto else "doubt" if found or doubts else "") == case.right


def test_new_lines_that_no_fixed_test_executes_are_named() -> None:
    before = "def f(a):\n    return a\n"
    after = 'def f(a):\n    """Said."""\n    if a:\n        return 1\n    return a\n'
    seen = Spectrum((("m.py", 3), ("m.py", 5), ("m.py", 4)), {"t": 0b011, "other": 0b100})
    assert gates.find_uncovered(before, after, "m.py", ("t",), seen) == (4,)
    assert gates.find_uncovered(before, after, "m.py", ("t", "other"), seen) == ()


def test_what_runs_as_a_module_is_imported_needs_no_test_that_executes_it() -> None:
    after = "LIMIT = 2\n\n\nclass A:\n    limit = LIMIT\n"
    assert gates.find_uncovered("", after, "m.py", ("t",), Spectrum((), {})) == ()
    after += "\n\nif LIMIT:\n    LIMIT = 3\n"
    assert gates.find_uncovered("", after, "m.py", ("t",), Spectrum((), {})) == (9,)
