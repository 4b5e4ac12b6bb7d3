"""What an older Python says of failing tests: whether a commit broke them, or the Python did."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from heal_bot.core.errors import ProvisionError
from heal_bot.core.model import (
    Baseline,
    CaseResult,
    Collection,
    Environment,
    Failure,
    Frame,
    Origin,
    Reproduced,
    RunHints,
    SuiteRun,
)
from heal_bot.verification.older_python import compare_pythons
from tests.fakes import (
    ENVIRONMENT,
    FolderTree,
    FolderWorkspace,
    ScriptedRunner,
    context_of,
    quiet_run,
    suite,
)

T = "tests/test_a.py::test_one"
FILE = "tests/test_b.py"
OLDER = replace(ENVIRONMENT, version="3.10.4", prefix="/older")


@dataclass(frozen=True)
class History(FolderTree):
    """A tree whose commits changed a line of one file."""

    path: str = "shop.py"

    def changed_lines(self) -> dict[str, frozenset[int]]:
        return {self.path: frozenset({1})}


@dataclass
class Workspace(FolderWorkspace):
    """Has the Pythons that it is given, and takes the first one where another is asked for."""

    there: tuple[Environment, ...] = (ENVIRONMENT, OLDER)
    asked: list[RunHints] = field(default_factory=list)

    def provision(self, run: Any, tree: object, hints: Any) -> Environment:
        self.asked.append(hints)
        if not self.there:
            raise ProvisionError("the index does not answer")
        fits = (env for env in self.there if env.version.startswith(f"{hints.python}."))
        return next(fits, self.there[0])


@dataclass
class Runner(ScriptedRunner):
    """Collects the second test file in every environment but the first."""

    environments: list[Environment] = field(default_factory=list)

    def preflight(self, run: Any, env: Environment) -> None:
        self.environments.append(env)

    def collect(self, run: Any, tree: Any, env: Environment) -> Collection:
        return Collection((f"{FILE}::test_two",))


def outcome(test: str, outcome: str) -> SuiteRun:
    return suite(CaseResult(test, outcome))


def statuses(
    tmp_path: Path, there: SuiteRun, workspace: Workspace, changed: str = "shop.py",
    failing: tuple[str, ...] = (T,), kind: str = "AssertionError", frames: tuple[Frame, ...] = (),
) -> tuple[list[str], str, Runner]:  # fmt: skip
    files = {"shop.py": "A = 1\n", "tests/test_a.py": "def test_one():\n    assert shop.A\n"}
    tree = History(FolderTree.of(tmp_path / "tree", files).root, path=changed)
    items = tuple(
        Reproduced(Failure(test, kind, "assert 1 == 2", frames), "confirmed") for test in failing
    )
    runner, (run, _) = Runner([there]), quiet_run()
    context = context_of(run, runner, tree, workspace)
    found = compare_pythons(context, Baseline(items, there, 3), RunHints())
    reproduced = found.reproduced
    return [item.status for item in reproduced], reproduced[0].failure.reason, runner


def test_what_is_green_on_the_python_before_is_explained_by_the_newer_one(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    found, reason, runner = statuses(tmp_path, outcome(T, "passed"), workspace)
    assert found == ["explained"]
    assert "red on Python 3.11.2 and green on Python 3.10.4" in reason
    assert [hints.python for hints in workspace.asked] == ["3.10"]
    # Whoever runs tests next runs them where they failed.
    assert runner.environments == [OLDER, ENVIRONMENT]


def test_a_file_that_only_the_python_before_collects_is_explained_too(tmp_path: Path) -> None:
    found, _, _ = statuses(tmp_path, outcome(T, "failed"), Workspace(tmp_path), failing=(FILE, T))
    assert found == ["explained", "confirmed"]


@pytest.mark.parametrize(
    ("there", "changed"),
    [
        pytest.param((ENVIRONMENT, OLDER), "tests/test_a.py", id="a test of the commits"),
        pytest.param((ENVIRONMENT,), "shop.py", id="no other Python"),
        pytest.param((), "shop.py", id="nothing can be installed"),
    ],
)
def test_where_nothing_can_be_compared_the_failure_stays(
    tmp_path: Path, there: tuple[Environment, ...], changed: str
) -> None:
    workspace = Workspace(tmp_path, there=there)
    found, _, runner = statuses(tmp_path, outcome(T, "passed"), workspace, changed)
    assert found == ["confirmed"]
    assert runner.asked == []


def test_what_is_red_on_both_is_a_fault_of_the_code(tmp_path: Path) -> None:
    found, _, _ = statuses(tmp_path, outcome(T, "failed"), Workspace(tmp_path))
    assert found == ["confirmed"]


ASKS = Frame("tests/test_a.py", 2, "test_one", Origin.TEST)
CODE, LIB = Frame("x.py", 1, "f", Origin.PROJECT), Frame("/lib/x.py", 1, "f", Origin.LIBRARY)


@pytest.mark.parametrize(
    ("kind", "frames", "status"),
    [
        ("AttributeError", (ASKS, CODE), "confirmed"),
        ("AttributeError", (CODE,), "confirmed"),
        ("AssertionError", (ASKS, CODE), "explained"),
        ("AttributeError", (ASKS,), "explained"),
        # The test had caught what the code raised, and then asked for what is not there.
        ("AttributeError", (ASKS, ASKS, CODE), "explained"),
        ("ValueError", (ASKS, CODE, LIB), "explained"),
    ],
)
def test_what_the_code_itself_raises_is_left_to_the_search(
    tmp_path: Path, kind: str, frames: tuple[Frame, ...], status: str
) -> None:
    found, _, _ = statuses(
        tmp_path, outcome(T, "passed"), Workspace(tmp_path), kind=kind, frames=frames
    )
    assert found == [status]
