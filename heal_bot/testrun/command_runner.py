"""Runs a command in the place of pytest: the tests are what its report or its exit code says."""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from heal_bot.core.errors import BudgetError, ProvisionError, SandboxError
from heal_bot.core.events import Run
from heal_bot.core.model import (
    NO_ENVIRONMENT,
    Collection,
    Environment,
    Failure,
    Isolation,
    PatchedFile,
    SuiteRun,
)
from heal_bot.core.statuses import SuiteEnd
from heal_bot.ports import Ask, Observed, Session, Told, Tree
from heal_bot.sandbox.job_spec import Job, JobResult, Limits
from heal_bot.sandbox.sandbox_client import Sandbox
from heal_bot.sandbox.scratch_slots import Slot
from heal_bot.testrun import line_recorder, scratch_dirs
from heal_bot.testrun.process_session import ColdSession
from heal_bot.testrun.runner import DEFAULT_SECONDS, SuiteRunner

_KEPT = 256 << 10
# No command has a network: tox (with its plugin) takes what is installed, installers say at once
# that there is no more.
_OFFLINE = {"TOX_CURRENT_ENV": "1", "PIP_NO_INDEX": "1", "UV_OFFLINE": "1"}
_TOX = re.compile(r"(?<![\w.-])tox(?![\w.-])")
_NO_ORACLE = "the tests run by a command and not by pytest"


@dataclass(slots=True)
class _Shown:
    """What runs in one environment showed: pytest's ids, the tests both know, the baseline."""

    known: tuple[str, ...] | None = None
    shared: frozenset[str] = frozenset()
    passing: tuple[str, ...] = ()
    seconds: float = 0.0
    observed: tuple[Path, SuiteRun] | None = None


