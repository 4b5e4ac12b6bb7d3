"""The driver and the fork server in every Python of the machine from 3.9 on, in the sandbox."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from heal_bot.core.events import Run
from heal_bot.core.model import Environment
from heal_bot.sandbox.sandbox_client import Sandbox
from heal_bot.testrun.runner import SuiteRunner

pytestmark = pytest.mark.slow

CODE = """\
LIMIT = 3

def add(a, b):
    return a - b

class Box:
    def size(self):
        return LIMIT
"""
TESTS = """\
import m
def test_add(): assert m.add(1, 2) == 3
def test_size(): assert m.Box().size() == 4
def test_same(): assert m.add(0, 0) == 0
"""
CANDIDATES = (
    ("add", "def add(a, b):\n    return a + b\n", "improved"),
    ("add", "def add(a, b):\n    return a * b\n", "unchanged"),
    ("add", "def add(a, b):\n    return 3\n", "regression"),
    ("add", "def add(a, b):\n    return (\n", "rejected"),
    ("add", "def add(a, b):\n    while True: pass\n", "timeout"),
    ("Box.size", "    def size(self):\n        return 4\n", "improved"),
    ("LIMIT", "LIMIT = 4\n", "improved"),
    ("add", "def add(a, b):\n    import os; os._exit(0)\n", "error"),
)


def _find(minor: int) -> Path | None:
    """An installation of that version: a version manager's, or the one on the path."""
    name = f"python3.{minor}"
    managed = (Path.home() / ".pyenv" / "versions").glob(f"3.{minor}.*/bin/{name}")
    for python in (*managed, shutil.which(name)):
        if python and subprocess.run([python, "-c", ""], capture_output=True).returncode == 0:
            return Path(python)
    return None


@pytest.fixture(scope="module", params=range(9, 15), ids=lambda minor: f"3.{minor}")
def installed(request: pytest.FixtureRequest) -> Iterator[Environment]:
    """An interpreter with pytest where every uid can read it."""
    minor: int = request.param
    python = _find(minor)
    if python is None:
        pytest.skip(f"no Python 3.{minor} on this machine")
    folder = Path(tempfile.mkdtemp(prefix="heal-bot-python-", dir="/tmp"))
    try:
        site = folder / "site"
        get = [sys.executable, "-m", "pip", "install", "--quiet", "--only-binary", ":all:"]
        # What pytest needs of old versions depends on markers that pip reads for our own version.
        get += ["--target", str(site), "--python-version", f"3.{minor}"]
        get += ["pytest<9", "iniconfig<2.2"] if minor < 10 else ["pytest"]
        get += ["exceptiongroup", "tomli", "typing_extensions"]
        if subprocess.run(get, capture_output=True).returncode != 0:
            pytest.skip(f"no pytest for Python 3.{minor} can be had")
        prefix = python.parents[1]
        if not str(prefix).startswith("/usr"):
            skip = shutil.ignore_patterns("test", "tests", "site-packages", "__pycache__", "*.a")
            shutil.copytree(prefix / "lib", folder / "lib", symlinks=True, ignore=skip)
            (folder / "bin").mkdir()
            python = Path(shutil.copy(python.resolve(), folder / "bin" / python.name))
        subprocess.run(["chmod", "-R", "a+rX", str(folder)], check=True)
        code = "import sys; print(sys.version.split()[0], sys.prefix, sys.base_prefix)"
        libraries = {"LD_LIBRARY_PATH": str(folder / "lib")}
        said = subprocess.run(
            [python, "-I", "-c", code], capture_output=True, text=True, check=True, env=libraries
        ).stdout
        yield Environment(str(python), *said.split(), (str(folder),), (".", str(site)))
    finally:
        shutil.rmtree(folder)


@pytest.mark.skipif(os.geteuid() != 0, reason="the copy must be readable by another uid")
def test_cold_and_warm_runs_say_the_same_as_in_our_own_python(
    installed: Environment, sandbox: Sandbox, run: Run, project: Callable
) -> None:
    tree = project({"m.py": CODE, "test_m.py": TESTS})
    passes = {"LD_LIBRARY_PATH": f"{Path(installed.python).parents[1]}/lib"}
    runner = SuiteRunner(sandbox, passes=passes)
    done = runner.run(run, tree, installed, spectrum=True)
    assert (done.ended, [r.outcome for r in done.results]) == (
        "finished",
        ["failed", "failed", "passed"],
    ), done.detail
    assert done.spectrum is not None
    assert ("m.py", 4) in done.spectrum.locations
    failing = [result.as_failure() for result in done.results if result.outcome == "failed"]
    candidates = [tree.candidate(name, source) for name, source, _ in CANDIDATES]
    with runner.warm(run, tree, installed, failing, ["test_m.py::test_same"]) as session:
        verdicts = [verdict.status for verdict in session.judge(candidates)]
    assert verdicts == [status for _, _, status in CANDIDATES]
