"""What tests of several packages share: a sandbox, a run with its events, a real git repository."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from heal_bot.core.events import Event, Run
from heal_bot.sandbox.sandbox_client import Sandbox

Git = Callable[..., str]


@pytest.fixture(scope="session")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox.start(slots=2) as started:
        yield started


@pytest.fixture
def events() -> list[Event]:
    return []


@pytest.fixture
def run(events: list[Event]) -> Run:
    return Run(events.append)


def _git(folder: Path, *arguments: str) -> str:
    who = ["-c", "user.name=t", "-c", "user.email=t@localhost", "-c", "protocol.file.allow=always"]
    env = {
        "PATH": os.defpath,
        "HOME": str(folder),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_DATE": "2024-01-01T00:00:00Z",
        "GIT_COMMITTER_DATE": "2024-01-01T00:00:00Z",
    }
    done = subprocess.run(
        ["git", *who, *arguments], cwd=folder, env=env, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture
def git() -> Git:
    return _git


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A repository with two commits on main; the second changes line 2 of pkg/a.py."""
    folder = tmp_path / "source"
    (folder / "pkg").mkdir(parents=True)
    _git(folder, "init", "-q", "-b", "main")
    (folder / "pkg/a.py").write_text("one = 1\ntwo = 3\nthree = 3\n")
    (folder / "pkg/b.txt").write_bytes(b"\x00\xffbytes")
    (folder / "run.sh").write_text("#!/bin/sh\n")
    (folder / "run.sh").chmod(0o755)
    (folder / "näme\n.py").write_text("x = 1\n")
    _git(folder, "add", "-A")
    _git(folder, "commit", "-qm", "First")
    (folder / "pkg/a.py").write_text("one = 1\ntwo = 2\nthree = 3\n")
    _git(folder, "commit", "-qam", "Second")
    return folder
