"""Starts fork servers, and two processes ahead of what they are for: a session, and the oracle."""

from __future__ import annotations

from pathlib import Path
from typing import Generic, Protocol, TypeVar

from heal_bot.core.events import Run
from heal_bot.core.model import Environment
from heal_bot.ports import Tree
from heal_bot.sandbox.job_spec import Limits
from heal_bot.testrun.agent_process import Workbench
from heal_bot.testrun.forkserver_client import ForkServerClient
from heal_bot.testrun.pytest_driver import Driver

_LONGEST = 7 * 86_400.0
# A session's two, the process that asks, and the one that answers it.
_ENOUGH = 4


class _Closable(Protocol):
    def close(self) -> None: ...


P = TypeVar("P", bound=_Closable)


class Spare(Generic[P]):
    """A process that waits for a run on its tree, and holds its slot until it is dropped."""

    def __init__(self) -> None:
        self._kept: tuple[Path, Environment, P] | None = None

    @property
    def held(self) -> int:
        """How many slots it holds."""
        return int(self._kept is not None)

    def keep(self, tree: Tree, env: Environment, process: P) -> None:
        """Have this one wait."""
        self._kept = (tree.root, env, process)

    def take(self, tree: Tree, env: Environment) -> P | None:
        """The one that waits for this tree; whoever takes it closes it."""
        if self._kept is None or self._kept[:2] != (tree.root, env):
            return None
        process, self._kept = self._kept[2], None
        return process

    def drop(self) -> None:
        """Give the slot back that nobody has taken."""
        if self._kept is not None:
            self._kept[2].close()
            self._kept = None


class ForkServerPool:
    """Starts the fork servers of all sessions, in slots of their own.

    `spare` has pytest loaded and waits for the tests of a session, `asker` will run the assertions
    of an oracle.
    """

    def __init__(self, bench: Workbench) -> None:
        self._bench = bench
        self.spare: Spare[ForkServerClient] = Spare()
        self.asker: Spare[Driver] = Spare()

    def ahead(self, run: Run, tree: Tree, env: Environment) -> None:
        """Start one for a session that is expected; the caller knows that a slot is free."""
        self.spare.drop()
        self.spare.keep(tree, env, self._new(run, tree, env))

    def start(self, run: Run, tree: Tree, env: Environment) -> ForkServerClient:
        """The one that waits for this tree, else a new one."""
        if (waiting := self.spare.take(tree, env)) is not None:
            return waiting
        self.spare.drop()
        return self._new(run, tree, env)

    def ask_ahead(self, run: Run, tree: Tree, env: Environment) -> None:
        """Start the process for an oracle, where slots are many and each holds by itself.

        It waits beside processes that execute candidates: without all layers they might reach it.
        """
        self.asker.drop()
        sandbox = self._bench.sandbox
        if sandbox.count >= _ENOUGH and not sandbox.isolation.missing:
            limits = Limits(wall=self._wall(run))
            driver = Driver(self._bench, tree.root, env, run.left, limits, asks=True)
            self.asker.keep(tree, env, driver)

    def taken(self, tree: Tree, env: Environment) -> Driver | None:
        """The one that waits for an oracle on this tree, unless it has ended."""
        driver = self.asker.take(tree, env)
        if driver is None or driver.waits:
            return driver
        driver.close()
        return None

    def _wall(self, run: Run) -> float:
        return max(1.0, min(run.left(), _LONGEST))

    def _new(self, run: Run, tree: Tree, env: Environment) -> ForkServerClient:
        return ForkServerClient(self._bench, tree, env, wall=self._wall(run), left=run.left)
