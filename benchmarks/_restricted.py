"""A runner that knows of a part of the suite alone, as if there were no other tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from heal_bot.core.events import Run
from heal_bot.core.model import Collection, Environment, Failure, SuiteRun
from heal_bot.ports import Ask, Session, Tree
from heal_bot.testrun.runner import SuiteRunner


@dataclass(frozen=True, slots=True)
class Restricted:
    """Runs `tests` where all tests are asked for; warm sessions are those of `warmer`."""

    runner: SuiteRunner
    warmer: SuiteRunner
    tests: tuple[str, ...]

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - of any kind
        """All else as the runner does it."""
        return getattr(self.runner, name)

    def collect(self, run: Run, tree: Tree, env: Environment) -> Collection:
        """The tests there are, taken for granted."""
        return Collection(self.tests)

    def run_many(self, run: Run, env: Environment, asks: Sequence[Ask]) -> tuple[SuiteRun, ...]:
        """Cold runs side by side, restricted likewise."""
        some = [ask if ask.tests is not None else replace(ask, tests=self.tests) for ask in asks]
        return self.runner.run_many(run, env, some)

    def warm(
        self, run: Run, tree: Tree, env: Environment, failing: Sequence[Failure],
        guards: Sequence[str],
    ) -> Session:  # fmt: skip
        """A session of the other runner."""
        return self.warmer.warm(run, tree, env, failing, guards)
