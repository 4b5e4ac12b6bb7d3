"""Suites that bend the world: our records hold whatever they freeze, mock, replace or close."""

from __future__ import annotations

import ast
import importlib.metadata
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from heal_bot.core.events import Run
from heal_bot.core.model import Environment, Failure
from heal_bot.testrun.runner import SuiteRunner

INSIDE = Path(__file__).parents[2] / "heal_bot" / "testrun" / "agent"
CODE = "def add(a, b):\n    return a - b\n"
TESTS = """
import m

def test_one(): assert m.add(1, 2) == 3
def test_two(): assert m.add(5, 7) == 12
def test_good(): assert m.add(4, 0) == 4
"""
SESSION = "import pytest\n\n@pytest.fixture(autouse=True, scope='session')\n"
EACH = "import pytest\n\n@pytest.fixture(autouse=True)\n"
MOCKS = "import pytest\nfrom unittest import mock\n\n" + SESSION.partition("\n\n")[2]


def _mocked(*names: str) -> str:
    """A session in which these functions are mocks."""
    held = "".join(f"    mock.patch({name!r}).start()\n" for name in names)
    return f"{MOCKS}def bent():\n{held}    yield\n    mock.patch.stopall()\n"


CLOCKS = ("time", "time_ns", "monotonic", "monotonic_ns", "perf_counter", "process_time")
BENT = {
    "freezegun around each test": EACH.replace("\n\n", "\nimport freezegun\n\n", 1)
    + "def bent():\n    with freezegun.freeze_time('1984-04-04'):\n        yield\n",
    "freezegun around the session": SESSION.replace("\n\n", "\nimport freezegun\n\n", 1)
    + "def bent():\n    with freezegun.freeze_time('2084-04-04'):\n        yield\n",
    "freezegun from the first import": "import freezegun\n"
    "freezegun.freeze_time('1984-04-04').start()\n",
    "time-machine around each test": EACH.replace("\n\n", "\nimport time_machine\n\n", 1)
    + "def bent():\n    with time_machine.travel('1984-04-04', tick=False):\n        yield\n",
    "a clock of its own that goes back": EACH.replace("\n\n", "\nimport time\n\n", 1)
    + "def bent(monkeypatch):\n    now = [1e9]\n    def back():\n        now[0] -= 5e6\n"
    "        return now[0]\n" + "".join(f"    monkeypatch.setattr(time, {name!r}, back)\n"
                                          for name in CLOCKS) + "    yield\n",
    "a clock that is replaced at import": "import time\n"
    + "".join(f"time.{name} = lambda: 7\n" for name in CLOCKS),
    "mocks of os": _mocked("os.write", "os.read", "os.getpid", "os.getcwd", "os._exit", "os.close",
                           "os.path.join", "os.path.abspath", "os.path.realpath"),
    "mocks of open, random and json": _mocked("builtins.open", "random.Random", "random.seed",
                                              "json.dumps", "json.loads", "json.JSONEncoder"),
    "mocks of processes and signals": _mocked("subprocess.run", "subprocess.Popen", "os.fork",
                                              "os.kill", "signal.signal", "signal.setitimer"),
    "a file system of its own": EACH + "def bent(fs):\n    yield\n",
    "streams replaced": SESSION.replace("\n\n", "\nimport io, sys\n\n", 1)
    + "def bent():\n    sys.stdout = sys.stderr = sys.__stdout__ = io.StringIO()\n    yield\n",
    "no streams": SESSION.replace("\n\n", "\nimport sys\n\n", 1)
    + "def bent():\n    sys.stdin = sys.stdout = sys.stderr = None\n    yield\n",
    "much to do before the first test": SESSION + "def bent():\n    sum(range(10**7))\n",
    "another folder": "import os, tempfile\nos.chdir(tempfile.mkdtemp())\n",
    "another folder in each test": EACH.replace("\n\n", "\nimport os\n\n", 1)
    + "def bent(tmp_path):\n    os.chdir(tmp_path)\n    yield\n",
    "no path": SESSION.replace("\n\n", "\nimport sys, m\n\n", 1)
    + "def bent():\n    sys.path.clear()\n    sys.argv.clear()\n    yield\n",
    "no environment": SESSION.replace("\n\n", "\nimport os\n\n", 1)
    + "def bent():\n    os.environ.clear()\n    yield\n",
    "another locale": SESSION.replace("\n\n", "\nimport locale\n\n", 1)
    + "def bent():\n    locale.setlocale(locale.LC_ALL, 'C')\n    yield\n",
}  # fmt: skip
DISTRIBUTIONS = ("freezegun", "python-dateutil", "six", "time-machine", "pyfakefs")


@pytest.fixture(scope="module")
def bending(env: Environment) -> Iterator[Environment]:
    """The environment with what suites bend their world with."""
    if env.version.rpartition(".")[0] != "{}.{}".format(*sys.version_info):
        pytest.skip("time-machine is compiled for another Python")
    folder = Path(tempfile.mkdtemp(prefix="heal-bot-bending-", dir="/tmp"))
    folder.chmod(0o755)
    for name in DISTRIBUTIONS:
        for file in importlib.metadata.files(name) or ():
            if "__pycache__" not in file.parts and ".." not in file.parts:
                copy = folder / file
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file.locate(), copy)
    subprocess.run(["chmod", "-R", "a+rX", str(folder)], check=True)
    yield replace(env, roots=(*env.roots, str(folder)), paths=(*env.paths, str(folder)))
    shutil.rmtree(folder)


@pytest.mark.long
@pytest.mark.parametrize("conftest", BENT.values(), ids=BENT)
def test_a_bent_world_changes_no_record(
    runner: SuiteRunner, run: Run, bending: Environment, project: Callable, conftest: str
) -> None:
    tree = project({"m.py": CODE, "test_m.py": TESTS, "conftest.py": conftest})
    for asked in ({}, {"spectrum": True, "shuffle": 1}):
        done = runner.run(run, tree, bending, **asked)
        assert (done.ended, done.detail) == ("finished", "")
        came = {r.test.partition("::")[2]: r.outcome for r in done.results}
        assert came == {"test_one": "failed", "test_two": "failed", "test_good": "passed"}
        assert all(0 <= result.seconds < 60 for result in done.results)
    failing = [Failure(f"test_m.py::test_{name}", "", "") for name in ("one", "two")]
    right = tree.candidate("add", "def add(a, b):\n    return a + b\n")
    wrong = [tree.candidate("add", f"def add(a, b):\n    return a - {n} * b\n") for n in (2, 3)]
    with runner.warm(run, tree, bending, failing, ["test_m.py::test_good"]) as session:
        verdicts = [v.status for v in session.judge([*wrong, right])]
        assert verdicts == ["unchanged", "unchanged", "fixed"]
        assert all(session.call([right]).rows)


def test_no_module_inside_holds_what_a_suite_can_replace() -> None:
    """All of them take the standard library from where it is kept; two start before any suite."""
    held = {"io", "json", "os", "random", "select", "signal", "threading", "time"}
    starts = {"_heal_pristine_stdlib", "_heal_driver", "_heal_forkserver", "_heal_guise"}
    programs = {"_heal_build", "_heal_sdist"}
    for source in INSIDE.glob("_heal_*.py"):
        if source.stem in starts | programs:
            continue
        tree = ast.parse(source.read_text())
        named = {n.name for i in ast.walk(tree) if isinstance(i, ast.Import) for n in i.names}
        called = {n.func.id for n in ast.walk(tree)
                  if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)}  # fmt: skip
        assert not named & held, source.name
        assert "open" not in called, source.name
