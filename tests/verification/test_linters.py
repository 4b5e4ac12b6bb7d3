"""The tools run for real, by this interpreter instead of the sandbox's."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from heal_bot.core.model import PatchedFile
from heal_bot.ports import Observed
from heal_bot.verification import linters
from tests.fakes import FolderTree, context_of, quiet_run

OLD = "import os\n\n\ndef f(a: int) -> int:\n    return a\n"
RUFF = "[tool.ruff]\nline-length = 60\n[tool.ruff.lint]\nselect = ['F', 'E501']\n"


@dataclass
class Local:
    """Runs snippets at the root of the tree."""

    asked: list[Path] = field(default_factory=list)

    def snippet(self, run: Any, tree: Any, env: Any, code: str) -> Observed:
        self.asked.append(tree.root)
        argv = [sys.executable, "-c", code]
        done = subprocess.run(argv, cwd=tree.root, capture_output=True, text=True, timeout=60)
        return Observed("exited", done.returncode, done.stdout + done.stderr)


def _asked(tmp_path: Path, config: dict[str, str], new: str) -> tuple[Any, Any, Local]:
    tree = FolderTree.of(tmp_path / "old", {"m.py": OLD, **config})
    fresh = FolderTree.of(tmp_path / "new", {"m.py": new, **config})
    local, (run, _) = Local(), quiet_run()
    files = (PatchedFile("m.py", "1" * 40, new),)
    rows, doubts = linters.run_linters(context_of(run, local, tree), fresh, files)
    return rows, doubts, local


def test_nothing_runs_where_nothing_is_configured(tmp_path: Path) -> None:
    assert _asked(tmp_path, {"pyproject.toml": "[project]\n"}, OLD) == ((), (), Local())


def test_a_new_finding_on_a_changed_line_is_a_doubt_and_an_old_one_is_not(tmp_path: Path) -> None:
    new = OLD.replace("    return a\n", "    return b\n")
    rows, doubts, local = _asked(tmp_path, {"pyproject.toml": RUFF}, new)
    assert rows == (("ruff check", "1 new findings"),)
    assert len(doubts) == 1
    assert "m.py:5: F821" in doubts[0]
    assert [root.name for root in local.asked] == ["new", "old"]


def test_a_patch_without_findings_costs_one_run(tmp_path: Path) -> None:
    new = OLD.replace("return a", "return a + 1")
    rows, doubts, local = _asked(tmp_path, {"ruff.toml": "[lint]\nselect = ['F']\n"}, new)
    assert (rows, doubts, len(local.asked)) == ((("ruff check", "nothing new"),), (), 1)


def test_a_formatter_that_was_content_before_is_a_doubt(tmp_path: Path) -> None:
    config = {"pyproject.toml": RUFF + "[tool.ruff.format]\n"}
    rows, doubts, _ = _asked(tmp_path, config, OLD.replace("return a", "return a+1"))
    assert ("ruff format", "would change the patched file") in rows
    assert doubts == ("ruff format: it formats the patched file otherwise",)


@pytest.mark.long
@pytest.mark.parametrize("config", ["[tool.mypy]\nstrict = true\n"])
def test_a_new_type_error_is_a_doubt(tmp_path: Path, config: str) -> None:
    new = OLD.replace("return a", "return str(a)")
    rows, doubts, _ = _asked(tmp_path, {"pyproject.toml": config}, new)
    assert rows == (("mypy", "1 new findings"),)
    assert "Incompatible return value type" in doubts[0]


def test_a_tool_that_is_not_installed_is_named(tmp_path: Path) -> None:
    rows, doubts, _ = _asked(tmp_path, {"pyproject.toml": "[tool.black]\n"}, OLD + "\n")
    assert rows == (("black", "configured, not installed in the test environment"),)
    assert doubts == ()
