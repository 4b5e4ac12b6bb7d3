"""Ctrl-C on a real run that somebody watches: it ends with what is verified."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

MODULE = """\
def add(a, b):
    return a - b


def checksum(text, seed, step, size):
    total, at = seed, 0
    for letter in text:
        at = (at * step + ord(letter)) % size
        if at % 2 == 0:
            total = total + at * step
        elif at % 3 == 0:
            total = total - at
        else:
            total = total * 2 + 1
    return total % size
"""
TESTS = """\
from calc import add, checksum


def test_add():
    assert add(2, 3) == 5


def test_add_more():
    assert add(7, 1) == 8


def test_add_nothing():
    assert add(4, 0) == 4


def test_checksum():
    assert [checksum("heal", 1, n, 997) for n in (3, 5, 7)] == [111, 222, 333]
"""


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A repository with one failure that is soon repaired and one that is searched for long."""
    repo = tmp_path / "repo"
    repo.mkdir()
    (repo / "calc.py").write_text(MODULE)
    (repo / "test_calc.py").write_text(TESTS)
    (repo / "pyproject.toml").write_text('[tool.pytest.ini_options]\npythonpath = ["."]\n')
    for args in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-q", "-m", "calc"]):
        who = ["-c", "user.name=t", "-c", "user.email=t@example.invalid"]
        subprocess.run(["git", *who, *args], cwd=repo, check=True)
    return repo


def _read_all(fd: int, into: list[bytes]) -> None:
    """Whatever comes until the other end is closed."""
    try:
        while data := os.read(fd, 65_536):
            into.append(data)
    except OSError:
        return


@pytest.mark.slow
def test_ctrl_c_ends_a_watched_run_with_what_is_verified(repo: Path) -> None:
    ours, theirs = pty.openpty()
    argv = [sys.executable, "-I", "-m", "heal_bot", "heal", "--python", sys.executable,
            "--proposers", "rules", "--sandbox", "reduced", "--out", "../out",
            "-v"]  # fmt: skip
    env = {"PATH": "/usr/local/bin:/usr/bin:/bin", "TERM": "xterm", "COLUMNS": "120"}
    with subprocess.Popen(
        argv, cwd=repo, env=env, stdout=subprocess.PIPE, stderr=theirs, text=True
    ) as run:
        os.close(theirs)
        seen: list[bytes] = []
        watcher = threading.Thread(target=_read_all, args=(ours, seen))
        watcher.start()
        stop = threading.Timer(240, run.kill)
        stop.start()
        assert run.stdout is not None
        said = []
        for line in run.stdout:
            said.append(line)
            if line.startswith("final check: passed"):
                run.send_signal(signal.SIGINT)
        code = run.wait()
        stop.cancel()
        watcher.join()
    os.close(ours)
    screen = b"".join(seen).decode("utf-8", "replace")
    assert code == 0, "".join(said) + screen
    outcome = json.loads((repo.parent / "out" / "outcome.json").read_text())
    assert (outcome["status"], outcome["stopped"]) == ("partly_healed", "interrupted")
    assert outcome["patch"]["fixed"] == [
        "test_calc.py::test_add", "test_calc.py::test_add_more",
    ]  # fmt: skip
    assert "stopping with what is verified" in screen
    assert "cause " in screen
    assert " of 3: test_calc.py::test_" in screen
    assert " left" in screen
    assert "\x1b" not in "".join(said)
    assert said[-1].startswith("next: heal-bot apply --bundle ")
