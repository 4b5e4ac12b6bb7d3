"""A command in the place of pytest: really run, observed, and asked about candidates."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from heal_bot.core.errors import SandboxError
from heal_bot.core.events import Run
from heal_bot.core.model import COMMAND, Environment
from heal_bot.junit import command_results
from heal_bot.ports import Ask
from heal_bot.sandbox.sandbox_client import Sandbox
from heal_bot.testrun.command_runner import CommandRunner
from heal_bot.testrun.process_session import ColdSession
from heal_bot.testrun.runner import SuiteRunner
from heal_bot.testrun.warm_session import WarmSession

pytestmark = pytest.mark.long

FILES = {
    "m.py": "def total(a):\n    return sum(a[1:])\n\n\ndef unused(a):\n    return a\n",
    "check.py": "from m import total\n\nassert total([1, 2]) == 3, 'wrong'\n",
    "test_m.py": "from m import total, unused\n\n"
    "def test_total():\n    assert total([1, 2]) == 3\n\n"
    "def test_unused():\n    assert unused(1) == 1\n",
}
RIGHT = "def total(a):\n    return sum(a)\n"
WRONG = "def total(a):\n    return 0\n"
JUNIT = "python -m pytest -q --junitxml=out/junit.xml"


@pytest.fixture
def command(sandbox: Sandbox) -> Callable[..., CommandRunner]:
    def make(text: str, below: str = "") -> CommandRunner:
        return CommandRunner(
            sandbox, SuiteRunner(sandbox, below=below), text, command_results.read_results
        )

    return make


@pytest.fixture
def project_with(
    project: Callable[[Mapping[str, str]], Any], command: Callable[..., CommandRunner]
) -> Callable[[str], tuple[Any, CommandRunner]]:
    return lambda text: (project(FILES), command(text))


def test_a_script_is_one_test_whose_lines_are_known_and_candidates_are_runs_of_it(
    run: Run,
    env: Environment,
    project_with: Callable[[str], Any],
    lines_of: Callable[..., Any],
) -> None:
    tree, runner = project_with(f"{env.python} check.py")
    (suite,) = runner.run_many(run, env, [Ask(tree, spectrum=True)])
    assert suite.ended == "finished"
    (red,) = suite.results
    assert (red.test, red.outcome, red.kind) == (COMMAND, "failed", "AssertionError")
    assert ("m.py", 2) in lines_of(suite.spectrum, COMMAND)
    assert ("m.py", 6) not in lines_of(suite.spectrum, COMMAND)
    with runner.warm(run, tree, env, [red.as_failure()], ()) as session:
        assert isinstance(session, ColdSession)
        given = [tree.candidate("total", text) for text in (WRONG, RIGHT)]
        assert [v.status for v in session.judge(given)] == ["unchanged", "fixed"]
    assert (tree.root / "m.py").read_text() == FILES["m.py"]


def test_tests_of_a_report_that_pytest_finds_red_too_are_searched_for_with_it(
    run: Run,
    env: Environment,
    project_with: Callable[[str], Any],
    lines_of: Callable[..., Any],
) -> None:
    tree, runner = project_with(JUNIT.replace("python", env.python))
    assert set(runner.collect(run, tree, env).tests) == {
        "test_m.py::test_total", "test_m.py::test_unused", COMMAND,
    }  # fmt: skip
    (suite,) = runner.run_many(run, env, [Ask(tree, spectrum=True)])
    by_test = {result.test: result for result in suite.results}
    assert {t: r.outcome for t, r in by_test.items()} == {
        "test_m.py::test_total": "failed", "test_m.py::test_unused": "passed", COMMAND: "passed",
    }  # fmt: skip
    assert ("m.py", 6) not in lines_of(suite.spectrum, "test_m.py::test_total")
    assert ("m.py", 6) in lines_of(suite.spectrum, "test_m.py::test_unused")
    red = by_test["test_m.py::test_total"].as_failure()
    with runner.warm(run, tree, env, [red], ("test_m.py::test_unused",)) as session:
        assert isinstance(session, WarmSession)
        assert [v.status for v in session.judge([tree.candidate("total", RIGHT)])] == ["fixed"]
    (again,) = runner.run_many(run, env, [Ask(tree, ("test_m.py::test_total",))])
    assert [(r.test, r.outcome) for r in again.results] == [("test_m.py::test_total", "failed")]


def test_a_command_is_started_in_the_folder_of_the_project(
    run: Run,
    env: Environment,
    project: Callable[[Mapping[str, str]], Any],
    command: Callable[..., CommandRunner],
) -> None:
    tree = project({"services/api/here.txt": "", "m.py": ""})
    runner = command("test -f here.txt", "services/api")
    (suite,) = runner.run_many(run, env, [Ask(tree)])
    assert [(r.test, r.outcome) for r in suite.results] == [(COMMAND, "passed")]


def test_a_command_that_does_not_end_is_a_timeout(
    run: Run,
    env: Environment,
    project: Callable[[Mapping[str, str]], Any],
    command: Callable[..., CommandRunner],
) -> None:
    asks = [Ask(project({"m.py": ""}), seconds=1)]
    (suite,) = command("sleep 600").run_many(run, env, asks)
    assert (suite.ended, suite.results) == ("timeout", ())


def test_ids_and_collection_errors_begin_at_the_top_where_the_project_lies_below(
    run: Run,
    env: Environment,
    sandbox: Sandbox,
    tmp_path: Path,
    project: Callable[[Mapping[str, str]], Any],
) -> None:
    tree = project({
        "services/api/m.py": FILES["m.py"], "services/api/test_m.py": FILES["test_m.py"],
        "services/api/test_broken.py": "import nowhere\n",
        "services/web/test_m.py": "def test_w(): 0",
        "services/api/pytest.ini": "[pytest]\npythonpath = .\n",
    })  # fmt: skip
    runner = SuiteRunner(sandbox, below="services/api")
    (suite,) = runner.run_many(run, env, [Ask(tree, spectrum=True)])
    top = "services/api/test_m.py"
    assert [r.test for r in suite.results] == [f"{top}::test_total", f"{top}::test_unused"]
    assert [path for path, _ in suite.errors] == ["services/api/test_broken.py"]
    red = suite.results[0]
    assert red.frames[-1].path == top
    (alone,) = runner.run_many(run, env, [Ask(tree, (red.test,))])
    assert [r.test for r in alone.results] == [red.test]
    with runner.warm(run, tree, env, [red.as_failure()], [f"{top}::test_unused"]) as session:
        candidate = tree.candidate("total", RIGHT, path="services/api/m.py")
        assert [v.status for v in session.judge([candidate])] == ["fixed"]


def test_what_one_environment_showed_is_kept_apart_from_another(
    run: Run, env: Environment, project_with: Callable[[str], Any]
) -> None:
    tree, runner = project_with(JUNIT.replace("python", env.python))
    runner.preflight(run, env)
    (suite,) = runner.run_many(run, env, [Ask(tree, spectrum=True)])
    red = [r.as_failure() for r in suite.results if r.test == "test_m.py::test_total"]
    runner.preflight(run, env)
    with runner.warm(run, tree, env, red, ()) as session:
        assert isinstance(session, WarmSession)
    with pytest.raises(SandboxError):
        runner.preflight(run, replace(env, prefix="/another"))
    with runner.warm(run, tree, env, red, ()) as session:
        assert isinstance(session, ColdSession)
