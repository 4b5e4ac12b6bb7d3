"""Plugins that the failing run had and the environment lacks: added once, or named."""

from __future__ import annotations

import importlib.metadata
import json
import subprocess
import sys
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from heal_bot.core.errors import ProvisionError, SandboxError, UncollectedError
from heal_bot.core.model import (
    CaseResult,
    Collection,
    Environment,
    HealRequest,
    Memory,
    Outcome,
    SuiteRun,
)
from heal_bot.pipeline import Edges, heal
from heal_bot.repair.search.cluster_search import SearchLimits
from tests.environments.warehouse import Warehouse
from tests.fakes import (
    ENVIRONMENT,
    ISOLATION,
    RED,
    SHA,
    FolderTree,
    FolderWorkspace,
    NoStore,
    ScriptedRunner,
    case,
    failed,
    passed,
    quiet_run,
    suite,
)

TEST = "tests/test_a.py::test_one"
FULLER = replace(ENVIRONMENT, prefix="/fuller", added=("pytest-mock 3.1",))
NO_MOCKER = "fixture 'mocker' not found"
LACKS = suite(CaseResult(TEST, "error", "setup", kind="FixtureLookupError", message=NO_MOCKER))
GREEN = suite(passed(TEST))
TWO = "tests/test_a.py::test_two"
BOTH = suite(*LACKS.results, failed(TWO))


@dataclass
class Workspace(FolderWorkspace):
    """Gives `fuller` to whoever asks for pytest-mock; refuses where there is none."""

    fuller: Environment | None = FULLER
    asked: list[tuple[str, ...]] = field(default_factory=list)

    def checkout(self, run: Any, sha: str) -> FolderTree:
        text = "def test_one(mocker): pass\ndef test_two(): pass\n"
        return FolderTree.of(self.folder, {"tests/test_a.py": text})

    def provision(self, run: Any, tree: object, hints: Any) -> Environment:
        self.asked.append(hints.plugins)
        if not hints.plugins:
            return ENVIRONMENT
        if self.fuller is None:
            raise ProvisionError("the index does not answer")
        return self.fuller


@dataclass
class Runner(ScriptedRunner):
    """Cannot run with `refusal` in the first environment, nor with `stop` in the fuller one."""

    refusal: str = ""
    refuses: type[ProvisionError] = ProvisionError
    stop: str = ""
    environments: list[Environment] = field(default_factory=list)

    def preflight(self, run: Any, env: Environment) -> Any:
        self.environments.append(env)
        return ISOLATION

    def run(self, run: Any, tree: Any, env: Environment, *rest: Any, **options: Any) -> SuiteRun:
        if self.refusal and env == ENVIRONMENT:
            raise self.refuses(self.refusal)
        if self.stop and env == FULLER:
            raise SandboxError(self.stop)
        return super().run(run, tree, env, *rest, **options)

    def collect(self, run: Any, tree: Any, env: Environment) -> Collection:
        raise AssertionError("a short suite is run at once")


def healed(
    tmp_path: Path, workspace: Workspace, runner: Runner, cases: str = case("one", RED)
) -> tuple[Outcome, str]:
    (tmp_path / "r.xml").write_text(f"<testsuite>{cases}</testsuite>")
    run, events = quiet_run()
    edges = Edges(workspace, runner, (), NoStore())  # type: ignore[arg-type]
    request = HealRequest("octo/shop", SHA, reports=("r.xml",) if cases else ())
    outcome = heal(run, request, edges, tmp_path, Memory(), SearchLimits())
    return outcome, "\n".join(getattr(event, "message", "") for event in events)


def test_a_plugin_that_is_missing_is_added_once_and_the_suite_runs_again(tmp_path: Path) -> None:
    workspace, runner = Workspace(tmp_path / "tree"), Runner([LACKS] * 3 + [GREEN])
    outcome, said = healed(tmp_path, workspace, runner)
    assert outcome.status == "not_reproduced"
    assert outcome.reason.endswith("; pytest-mock was added to the environment and is there now")
    assert workspace.asked == [(), ("pytest-mock",)]
    assert runner.environments == [ENVIRONMENT, FULLER]
    assert "the tests need pytest-mock: the environment has it now, and they run again" in said


CI = """jobs:
  test:
    strategy: { matrix: { tz: [UTC0, EST5] } }
    env: { MODE: fast }
    steps: [{ run: pytest, env: { TZ: "${{ matrix.tz }}", LINES: "a\\nb" } }]
"""


@dataclass
class Zones(Workspace):
    """A project whose workflow gives variables."""

    def checkout(self, run: Any, sha: str) -> FolderTree:
        files = {"tests/test_a.py": "def test_one(): pass\n", ".github/workflows/ci.yml": CI}
        return FolderTree.of(self.folder, files)


