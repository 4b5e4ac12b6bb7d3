"""A repository with a planted bug, and the command line in a process of its own."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

TESTS = """\
from prices import total


def test_total():
    assert total(2, 3) == 5


def test_other():
    assert total(7, -4) == 3


def test_none():
    assert total(4, 0) == 4
"""
FILES = {
    "prices.py": "def total(net, tax):\n    return net - tax\n",
    "test_far.py": "def test_far():\n    assert True\n",
    "test_prices.py": TESTS,
}
Call = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def planted() -> Callable[..., Path]:
    """Makes a repository in a folder; `total` of prices.py subtracts where it should add."""

    def make(folder: Path, more: Mapping[str, str] = {}) -> Path:
        folder.mkdir()
        for name, text in {**FILES, **more}.items():
            (folder / name).write_text(text)
        who = ("-c", "user.name=t", "-c", "user.email=t@localhost")
        for words in (("init", "-q"), ("add", "-A"), ("commit", "-qm", "First")):
            subprocess.run(["git", *who, *words], cwd=folder, check=True)
        return folder

    return make


@pytest.fixture(scope="session")
def heal_bot() -> Call:
    """heal-bot with these arguments, in a folder."""

    def call(cwd: Path, *argv: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-I", "-m", "heal_bot", *map(str, argv)],
            cwd=cwd,
            capture_output=True,
            text=True,
            timeout=300,
        )

    return call
