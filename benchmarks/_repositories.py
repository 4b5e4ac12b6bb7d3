"""Folders as git repositories."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

# What lets tests import a project from its top.
INI = '[tool.pytest.ini_options]\npythonpath = ["."]\n'
_NO_FILES: Mapping[str, str] = {}
_GIT = ("git", "-c", "user.name=bench", "-c", "user.email=bench@localhost",
        "-c", "commit.gpgsign=false")  # fmt: skip


def commit_files(folder: Path, message: str, files: Mapping[str, str] = _NO_FILES) -> Path:
    """Write files and commit all that lies in a folder, made a repository where it is none."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    steps = [("add", "-Af"), ("commit", "-q", "--allow-empty", "-m", message)]
    if not (folder / ".git").exists():
        steps.insert(0, ("init", "-q", "-b", "main"))
    for step in steps:
        subprocess.run([*_GIT, *step], cwd=folder, check=True, capture_output=True, timeout=60)
    return folder
