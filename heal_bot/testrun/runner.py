"""Runs the target's pytest in the sandbox and believes only what adds up."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from heal_bot.core.errors import ProvisionError, SandboxError, explain_uncollected
from heal_bot.core.events import Run
from heal_bot.core.model import Collection, Environment, Failure, Isolation, SuiteRun
from heal_bot.core.statuses import SuiteEnd
from heal_bot.ports import Ask, Observed, Tree
from heal_bot.sandbox import preflight
from heal_bot.sandbox.job_spec import Limits, Profile
from heal_bot.sandbox.sandbox_client import Sandbox
from heal_bot.testrun import scratch_dirs
from heal_bot.testrun.agent_process import Workbench
from heal_bot.testrun.assertion_rewrite_cache import Rewriter
from heal_bot.testrun.code_origin import Origins
from heal_bot.testrun.driver_protocol import Tests
from heal_bot.testrun.environment_integrity import Vigil
from heal_bot.testrun.forkserver_client import ForkServerClient
from heal_bot.testrun.forkserver_pool import ForkServerPool
from heal_bot.testrun.oracle import start_oracle
from heal_bot.testrun.pytest_driver import Driver
from heal_bot.testrun.record_reader import conclude, find_unloaded, new_hearing
from heal_bot.testrun.snippet_runner import run_snippet
from heal_bot.testrun.warm_session import WarmSession

DEFAULT_SECONDS = 1800.0
_CANARIES = 8
_ASIDE = 5


class SuiteRunner:
    """The Runner port: cold runs in fresh copies, and warm sessions.

    `loopback` allows local servers (reduced isolation), `passes` are variables that the
    tests get besides, `lanes` how many slots a warm session may take (at most the sandbox's).
    `below` is the folder of the tree where tests are started, `changed` says whether files of an
    environment changed.
    """

    def __init__(
        self,
        sandbox: Sandbox,
        *,
        loopback: bool = False,
        passes: Mapping[str, str] | None = None,
        lanes: int = 2,
        below: str = "",
        changed: Callable[[Environment], bool] = lambda env: False,
    ) -> None:
        self._sandbox = sandbox
        self.vigil = Vigil(changed)
        self._lanes = lanes
        self._held = sandbox.isolation
        self._rewriter = Rewriter(sandbox)
        profile: Profile = "loopback" if loopback else "test"
        self.bench = Workbench(sandbox, passes or {}, profile, below, self._rewriter.files)
        self._forkservers = ForkServerPool(self.bench)
        sandbox.before_close(self._rewriter.close)
        sandbox.before_close(self._forkservers.spare.drop)
        sandbox.before_close(self._forkservers.asker.drop)
        sandbox.before_close(self.vigil.close)
        self._sessions: list[WarmSession] = []
        self._known: dict[Environment, tuple[str, ...]] = {}
        self._telling = threading.Lock()

    def preflight(self, run: Run, env: Environment) -> Isolation:
        """Prove that the layers hold and the interpreter inside is the one outside."""
        self.make_room()
        expected = {"version": env.version, "prefix": env.prefix, "base_prefix": env.base_prefix}
        roots = tuple(map(Path, env.roots))
        self._held = preflight.run_self_test(self._sandbox, env.python, expected, roots)
        return self.isolation()

    def collect(self, run: Run, tree: Tree, env: Environment) -> Collection:
        """Node ids and collection errors.

        ProvisionError when pytest itself could not run, BudgetError when not in time.
        """
        self.make_room()
        done = self._cold(run, env, Ask(tree, collect=True))
        if not done.finished:
            raise explain_uncollected(done.ended, done.detail)
        return Collection(done.collected, done.errors)

    def run(
        self,
        run: Run,
        tree: Tree,
        env: Environment,
        tests: Sequence[str] | None = None,
        *,
        spectrum: bool = False,
        seconds: float | None = None,
        shuffle: int | None = None,
    ) -> SuiteRun:
        """One cold run; anything that does not add up ends `untrusted`, never as a pass."""
        asked = None if tests is None else tuple(tests)
        self.make_room()
        return self._cold(run, env, Ask(tree, asked, spectrum, seconds, shuffle))

    def run_many(self, run: Run, env: Environment, asks: Sequence[Ask]) -> tuple[SuiteRun, ...]:
        """Cold runs side by side: one per core, and one more for what mostly waits.

        Where a session is expected, its processes start when a run leaves its core; the whole
        suite, which the session waits for, then shares its core with none of them.
        """
        room = 2 if any(ask.oracle for ask in asks) else 1
        if room == 1 and len(asks) > 1:
            self._forkservers.asker.drop()
        self.make_room(room=room)
        free = self._sandbox.count - self._taken() - self._forkservers.asker.held
        if free < room:
            raise SandboxError(f"{room} sandbox slots are needed at once, and {free} are free")
        expected = [ask.tree for ask in asks if ask.warm]
        most = min((os.cpu_count() or 1) + (not expected), free - room + 1)
        with ThreadPoolExecutor(max(1, min(len(asks) + len(expected), most)), "cold-run") as pool:
            runs = pool.map(lambda ask: self._cold(run, env, ask), asks)
            early = (self._forkservers.ahead, self._forkservers.ask_ahead)
            waiting = [pool.submit(start, run, t, env) for t in expected for start in early]
            done = tuple(runs)
            for started in waiting:
                try:
                    started.result()
                except (SandboxError, ProvisionError) as error:
                    run.warn("sandbox", f"no process was started ahead: {error}")
            return done

    def warm(
        self, run: Run, tree: Tree, env: Environment, failing: Sequence[Failure],
        guards: Sequence[str],
    ) -> WarmSession:  # fmt: skip
        """A session with one fork server per slot; each takes its slot when it is first used."""

        def start(wanting: WarmSession) -> ForkServerClient:
            self.make_room(wanting)
            return self._forkservers.start(run, tree, env)

        known = self._ids(env, (*(failure.test for failure in failing), *guards))
        session = WarmSession(
            run, tree, failing, guards, known=known, lanes=self._lanes, start=start
        )
        self._sessions = [*(s for s in self._sessions if not s.closed), session]
        return session

    def snippet(
        self, run: Run, tree: Tree, env: Environment, code: str, *, seconds: float = 20.0
    ) -> Observed:
        """What a few lines of Python print in a fresh copy of the tree."""
        self.make_room()
        with self.vigil.during(env):
            seconds = max(1.0, min(seconds, run.left()))
            return run_snippet(self.bench, tree, env, code, seconds, run.left)

    def make_room(self, wanting: WarmSession | None = None, room: int = 1) -> None:
        """Have sessions let slots go until `room` are free; the one that wants one comes last."""
        spare, asker = self._forkservers.spare, self._forkservers.asker
        if self._sandbox.count - room - asker.held < self._lanes - 1:
            asker.drop()
        others = [s for s in self._sessions if s is not wanting and s.held]
        most = min(self._lanes - 1, self._sandbox.count - room - asker.held)
        if wanting is None and self._taken() > most:
            spare.drop()
        while others and self._taken() > most:
            others[0].lend()
            others = [s for s in others if s.held]

    def _taken(self) -> int:
        """How many slots sessions hold, or what was started for one."""
        return self._forkservers.spare.held + sum(session.held for session in self._sessions)

    def isolation(self) -> Isolation:
        """What holds while code runs."""
        held = self._held
        if self.bench.profile != "loopback":
            return held
        gap = "network: local servers are allowed"
        return replace(held, mode="reduced", missing=(*held.missing, gap))

    def _cold(self, run: Run, env: Environment, ask: Ask) -> SuiteRun:
        """One run in a slot of its own; several threads may be in here."""
        order: dict[str, Any] = {
            "mode": "collect" if ask.collect else "run",
            "tests": None if ask.tests is None else list(ask.tests),
            "known": self._ids(env, ask.tests),
            "doctests": list(env.doctests),
            "shuffle": ask.shuffle,
            "spectrum": ask.spectrum,
            "oracle": None if ask.oracle is None else [list(f) for f in ask.oracle.functions],
        }
        began = time.monotonic()
        if ask.tests is None or ask.spectrum:
            # For a few tests alone it would cost more than it saves.
            self._rewriter.begin(ask.tree, env)
        seconds = max(1.0, min(ask.seconds or DEFAULT_SECONDS, run.left()))
        hearing = new_hearing(0 if ask.collect else _CANARIES, order)
        with contextlib.ExitStack() as stack:
            stack.enter_context(self.vigil.during(env))
            driver = stack.enter_context(contextlib.closing(self._driver(run, env, ask, seconds)))
            if ask.oracle is not None and driver.desk is not None:
                stack.enter_context(
                    start_oracle(
                        self.bench, driver.files, driver.desk, ask.oracle, env, seconds, run.left
                    )
                )
            ended, problem = driver.converse(run, order, hearing, seconds, partial(self._show, run))
        how, detail = conclude(ended, problem, hearing)
        if how == SuiteEnd.CRASHED and (said := find_unloaded(ended.output, hearing, driver.repo)):
            # A suite of which no file can be collected, told as the errors of files are.
            hearing.errors.extend(said)
            how, detail = SuiteEnd.FINISHED, ""
        names = hearing.tests.names
        if ask.tests is None and hearing.tests.collected and how != SuiteEnd.UNTRUSTED:
            self._known.setdefault(env, tuple(names))
        wanted = ask.spectrum and how != SuiteEnd.UNTRUSTED
        if wanted and how != SuiteEnd.FINISHED:
            hearing.spectrum.ended_early(len(names))
        return SuiteRun(
            results=hearing.tests.results(Origins(names)),
            collected=tuple(names),
            ended=how,
            seconds=time.monotonic() - began,
            isolation=self.isolation(),
            detail=detail,
            spectrum=hearing.spectrum.spectrum(names) if wanted else None,
            errors=tuple(hearing.errors),
            peak_memory=ended.peak_memory,
            unknown=hearing.unknown,
            unsteady=tuple(hearing.unsteady),
            asked=hearing.asked,
        )

    def _ids(self, env: Environment, tests: Sequence[str] | None) -> tuple[str, ...]:
        """The ids that tests of the same files had in the first run of all of them.

        Those are the names of these tests in every later run, also where ids change.
        """
        known = self._known.get(env, ())
        if tests and not known:
            # In another environment a test is asked for by the name that it had before.
            known = next(iter(self._known.values()), ())
        files = {test.partition("::")[0] for test in known if tests is None}
        files |= {test.partition("::")[0] for test in tests or ()}
        return tuple(test for test in known if "[" in test and test.partition("::")[0] in files)

    def _driver(self, run: Run, env: Environment, ask: Ask, seconds: float) -> Driver:
        """The process that waits for this, else a new one."""
        if (
            ask.oracle is not None
            and (waiting := self._forkservers.taken(ask.tree, env)) is not None
        ):
            return waiting
        limits = Limits(wall=seconds, nice=_ASIDE if ask.aside else 0)
        return Driver(
            self.bench, ask.tree.root, env, run.left, limits,
            passes=scratch_dirs.hash_seed(ask), asks=ask.oracle is not None,
        )  # fmt: skip

    def _show(self, run: Run, tests: Tests) -> None:
        """Say which test runs; runs side by side take turns, so that events stay in order."""
        at, count = tests.current, len(tests.names)
        if at is not None and at < count:
            with self._telling:
                run.show("sandbox", tests.names[at], min(len(tests.done) + 1, count), count)