@dataclass
class InZone(Runner):
    """Tests that fail in one time zone alone."""

    zone: str = ""
    given: list[dict[str, str]] = field(default_factory=list)

    def run(self, run: Any, tree: Any, env: Environment, *rest: Any, **options: Any) -> SuiteRun:
        self.given.append(dict(env.variables))
        return suite(failed(TEST)) if ("TZ", self.zone) in env.variables else GREEN


@pytest.mark.parametrize(
    ("zone", "status", "tried"),
    [("EST5", "not_healed", ["UTC0", "EST5"]), ("CET", "not_reproduced", ["UTC0", "EST5"])],
)
def test_what_passes_here_is_tried_with_the_variables_of_each_job_of_a_matrix(
    tmp_path: Path, zone: str, status: str, tried: list[str]
) -> None:
    runner = InZone([GREEN], zone=zone)
    outcome, said = healed(tmp_path, Zones(tmp_path / "tree"), runner)  # type: ignore[arg-type]
    assert outcome.status == status
    assert {given["MODE"] for given in runner.given} == {"fast"}
    assert list(dict.fromkeys(given["TZ"] for given in runner.given if "TZ" in given)) == tried
    assert ("the tests fail with TZ=EST5, which one job of the workflows sets" in said) == (
        zone == "EST5"
    )


def test_what_is_missing_after_that_as_well_is_named(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path / "tree")
    outcome, _ = healed(tmp_path, workspace, Runner([LACKS]))
    assert outcome.status == "environment_error"
    assert "pytest's plugin pytest-mock, which the test asks for, is missing" in outcome.reason
    assert workspace.asked == [(), ("pytest-mock",)]


@pytest.mark.parametrize(
    ("fuller", "why"),
    [(None, "cannot be added (the index does not answer)"), (ENVIRONMENT, "is not changed")],
    ids=["no index", "an environment that is there"],
)
def test_where_it_cannot_be_added_the_reason_names_it_and_the_remedy(
    tmp_path: Path, fuller: Environment | None, why: str
) -> None:
    outcome, said = healed(tmp_path, Workspace(tmp_path / "tree", fuller=fuller), Runner([LACKS]))
    assert outcome.status == "environment_error"
    assert "; the tests need pytest-mock, which" in outcome.reason
    assert why in outcome.reason
    assert why in said
    lost = Runner([GREEN], refusal="code 4: x: error: unrecognized arguments: --cov=a -q")
    outcome, _ = healed(tmp_path, Workspace(tmp_path / "tree", fuller=fuller), lost)
    assert outcome.status == "environment_error"
    assert "the tests need pytest-cov, which" in outcome.reason
    assert why in outcome.reason
    assert "install it" in outcome.reason


@pytest.mark.parametrize(
    "runner",
    [
        Runner([BOTH], stop="INTERNALERROR: no Qt binding"),
        Runner([BOTH] * 3 + [replace(GREEN, results=(), ended="crashed", detail="no Qt binding")]),
        Runner([BOTH] * 3 + [replace(BOTH, results=(LACKS.results[0], replace(LACKS.results[0],
                                                                             test=TWO)))]),
    ],
    ids=["refused", "stopped", "every test lacks something else"],
)  # fmt: skip
def test_what_was_confirmed_stays_where_a_plugin_keeps_the_tests_from_running(
    tmp_path: Path, runner: Runner
) -> None:
    outcome, said = healed(
        tmp_path, Workspace(tmp_path / "tree"), runner, case("one", RED) + case("two", RED)
    )
    assert outcome.baseline is not None
    assert [failure.test for failure in outcome.baseline.confirmed] == [TWO]
    assert runner.environments == [ENVIRONMENT, FULLER, ENVIRONMENT]
    assert "with pytest-mock added the tests do not run (" in said
    assert any(note.startswith("with pytest-mock added") for note in outcome.notes)


def test_what_passes_with_the_plugin_is_not_confirmed(tmp_path: Path) -> None:
    whole = suite(passed(TEST), passed(TWO))
    cases = case("one", RED) + case("two", RED)
    runner = Runner([BOTH] * 3 + [whole])
    outcome, _ = healed(tmp_path, Workspace(tmp_path / "tree"), runner, cases)
    assert outcome.status == "not_reproduced"


def test_without_a_report_only_what_pytest_cannot_start_without_is_added(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path / "tree")
    outcome, _ = healed(tmp_path, workspace, Runner([LACKS]), "")
    assert (outcome.status, workspace.asked) == ("explained", [()])
    assert "pytest's plugin pytest-mock, which the test asks for, is missing" in outcome.reason
    lost = Runner([GREEN], refusal="code 4: x: error: unrecognized arguments: --cov=a -q")
    outcome, _ = healed(tmp_path, workspace, lost, "")
    assert (outcome.status, workspace.asked[1:]) == ("nothing_to_do", [(), ("pytest-cov",)])