class CommandRunner:
    """The Runner port: `command` decides, `pytest` only helps to find and to search.

    Each run of the command is a run of all its tests; where some are asked for, the others are
    left out of what it showed. `told` reads what it wrote. Tests that pytest knows by the same
    name and finds red as well are searched for with it, all others with the command.
    """

    def __init__(self, sandbox: Sandbox, pytest: SuiteRunner, command: str, told: Told) -> None:
        self._sandbox = sandbox
        self._pytest = pytest
        self._command = command
        self._told = told
        self._shown = _Shown()
        self._shown_in: dict[str, _Shown] = {}

    def preflight(self, run: Run, env: Environment) -> Isolation:
        """Prove that the layers hold and the interpreter inside is the one outside."""
        # What another environment showed says nothing of this one.
        self._shown = self._shown_in.setdefault(env.prefix, _Shown())
        return self._pytest.preflight(run, env)

    def collect(self, run: Run, tree: Tree, env: Environment) -> Collection:
        """The tests of one run of the command, which counts as the baseline of this tree."""
        self._collect(run, tree, env)
        self._pytest.make_room()
        suite = self._observe(run, env, Ask(tree, spectrum=True))
        if suite.ended == SuiteEnd.TIMEOUT:
            raise BudgetError(
                f"the test-command did not come to its end: {suite.detail};"
                " raise --max-minutes, or give a command that ends by itself"
            )
        if not suite.finished:
            raise SandboxError(
                f"the test-command did not come to its end: {suite.ended}: {suite.detail}"
            )
        self._shown.observed = (tree.root, suite)
        return Collection(suite.collected)

    def run_many(self, run: Run, env: Environment, asks: Sequence[Ask]) -> tuple[SuiteRun, ...]:
        """Cold runs side by side, one per core; one with a spectrum of all is the baseline."""
        if asks:
            self._collect(run, asks[0].tree, env)
        self._pytest.make_room()
        lanes = max(1, min(len(asks), os.cpu_count() or 1, self._sandbox.count - 1))
        with ThreadPoolExecutor(lanes, "command") as pool:
            return tuple(pool.map(lambda ask: self._asked(run, env, ask), asks))

    def warm(
        self, run: Run, tree: Tree, env: Environment, failing: Sequence[Failure],
        guards: Sequence[str],
    ) -> Session:  # fmt: skip
        """A session of pytest's where it knows all of the failing tests, else cold runs."""
        if all(failure.test in self._shown.shared for failure in failing):
            known = [guard for guard in guards if guard in frozenset(self._shown.known or ())]
            return self._pytest.warm(run, tree, env, failing, known)

        def judge(files: Sequence[PatchedFile]) -> SuiteRun:
            seconds = 10 + 3 * self._shown.seconds
            return self._cold(run, env, Ask(tree, seconds=seconds), files)[0]

        return ColdSession(run, tree, judge, failing, self._shown.passing)

    def snippet(
        self, run: Run, tree: Tree, env: Environment, code: str, *, seconds: float = 20.0
    ) -> Observed:
        """What a few lines of Python print in a fresh copy of the tree."""
        return self._pytest.snippet(run, tree, env, code, seconds=seconds)

    def _observe(self, run: Run, env: Environment, ask: Ask) -> SuiteRun:
        """The baseline: the command, and what pytest shows of the tests that are red in it."""
        suite, places = self._cold(run, env, ask)
        red = [result.test for result in suite.red]
        if unmade := [r.message for r in suite.results if r.kind == NO_ENVIRONMENT]:
            raise ProvisionError(
                f"the test-command makes an environment of its own, and there is no network for it"
                f" here ({unmade[0]}): let it use what is there: with tox, install"
                f" tox-current-env; with nox, say nox --no-venv --no-install; or install nothing"
            )
        self._shown.passing = tuple(r.test for r in suite.results if r.passed)
        self._shown.seconds = suite.seconds
        shown = self._beside(run, env, ask, red)
        if red and not (places or shown):
            run.warn("sandbox", "no Python that the test-command starts could be observed")
        alone = [test for test in red if test not in self._shown.shared]
        recorded = shown.spectrum if shown else None
        kept = {*self._shown.shared, *self._shown.passing}
        return replace(suite, spectrum=line_recorder.join_spectra(recorded, places, alone, kept))

    def _beside(self, run: Run, env: Environment, ask: Ask, red: Sequence[str]) -> SuiteRun | None:
        """What pytest shows where it knows a red test by the same name, and finds it red too."""
        if not frozenset(red).intersection(self._shown.known or ()):
            return None
        shown = self._pytest.run(run, ask.tree, env, spectrum=True, seconds=ask.seconds)
        there = {result.test for result in shown.red}
        self._shown.shared = frozenset(there.intersection(red))
        return shown if self._shown.shared else None

    def _collect(self, run: Run, tree: Tree, env: Environment) -> None:
        """The ids that pytest knows; none where it is not there or cannot collect."""
        if self._shown.known is None:
            try:
                self._shown.known = self._pytest.collect(run, tree, env).tests
            except (BudgetError, ProvisionError, SandboxError):
                self._shown.known = ()

    def _asked(self, run: Run, env: Environment, ask: Ask) -> SuiteRun:
        """One run of the command, or of pytest for what only that can show of shared tests."""
        if ask.spectrum and ask.tests is None:
            kept, self._shown.observed = self._shown.observed, None
            same = kept is not None and kept[0] == ask.tree.root
            return kept[1] if kept is not None and same else self._observe(run, env, ask)
        shared = self._shown.shared.issuperset(ask.tests or ("",))
        if ask.oracle is not None:
            return self._pytest.run_many(run, env, [ask])[0] if shared else self._without_oracle()
        if ask.spectrum and shared:
            return self._pytest.run_many(run, env, [ask])[0]
        suite, places = self._cold(run, env, ask)
        if not ask.spectrum:
            return suite
        return replace(
            suite, spectrum=line_recorder.join_spectra(None, places, ask.tests or (), ())
        )

    def _without_oracle(self) -> SuiteRun:
        return SuiteRun((), (), SuiteEnd.CRASHED, 0.0, self._pytest.isolation(), _NO_ORACLE)

    def _cold(
        self, run: Run, env: Environment, ask: Ask, files: Sequence[PatchedFile] = ()
    ) -> tuple[SuiteRun, frozenset[line_recorder.Place]]:
        """One run in a slot of its own, `files` in the place of the tree's; several threads may."""
        seconds = max(1.0, min(ask.seconds or DEFAULT_SECONDS, run.left()))
        with contextlib.ExitStack() as stack:
            stack.enter_context(self._pytest.vigil.during(env))
            driver = stack.enter_context(scratch_dirs.driver_files(self._sandbox.scratch))
            slot = stack.enter_context(self._sandbox.slot())
            scratch_dirs.fill_slot(slot, ask.tree.root, run.left)
            seconds = max(1.0, min(seconds, run.left()))
            for file in files:
                scratch_dirs.replace_file(slot, file)
            job, since = self._job(env, ask, slot, driver, seconds), time.time()
            ended = self._sandbox.execute(job, slot)
            if ended.how == "sandbox_error":
                raise SandboxError(f"the test-command could not be run: {ended.detail}")
            done = Observed(ended.how, ended.code, ended.output.decode(errors="replace"))
            over = ended.how not in {"exited", "signalled"}
            cut = SuiteEnd.TIMEOUT if ended.how == "timeout" else SuiteEnd.KILLED
            known = () if over else self._told(
                run, ask.tree, slot.repo, since, self._shown.known or (), done
            )  # fmt: skip
            wanted = None if ask.tests is None else frozenset(ask.tests)
            results = tuple(r for r in known if wanted is None or r.test in wanted)
            places = (
                line_recorder.read_lines(slot, ask.tree.paths()) if ask.spectrum else frozenset()
            )
        return SuiteRun(
            results=results,
            collected=tuple(result.test for result in results),
            ended=cut if over else SuiteEnd.FINISHED,
            seconds=ended.seconds,
            isolation=self._pytest.isolation(),
            detail=_detail(ended) if over else "",
            peak_memory=ended.peak_memory,
        ), places

    def _job(self, env: Environment, ask: Ask, slot: Slot, driver: Path, seconds: float) -> Job:
        job = self._pytest.bench.job(
            slot, env, ("/bin/sh", "-c", self._command), Limits(wall=seconds, kept_bytes=_KEPT),
            passes={**_OFFLINE, **scratch_dirs.hash_seed(ask)}, read=(driver,),
        )  # fmt: skip
        environ = job.env
        if _TOX.search(self._command):
            environ = _linked(env, environ)
        if ask.spectrum:
            environ = line_recorder.add_recorder(driver, slot, environ)
        return replace(job, env=environ)


def _linked(env: Environment, environ: Mapping[str, str]) -> dict[str, str]:
    """The environment for tox, whose plugin starts Python by a link that knows no packages."""
    sites = (str(site) for site in Path(env.prefix).glob("lib/python3*/site-packages"))
    path = ":".join(filter(None, (environ.get("PYTHONPATH", ""), *sites)))
    return {**environ, "PYTHONPATH": path}


def _detail(ended: JobResult) -> str:
    return f"the test-command ended after {ended.seconds:.0f} s: {ended.detail or ended.how}"
