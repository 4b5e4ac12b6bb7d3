"""The Python in the documents compiles, and that of the worked examples runs as it stands."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.pages import ROOT, Block, blocks

# Pages whose blocks are one program, read from top to bottom.
WORKED = ("docs/extending.md",)


def _program(page: str, *, slow: bool) -> str:
    found = [b for b in blocks("python") if b.page == ROOT / page and (slow or not b.slow)]
    assert found
    return "\n".join(block.text for block in found)


def _ran(program: str, folder: Path) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "-c", program]
    return subprocess.run(argv, cwd=folder, capture_output=True, text=True, timeout=300)


def _name(block: Block) -> str:
    return str(block.page.relative_to(ROOT))


@pytest.mark.parametrize("block", blocks("python"), ids=str)
def test_python_compiles(block: Block) -> None:
    compile(block.text, str(block), "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)


@pytest.mark.parametrize("page", WORKED)
def test_the_quick_blocks_of_a_worked_example_run(page: str, tmp_path: Path) -> None:
    done = _ran(_program(page, slow=False), tmp_path)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("page", sorted({_name(b) for b in blocks("python") if b.slow}))
def test_a_worked_example_runs_to_its_end(page: str, tmp_path: Path) -> None:
    done = _ran(_program(page, slow=True), tmp_path)
    assert done.returncode == 0, done.stderr
