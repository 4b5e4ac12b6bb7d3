"""Starts fork servers, and two processes ahead of what they are for: a session, and the oracle."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from heal_bot.core.events import Run
from heal_bot.core.model import Environment
from heal_bot.ports import Tree
from heal_bot.sandbox.job_spec import Profile
from heal_bot.sandbox.sandbox_client import Sandbox
from heal_bot.testrun.assertion_rewrite_cache import Rewriter
from heal_bot.testrun.forkserver_client import ForkServerClient
from heal_bot.testrun.pytest_driver import Driver

_LONGEST = 7 * 86_400.0
# A session's two, the process that asks, and the one that answers it.
_ENOUGH = 4


class ForkServerPool:
    """Starts the fork servers of all sessions, in slots of their own.

    One started `ahead` has pytest loaded and waits for the tests it is for; it holds its slot
    until a session on the same tree takes it, or until it is dropped. So does the process that
    will run the assertions of the oracle.
    """

    def __init__(
        self,
        sandbox: Sandbox,
        passes: Mapping[str, str],
        profile: Profile,
        below: str,
        rewriter: Rewriter,
    ) -> None:
        self._sandbox, self._rewriter = sandbox, rewriter
        self._passes, self._profile, self._below = dict(passes), profile, below
        self._spare: tuple[Path, Environment, ForkServerClient] | None = None
        self._asker: tuple[Path, Environment, Driver] | None = None

    @property
    def held(self) -> int:
        """How many slots hold a fork server that no session has taken."""
        return int(self._spare is not None)

    @property
    def asking(self) -> int:
        """How many slots hold a process for an oracle that nobody has asked yet."""
        return int(self._asker is not None)

    def ahead(self, run: Run, tree: Tree, env: Environment) -> None:
        """Start one for a session that is expected; the caller knows that a slot is free."""
        self.drop()
        self._spare = (tree.root, env, self._new(run, tree, env))

    def start(self, run: Run, tree: Tree, env: Environment) -> ForkServerClient:
        """The one that waits for this tree, else a new one."""
        if self._spare is not None and self._spare[:2] == (tree.root, env):
            forkserver, self._spare = self._spare[2], None
            return forkserver
        self.drop()
        return self._new(run, tree, env)

    def drop(self) -> None:
        """Give the slot back that nobody has taken."""
        if self._spare is not None:
            self._spare[2].close()
            self._spare = None

    def ask_ahead(self, run: Run, tree: Tree, env: Environment) -> None:
        """Start the process for an oracle, where slots are many and each holds by itself.

        It waits beside processes that execute candidates: without all layers they might reach it.
        """
        self.leave()
        if self._sandbox.count >= _ENOUGH and not self._sandbox.isolation.missing:
            driver = Driver(
                self._sandbox, tree.root, env, passes=self._passes, profile=self._profile,
                wall=self._wall(run), left=run.left, below=self._below, asks=True,
                more=self._rewriter.files(env),
            )  # fmt: skip
            self._asker = (tree.root, env, driver)

    def taken(self, tree: Tree, env: Environment) -> Driver | None:
        """The one that waits for an oracle on this tree; whoever takes it closes it."""
        if self._asker is None or self._asker[:2] != (tree.root, env):
            return None
        if not self._asker[2].waits:
            self.leave()
            return None
        driver, self._asker = self._asker[2], None
        return driver

    def leave(self) -> None:
        """Give the slot back of the one that waits for an oracle."""
        if self._asker is not None:
            self._asker[2].close()
            self._asker = None

    def _wall(self, run: Run) -> float:
        return max(1.0, min(run.left(), _LONGEST))

    def _new(self, run: Run, tree: Tree, env: Environment) -> ForkServerClient:
        return ForkServerClient(
            self._sandbox, tree, env, passes=self._passes, profile=self._profile,
            wall=self._wall(run), left=run.left, below=self._below, more=self._rewriter.files(env),
        )  # fmt: skip
