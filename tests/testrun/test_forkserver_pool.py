"""The process of a warm session that starts ahead of it, beside the cold run of the baseline."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from heal_bot.core.events import Run
from heal_bot.core.model import Environment, Failure
from heal_bot.ports import Ask, Oracle
from heal_bot.sandbox.job_spec import Job
from heal_bot.sandbox.sandbox_client import Running, Sandbox, Slot
from heal_bot.testrun.runner import SuiteRunner

FILES = {
    "m.py": "def f(n):\n    return n\n",
    "test_m.py": "import m\ndef test_f(): assert m.f(1) == 2\n",
}
FAILING = (Failure("test_m.py::test_f", "AssertionError", "assert 1 == 2"),)

pytestmark = pytest.mark.long


@pytest.fixture
def started(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The driver files of the jobs that were started, in order."""
    return _noted(sandbox, monkeypatch)


def _noted(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    names: list[str] = []
    start = sandbox.start_job

    def noted(job: Job, slot: Slot) -> Running:
        names.append(job.argv[-1].rpartition("_")[2])
        return start(job, slot)

    monkeypatch.setattr(sandbox, "start_job", noted)
    return names


def test_a_session_takes_the_process_that_started_beside_the_baseline(
    sandbox: Sandbox, run: Run, env: Environment, project: Callable, started: list[str]
) -> None:
    runner, tree = SuiteRunner(sandbox, lanes=1), project(FILES)
    (suite,) = runner.run_many(run, env, [Ask(tree, warm=True)])
    assert [result.outcome for result in suite.results] == ["failed"]
    assert sorted(started) == ["driver.py", "forkserver.py"]
    bodies = ("return n + 2", "return n + 1")
    candidates = [tree.candidate("f", f"def f(n):\n    {body}\n") for body in bodies]
    with runner.warm(run, tree, env, FAILING, ()) as session:
        assert [v.status for v in session.judge(candidates)] == ["unchanged", "fixed"]
    assert sorted(started) == ["driver.py", "forkserver.py"]


def test_a_session_on_another_tree_does_not_take_it(
    sandbox: Sandbox, run: Run, env: Environment, folder: Callable, tmp_path: Path,
    started: list[str],
) -> None:  # fmt: skip
    runner = SuiteRunner(sandbox, lanes=1)
    runner.run_many(run, env, [Ask(folder(tmp_path / "tree", FILES), warm=True)])
    other = folder(tmp_path / "other", {**FILES, "m.py": "def f(n):\n    return n - 1\n"})
    with runner.warm(run, other, env, FAILING, ()) as session:
        (found,) = session.judge([other.candidate("f", "def f(n):\n    return n + 1\n")])
    assert found.status == "fixed"
    assert started.count("forkserver.py") == 2


def test_what_nobody_took_leaves_its_slot_to_cold_runs_that_need_it(
    sandbox: Sandbox, run: Run, env: Environment, project: Callable, started: list[str]
) -> None:
    runner, tree = SuiteRunner(sandbox), project(FILES)
    for _ in range(sandbox.count + 1):
        runner.run_many(run, env, [Ask(tree, warm=True)])
    runner.make_room(room=sandbox.count)
    runs = runner.run_many(run, env, [Ask(tree)] * sandbox.count)
    assert [done.ended for done in runs] == ["finished"] * sandbox.count


def test_an_oracle_takes_the_process_that_waits_with_the_unchanged_tree(
    run: Run, env: Environment, folder: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = folder(tmp_path / "tree", FILES)
    fresh = folder(tmp_path / "fresh", {**FILES, "m.py": "def f(n):\n    return n + 1\n"})
    oracle = Oracle(fresh, (("m.py", "f"),), frozenset({"test_m.py"}))
    with Sandbox.start(slots=4) as sandbox:
        names = _noted(sandbox, monkeypatch)
        runner = SuiteRunner(sandbox)
        runner.run_many(run, env, [Ask(tree, warm=True)])
        waiting = names.count("driver.py")
        (done,) = runner.run_many(run, env, [Ask(tree, oracle=oracle)])
        (again,) = runner.run_many(run, env, [Ask(tree, oracle=oracle)])
    assert [r.outcome for r in (*done.results, *again.results)] == ["passed", "passed"]
    assert names.count("worker.py") == 2
    # One more only for the second: the first waited already, unless a layer is missing here.
    ahead = not sandbox.isolation.missing
    assert (waiting, names.count("driver.py")) == ((2, 3) if ahead else (1, 3))
    assert sandbox.isolation.mode == "strict"


def test_a_process_that_waits_too_long_for_its_end_is_ended(
    run: Run, env: Environment, folder: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("heal_bot.testrun.pytest_driver._PATIENCE", 0.5)
    stuck = {**FILES, "test_m.py": "import m, time\ndef test_f():\n    time.sleep(60)\n"}
    tree = folder(tmp_path / "tree", stuck)
    oracle = Oracle(tree, (("m.py", "f"),), frozenset({"test_m.py"}))
    with Sandbox.start(slots=4) as sandbox:
        runner = SuiteRunner(sandbox)
        runner.run_many(run, env, [Ask(tree, ("no.py::such",), warm=True)])
        (done,) = runner.run_many(run, env, [Ask(tree, oracle=oracle, seconds=2.0)])
    assert done.ended == "timeout"
    assert done.seconds < 20