def test_where_the_declared_pytest_does_not_start_a_newer_one_runs_the_tests(
    tmp_path: Path,
) -> None:
    runner = Runner([BOTH], refusal="AttributeError: __spec__", refuses=UncollectedError)
    workspace = Workspace(tmp_path / "tree")
    outcome, said = healed(tmp_path, workspace, runner, case("two", RED))
    assert workspace.asked[:2] == [(), ("pytest",)]
    assert outcome.baseline is not None
    assert [failure.test for failure in outcome.baseline.confirmed] == [TWO]
    assert "a newer one ran here" in said
    assert any("a newer one ran here" in note for note in outcome.notes)


@pytest.mark.parametrize("newer", [None, ENVIRONMENT], ids=["no index", "one that is there"])
def test_where_no_newer_pytest_can_be_had_the_reason_is_that_of_the_declared_one(
    tmp_path: Path, newer: Environment | None
) -> None:
    lost = Runner([], refusal="AttributeError: __spec__", refuses=UncollectedError)
    outcome, _ = healed(tmp_path, Workspace(tmp_path / "tree", fuller=newer), lost)
    assert (outcome.status, outcome.reason) == ("environment_error", "AttributeError: __spec__")


def test_a_suite_that_does_not_start_for_another_reason_ends_the_run(tmp_path: Path) -> None:
    lost = Runner([GREEN], refusal="code 4: x: error: unrecognized arguments: --of-nobody")
    outcome, _ = healed(tmp_path, Workspace(tmp_path / "tree"), lost)
    assert outcome.status == "environment_error"
    assert "--of-nobody" in outcome.reason


FILES = {
    "shop/__init__.py": "",
    "shop/price.py": "def total(prices):\n    return sum(prices[1:])\n",
    "tests/test_price.py": "import pytest\nfrom shop.price import total\n\n\n"
    "@pytest.mark.parametrize(('given', 'sum'), [([], 0), ([5], 5), ([4, 2], 6), ([1, 2, 4], 7)])\n"
    "def test_total(given, sum):\n    assert total(given) == sum\n\n\n"
    "def test_double(mocker):\n    assert mocker == 'a double'\n",
}
PLUGIN = {
    "pytest_mock.py": "import pytest\n\n\n@pytest.fixture\ndef mocker():\n    return 'a double'\n",
    "pytest_mock-1.0.dist-info/entry_points.txt": "[pytest11]\npytest_mock = pytest_mock\n",
}


def stocked(folder: Path) -> Warehouse:
    """An index with the pytest that runs this, and one plugin."""
    index = Warehouse(folder)
    needs = ("pluggy", "iniconfig", "packaging", "pygments")
    for name in ("pytest", *needs):
        found = importlib.metadata.distribution(name)
        files = {
            str(file): Path(str(file.locate())).read_text()
            for file in found.files or ()
            if file.suffix == ".py" and ".." not in file.parts
        }
        index.wheel(name, found.version, files, requires=needs if name == "pytest" else ())
    index.wheel("pytest_mock", files=PLUGIN)
    return index


@pytest.mark.slow
@pytest.mark.parametrize("given", [False, True], ids=["made anew", "given without pytest"])
def test_the_certificate_names_what_was_added(tmp_path: Path, given: bool) -> None:
    repo, index = tmp_path / "repo", stocked(tmp_path / "index")
    for path, text in FILES.items():
        (repo / path).parent.mkdir(parents=True, exist_ok=True)
        (repo / path).write_text(text)
    for arguments in (("init", "-qb", "main"), ("add", "-A"), ("commit", "-qm", "First")):
        who = ("-c", "user.name=t", "-c", "user.email=t@localhost")
        subprocess.run(["git", *who, *arguments], cwd=repo, check=True)
    environ = {"PATH": "/usr/bin:/bin", "HEAL_BOT_INDEX_URL": index.url}

    def program(*arguments: str) -> str:
        argv = [sys.executable, "-I", "-m", "heal_bot", *arguments]
        done = subprocess.run(argv, cwd=tmp_path, env=environ, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    python: tuple[str, ...] = ()
    if given:
        base = Path(sys.executable).resolve()
        subprocess.run([base, "-m", "venv", "--without-pip", tmp_path / "own"], check=True)
        python = ("--python", "own")
    cases = "".join(
        f'<testcase classname="tests.test_price" name="test_total[{name}]" time="0.1">{RED}'
        "</testcase>" for name in ("given1-5", "given2-6", "given3-7")
    )  # fmt: skip
    (tmp_path / "r.xml").write_text(f"<testsuite>{cases}</testsuite>")
    asked = ("--repo", "repo", "--junit", "r.xml", "--proposers", "rules", "--out", "bundle")
    try:
        said = program("heal", *asked, *python)
    finally:
        index.close()
    outcome = json.loads((tmp_path / "bundle/outcome.json").read_text())
    assert outcome["status"] == "healed", said
    own = [f"pytest {importlib.metadata.version('pytest')}"] if given else []
    added = [*own, "pytest-mock 1.0"]
    assert outcome["certificate"]["environment"]["added"] == added
    text = (tmp_path / "bundle/pull_request.md").read_text().replace("\\", "")
    assert f"added to the environment: {', '.join(added)}" in text
