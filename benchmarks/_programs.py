"""The QuixBugs programs as a repository, checked out, with a sandbox around them."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks import _releases
from benchmarks._cases import read_cases
from benchmarks._repositories import commit_files
from benchmarks._restricted import Restricted
from heal_bot.checkout.bare_repository import Repository
from heal_bot.core.events import Run
from heal_bot.core.model import Baseline, Environment, RunHints
from heal_bot.environments.local_workspace import LocalWorkspace
from heal_bot.ports import RunContext, Runner, Tree
from heal_bot.sandbox.sandbox_client import Sandbox
from heal_bot.testrun.runner import SuiteRunner
from heal_bot.verification.baseline import reproduce

_LONGEST = 7_200.0
# What stands in for a time limit per test in the project's CI; the searches have their own.
_LIMIT = "QUIXBUGS_SECONDS"
_CONFTEST: str = read_cases("texts")["quixbugs_conftest"]


@dataclass(frozen=True, slots=True)
class World:
    """The programs as a checkout, the sandbox around it, and where judged files go."""

    run: Run
    workspace: LocalWorkspace
    tree: Tree
    env: Environment
    cold: SuiteRunner
    warm: SuiteRunner
    data: Path
    scratch: Path
    sandbox: Sandbox

    def baseline(self, name: str) -> Baseline:
        """The program's official tests as they are."""
        only = Restricted(self.cold, self.warm, (f"python_testcases/test_{name}.py",))
        return reproduce(self.context(self.run, only), None)

    def context(self, run: Run, runner: Runner) -> RunContext:
        """What stages get."""
        return RunContext(run, runner, self.workspace, self.tree, self.env)


@contextmanager
def world(data: Path) -> Iterator[World]:
    """The data as a git repository, checked out, with an interpreter and a sandbox."""
    with (
        tempfile.TemporaryDirectory(prefix="quixbugs-") as place,
        Sandbox.start("strict", 3) as sandbox,
    ):
        scratch = Path(place)
        _repository(data, scratch / "repo")
        run = Run(lambda event: None)
        run = replace(run, deadline=run.clock() + _LONGEST)
        repository = Repository.of(run, scratch / "repo", scratch)
        workspace = LocalWorkspace(
            repository, scratch, Path(tempfile.gettempdir()) / f"heal-bot-cache-{os.getuid()}",
            given=_releases.environment("quixbugs", "pytest==9.2.0"),
        )  # fmt: skip
        tree = workspace.checkout(run, repository.head)
        env = workspace.provision(run, tree, RunHints())
        cold = SuiteRunner(sandbox, passes={_LIMIT: "2"})
        cold.preflight(run, env)
        yield World(run, workspace, tree, env, cold, SuiteRunner(sandbox), data, scratch, sandbox)


def _repository(data: Path, folder: Path) -> None:
    """The buggy programs and their tests, committed."""
    for name in ("python_programs", "python_testcases", "json_testcases"):
        shutil.copytree(data / name, folder / name, ignore=shutil.ignore_patterns("*_test.py"))
    own = (data / "conftest.py").read_text(encoding="utf-8")
    (folder / "conftest.py").write_text(own + f"\n\n{_CONFTEST}", encoding="utf-8")
    commit_files(folder, "Programs")
