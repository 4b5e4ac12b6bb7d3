"""What isolation costs, and what a warm process saves: everything measured by turns in one run."""

from __future__ import annotations

import contextlib
import importlib.metadata
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heal_bot.core.events import Run
from heal_bot.core.model import Candidate, Edit, Environment, SuiteRun
from heal_bot.core.statuses import VerdictStatus
from heal_bot.sandbox.job_spec import Job
from heal_bot.sandbox.sandbox_client import Sandbox, Slot, child_env
from heal_bot.source import functions
from heal_bot.testrun.runner import SuiteRunner
from tests.fakes import FolderTree

_DISTRIBUTIONS = ("pytest", "pluggy", "iniconfig", "packaging", "pygments")
_WARM_UP = 3
_STREAM = 300
# Five tests, each of which takes far less than a millisecond; one is red.
_MODULE = "def add(a, b):\n    return a - b\n\n\ndef twice(a):\n    return 2 * a\n"
_SUITE = "from m import add, twice\n\ndef test_sum():\n    assert add(1, 2) == 3\n\n" + "".join(
    f"def test_{n}():\n    assert twice({n}) == {2 * n}\n\n" for n in range(4)
)
# A test that has a fixture is for pytest alone to run: each change of its code gets a fork.
_FIXTURE = "import pytest\n\n@pytest.fixture\ndef one():\n    return 1\n\n"
_FORKED = _FIXTURE + _SUITE.replace("test_sum()", "test_sum(one)").replace("add(1,", "add(one,")
_BODIES = ("a * b", "a", "b", "a // 1", "a - b - 1", "b - a", "-a", "0", "None", "a + b")
_COLD_ROUNDS = 3


@contextlib.contextmanager
def site() -> Iterator[Path]:
    """pytest and what it needs in a folder that every uid can read."""
    folder = Path(tempfile.mkdtemp(prefix="heal-bot-bench-"))
    try:
        for name in _DISTRIBUTIONS:
            for file in importlib.metadata.files(name) or ():
                if "__pycache__" not in file.parts and ".." not in file.parts:
                    copy = folder / file
                    copy.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copyfile(Path(str(file.locate())), copy)
        subprocess.run([sys.executable, "-m", "compileall", "-q", str(folder)], check=True)
        subprocess.run(["chmod", "-R", "a+rX", str(folder)], check=True)
        yield folder
    finally:
        shutil.rmtree(folder)


def environment(python: str, roots: tuple[str, ...], paths: tuple[str, ...]) -> Environment:
    """An interpreter as the runner wants it described."""
    code = "import sys; print(sys.version.split()[0], sys.prefix, sys.base_prefix)"
    said = subprocess.run([python, "-I", "-c", code], capture_output=True, text=True, check=True)
    version, prefix, base = said.stdout.split()
    return Environment(python, version, prefix, base, roots, paths)


def by_turns(rounds: int, **ways: Callable[[], object]) -> dict[str, list[float]]:
    """The milliseconds of each way by round; in a round they are run one after the other."""
    times: dict[str, list[float]] = {name: [] for name in ways}
    for round_ in range(rounds + _WARM_UP):
        for name, way in ways.items():
            began = time.perf_counter()
            way()
            if round_ >= _WARM_UP:
                times[name].append(1000 * (time.perf_counter() - began))
    return times


def layers(sandbox: Sandbox, slot: Slot, rounds: int) -> dict[str, float]:
    """What all layers add to fork, exec and wait of the smallest program."""
    job = Job(("/bin/true",), child_env(slot), slot.repo)

    def bare() -> None:
        subprocess.run(job.argv, env=dict(job.env), check=True, stdout=subprocess.DEVNULL)

    def full() -> None:
        ended = sandbox.execute(job, slot)
        assert ended.code == 0, ended

    times = by_turns(rounds, bare=bare, full=full)
    over = [one - other for one, other in zip(times["full"], times["bare"], strict=True)]
    return {
        "bare_ms": round(statistics.median(times["bare"]), 2),
        "full_ms": round(statistics.median(times["full"]), 2),
        "full_over_bare_ms": round(statistics.median(over), 2),
    }


