"""To a test every kind of run of ours looks like `python -m pytest` in the same folder."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from heal_bot.core.events import Run
from heal_bot.core.model import Candidate, Environment, Failure
from heal_bot.ports import Ask, Oracle
from heal_bot.sandbox.sandbox_client import Sandbox
from heal_bot.testrun.runner import SuiteRunner

pytestmark = pytest.mark.long

CODE = "LIMIT = 1\n\n\ndef add(a, b):\n    return a - b\n"
ADD = "def add(a, b):\n    return a + b\n"
LOOKS = """
import json, locale, multiprocessing, os, signal, stat, sys, threading
import m

def stream(one):
    return [type(one).__name__, one.isatty(), one.encoding, getattr(one, "errors", None)]

def kind(fd):
    return [stat.S_IFMT(os.fstat(fd).st_mode), os.isatty(fd)]

def looks():
    main = sys.modules["__main__"]
    mask = os.umask(0)
    os.umask(mask)
    signals = {s.name: str(signal.getsignal(s)).partition(" at ")[0] for s in signal.Signals}
    return {
        "main": [main.__name__, main.__file__, main.__package__, main.__spec__.name],
        "loader": type(main.__loader__).__name__,
        "argv": sys.argv, "orig_argv": sys.orig_argv, "flags": list(sys.flags),
        "path": sys.path, "umask": mask, "environ": sorted(os.environ), "signals": signals,
        "blocked": list(signal.pthread_sigmask(signal.SIG_BLOCK, [])),
        "streams": [stream(s) for s in (sys.stdin, sys.stdout, sys.stderr)],
        "own": [stream(s) for s in (sys.__stdin__, sys.__stdout__, sys.__stderr__)],
        "kinds": [kind(fd) for fd in (0, 1, 2)], "threads": len(threading.enumerate()),
        "locale": [locale.getlocale(), locale.getpreferredencoding(False)],
        "nice": os.nice(0), "profile": sys.getprofile() is None, "limit": sys.getrecursionlimit(),
    }

def test_looks():
    said = json.dumps(looks()).replace(os.getcwd(), "TOP")
    with open("said", "w") as file:
        file.write(said)
    raise AssertionError("LOOKS " + said)

def test_add():
    assert m.add(1, 2) == 3

def test_spawn():
    if m.add(1, 2) == 3:
        child = multiprocessing.get_context("spawn").Process(target=m.add, args=(1, 2))
        child.start()
        child.join(20)
        assert child.exitcode == 0
"""
TEST = "test_looks.py::test_looks"


def _looks(message: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(message.partition("LOOKS ")[2].splitlines()[0])
    return found


@pytest.fixture
def runner() -> Iterator[SuiteRunner]:
    # An oracle takes two slots at once.
    with Sandbox.start(slots=3) as started:
        yield SuiteRunner(started)


def _as_pytest_itself(env: Environment, root: Path, home: Path) -> dict[str, Any]:
    """What `python -m pytest` shows under the same variables."""
    environ = {
        "PATH": "/usr/bin:/bin", "HOME": str(home), "TMPDIR": "/tmp", "LANG": "C.UTF-8",
        "TZ": "UTC", "CI": "true", "GIT_CONFIG_NOSYSTEM": "1", "USER": "heal-bot",
        "LOGNAME": "heal-bot",
        "PYTHONHASHSEED": "random", "PYTHONDONTWRITEBYTECODE": "1", "PYTHONNOUSERSITE": "1",
        "PYTHONPATH": ":".join([str(root), *env.paths[1:]]),
    }  # fmt: skip
    subprocess.run(
        [env.python, "-m", "pytest"], cwd=root, env=environ, capture_output=True,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip
    found: dict[str, Any] = json.loads((root / "said").read_text())
    (root / "said").unlink()
    return found


def test_every_run_looks_to_a_test_like_pytest_itself(
    runner: SuiteRunner, run: Run, env: Environment, project: Callable, tmp_path: Path
) -> None:
    tree = project({"m.py": CODE, "test_looks.py": LOOKS})
    (tree.root / "said").touch(0o666)
    expected = _as_pytest_itself(env, tree.root, tmp_path)
    asks = {
        "cold": Ask(tree),
        "observed": Ask(tree, spectrum=True),
        "shuffled": Ask(tree, shuffle=1),
        "seeded": Ask(tree, hashes=0),
        "alone": Ask(tree, (TEST,)),
        "oracle": Ask(tree, oracle=Oracle(tree, (("m.py", "add"),))),
    }
    seen = {}
    for name, ask in asks.items():
        done = runner.run_many(run, env, [ask])[0]
        seen[name] = next(_looks(r.message) for r in done.results if r.test == TEST)
    failing = [Failure(test, "", "") for test in (TEST, "test_looks.py::test_add")]
    swapped = tree.candidate("add", ADD)
    afresh = tree.candidate("LIMIT", "LIMIT = 2\n")
    both = Candidate((*afresh.edits, *swapped.edits), "rules", "test")
    with runner.warm(run, tree, env, failing, ["test_looks.py::test_spawn"]) as session:
        for name, candidate in {"swapped": swapped, "afresh": both}.items():
            (verdict,) = session.judge([candidate])
            assert (verdict.status, verdict.detail) == ("improved", "")
            seen[name] = _looks(verdict.still_failing[0].message)
    other = {name: _differing(looks, expected) for name, looks in seen.items()}
    assert other == {name: {} for name in seen}


def _differing(looks: dict[str, Any], expected: dict[str, Any]) -> dict[str, Any]:
    return {key: (looks[key], told) for key, told in expected.items() if looks[key] != told}
