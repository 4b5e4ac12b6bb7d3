"""Plain runs of a project's tests."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from benchmarks.street import plain
from benchmarks.street.plain import PlainError


def test_a_job_whose_pytest_does_not_start_is_told_from_a_red_one(tmp_path: Path) -> None:
    program = tmp_path / "venv/bin/python"
    program.parent.mkdir(parents=True)
    # A link would lose the environment in which pytest is.
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    program.chmod(0o755)
    (tmp_path / "test_it.py").write_text("def test_it():\n    assert False\n")
    path = tmp_path / "junit.xml"
    plain.report(tmp_path, tmp_path / "venv", tmp_path, path)
    assert plain.failures(path)
    path.unlink()
    (tmp_path / "conftest.py").write_text("import nowhere_to_be_found\n")
    with pytest.raises(PlainError, match=r"left no report: .*nowhere_to_be_found"):
        plain.report(tmp_path, tmp_path / "venv", tmp_path, path)