@dataclass(frozen=True)
class Little:
    """A suite of five tests on disk, its runner on one core, and the folder it lies in."""

    runner: SuiteRunner
    run: Run
    tree: FolderTree
    env: Environment

    def cold(self) -> SuiteRun:
        """All tests in a process of their own."""
        done = self.runner.run(self.run, self.tree, self.env)
        assert done.ended == "finished", done
        return done

    def bare(self) -> None:
        """All tests without any sandbox."""
        given = {
            "PATH": "/usr/bin:/bin",
            "PYTHONPATH": ":".join((str(self.tree.root), *self.env.roots)),
            "PYTHONDONTWRITEBYTECODE": "1",
            "HOME": str(self.tree.root.parent),
        }
        argv = [self.env.python, "-m", "pytest"]
        done = subprocess.run(argv, cwd=self.tree.root, env=given, capture_output=True, check=False)
        assert done.returncode == 1, done

    def warm(self, bodies: Sequence[str], count: int) -> float:
        """Seconds per candidate; those that are right run all five tests."""
        results = self.cold().results
        red = [result.as_failure() for result in results if result.outcome == "failed"]
        guards = [result.test for result in results if result.outcome == "passed"]
        target = next(t for t in functions.index_targets("m.py", _MODULE) if t.qualname == "add")

        def candidates(many: int) -> Iterator[Candidate]:
            for number in range(many):
                source = f"def add(a, b):\n    return {bodies[number % len(bodies)]}\n"
                yield Candidate((Edit(target, source, ()),), "rules", "bench")

        with self.runner.warm(self.run, self.tree, self.env, red, guards) as session:
            list(session.judge(candidates(_WARM_UP)))
            began = time.perf_counter()
            verdicts = [verdict.status for verdict in session.judge(candidates(count))]
            spent = time.perf_counter() - began
        right = sum(bodies[number % len(bodies)] == "a + b" for number in range(count))
        assert verdicts.count(VerdictStatus.FIXED) == right, verdicts
        return spent / count


@contextlib.contextmanager
def little(sandbox: Sandbox, python: str, suite: str = _SUITE) -> Iterator[Little]:
    """The suite, and pytest, in folders that every uid can read."""
    with site() as packages, tempfile.TemporaryDirectory(prefix="heal-bot-bench-") as folder:
        root = Path(folder) / "tree"
        root.mkdir()
        (root / "m.py").write_text(_MODULE)
        (root / "test_m.py").write_text(suite)
        env = environment(python, (str(packages),), (".", str(packages)))
        run = Run(sink=lambda event: None)
        yield Little(SuiteRunner(sandbox, lanes=1), run, FolderTree(root), env)


def suites(sandbox: Sandbox, python: str, rounds: int) -> dict[str, float]:
    """A suite of five tests: bare pytest, sandboxed cold, and per candidate in a warm process."""
    with little(sandbox, python) as suite:
        times = by_turns(rounds, bare=suite.bare, cold=suite.cold)
        ratios = [one / other for one, other in zip(times["cold"], times["bare"], strict=True)]
        rate = suite.warm(_BODIES, _STREAM)
    return {
        "bare_pytest_ms": round(statistics.median(times["bare"]), 1),
        "cold_pytest_ms": round(statistics.median(times["cold"]), 1),
        "cold_ratio": round(statistics.median(ratios), 3),
        "candidates_per_second_and_core": round(1 / rate, 1),
        "zygote_speedup": round(statistics.median(times["cold"]) / (1000 * rate), 1),
    }


def rates(sandbox: Sandbox) -> dict[str, float]:
    """Candidates per second and core of a pure function whose tests take less than a millisecond.

    Once where the tests can be called in process, once where each candidate needs a fork and
    pytest; each over cold runs of the same tests, measured in between.
    """
    python = shutil.which("python3", path="/usr/bin:/usr/local/bin") or sys.executable
    told: dict[str, float] = {}
    for name, tests, count in (("in_process", _SUITE, 1_200), ("forked", _FORKED, 300)):
        with little(sandbox, python, tests) as suite:
            spent, cold = [], []
            for _ in range(_COLD_ROUNDS):
                began = time.perf_counter()
                suite.cold()
                cold.append(time.perf_counter() - began)
                spent.append(suite.warm(_BODIES[:-1], count // _COLD_ROUNDS))
            each = statistics.median(spent)
            told[f"{name}_per_second_and_core"] = round(1 / each, 1)
            told[f"{name}_over_cold"] = round(statistics.median(cold) / each, 1)
    return told


def cores() -> int:
    """The processors this process may use."""
    return len(os.sched_getaffinity(0))


def describe() -> dict[str, Any]:
    """What the figures depend on."""
    return {"cores": cores(), "load": round(os.getloadavg()[0], 1)}
