"""The baseline: what is red here, before any patch, and how firmly."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from heal_bot.core.events import Run
from heal_bot.core.model import (
    COMMAND,
    Baseline,
    CaseResult,
    Environment,
    Failure,
    Reproduced,
    SuiteRun,
    stable_test_ids,
)
from heal_bot.core.statuses import FailureStatus, RunResult, SuiteEnd
from heal_bot.core.text import list_some, name_first
from heal_bot.ports import Ask, RunContext, Tree
from heal_bot.verification import (
    collection_failures,
    environment_differences,
    non_code_causes,
    run_kinds,
    stored_expectations,
    unfinished_code,
)
from heal_bot.verification.flaky_reruns import NOTHING, ParallelRuns, rerun_tests, run_alone
from heal_bot.verification.matrix_results import mark_legs
from heal_bot.verification.run_kinds import Trial

# A suite whose length nothing predicts may take this share of the time left.
_SHARE = 0.45
# How many functions a remark on ids names.
_NAMED = 5
# Of so many failing tests what they execute by themselves counts too.
_JOINED = 200


@dataclass(frozen=True, slots=True)
class BaselineRuns:
    """The suite as it ran once, and the failing tests as they ran again beside it."""

    suite: SuiteRun
    beside: ParallelRuns = NOTHING


def observe_suite(
    context: RunContext,
    tests: tuple[str, ...] | None = None,
    failing: tuple[str, ...] = (),
    limit: float = math.inf,
) -> BaselineRuns:
    """The suite, or the tests chosen of it, once and cold, with its spectrum, for `limit` seconds.

    Beside it, on the core that waits, the tests that are known to fail run by themselves.
    """
    run, tree = context.run, context.tree
    seconds = min(limit, max(60.0, _SHARE * run.left()))
    asks = [Ask(tree, tests, spectrum=True, seconds=seconds, warm=True)]
    asks += run_alone(tree, failing, seconds) if failing else []
    suite, *beside = context.run_many(asks)
    run.tell_suite("verify", "baseline", suite)
    return BaselineRuns(suite, ParallelRuns(failing, tuple(beside)))


def reproduce(
    context: RunContext,
    failures: Sequence[Failure] | None,
    seen: BaselineRuns | None = None,
    selected: tuple[str, ...] | None = None,
    first: Sequence[Failure] = (),
) -> Baseline:
    """The suite (as observed, or run now), then the failing tests until their verdict is stable.

    `failures` None means that there was no report: every red test of the suite is a failure, and
    every file that cannot be collected. `selected` are the tests that run where not all fit,
    `first` those that run beside the suite though no report to be believed names them.
    A failure is `confirmed` when it is red in every run; its message and frames are then those
    seen here, which a report may lack. One that stands for a class, a file or all parameter sets
    is the red tests beneath it.
    """
    run, tree, env = context.run, context.tree, context.env
    failing = tuple(f.test for f in (*(failures or ()), *first) if "::" in f.test)
    seen = seen or observe_suite(context, selected, failing)
    suite = _reached(seen)
    results = {result.test: result for result in suite.results}
    uncollected = collection_failures.find_uncollected(suite, tree)
    if failures is None:
        failures = (*uncollected.values(), *map(CaseResult.as_failure, suite.red))
    here = (replace(f, test=stable_test_ids.here(f.test, suite.collected)) for f in failures)
    failures = tuple(one for f in here for one in _beneath(f, suite))
    known = [f.test for f in failures if f.test in results]
    trials = rerun_tests(context, suite, known, selected, seen.beside)
    reproduced = tuple(
        mark_legs(
            f,
            _uncollected(f, file, suite, tree, env)
            if (file := uncollected.get(f.test.partition("::")[0])) and f.test not in results
            else _classified(f, results.get(f.test), trials.by_test.get(f.test), suite, tree, env),
            env,
        )
        for f in failures
    )
    reproduced = unfinished_code.mark_unfinished(reproduced, suite, tree)
    stored = stored_expectations.find_stored(reproduced, suite, tree)
    _tell_unreported(run, reproduced, suite)
    unsteady = tuple(sorted({*suite.unsteady, *trials.unsteady}))
    for remark in remark_on_ids(unsteady):
        run.warn("verify", remark)
    if suite.spectrum is not None and trials.spectrum is not None:
        # A memo that an earlier test filled keeps a test of the suite out of a function.
        joined = suite.spectrum.joined(trials.spectrum, known[:_JOINED])
        suite = replace(suite, spectrum=joined)
    return Baseline(reproduced, suite, 1 + trials.runs, selected, unsteady, stored=stored)


def remark_on_ids(functions: Sequence[str]) -> tuple[str, ...]:
    """The remark on functions whose ids change from run to run; none where there are none."""
    if not functions:
        return ()
    named = list_some(functions, _NAMED)
    return (f"test ids that change from run to run, compared by function and position: {named}",)


def _reached(seen: BaselineRuns) -> SuiteRun:
    """The suite; where its time was over, with what the tests beside it showed."""
    suite, alone = seen.suite, next(iter(seen.beside.runs), None)
    if suite.ended != SuiteEnd.TIMEOUT or alone is None:
        return suite
    come = {result.test for result in suite.results}
    more = tuple(result for result in alone.results if result.test not in come)
    spectrum = suite.spectrum or alone.spectrum
    if suite.spectrum is not None and alone.spectrum is not None:
        spectrum = suite.spectrum.joined(alone.spectrum, [result.test for result in more])
    collected = tuple(dict.fromkeys((*suite.collected, *alone.collected)))
    results = (*suite.results, *more)
    return replace(suite, results=results, collected=collected, spectrum=spectrum)


def _beneath(failure: Failure, suite: SuiteRun) -> tuple[Failure, ...]:
    """The red tests that a failure stands for; itself where it names one, or there are none."""
    starts = _starts(failure)
    red = [r.test for r in suite.red if r.test.startswith(starts)]
    if not red or any(result.test == failure.test for result in suite.results):
        return (failure,)
    return tuple(replace(failure, test=test) for test in red)


def _starts(failure: Failure) -> tuple[str, str]:
    """How the tests of a class or file begin, or the parameter sets of a test."""
    return f"{failure.test}::", f"{failure.test}["


def _classified(
    failure: Failure,
    seen: CaseResult | None,
    trial: Trial | None,
    suite: SuiteRun,
    tree: Tree,
    env: Environment,
) -> Reproduced:
    """What the runs say of a reported failure."""
    if seen is None or trial is None:
        return _absent(failure, suite, tree, env)
    if trial.lost:
        here = "pytest collects no test of this id when it is asked for"
        reason = f"{here}: give its parameters fixed values and a fixed order"
        return Reproduced(replace(failure, reason=reason), FailureStatus.NOT_REPRODUCED)
    if all(trial.all):
        return _firm(failure, seen, tree, env)
    if not any(trial.all):
        if reason := non_code_causes.explain_elsewhere(failure, tree, env):
            return _explained_elsewhere(failure, reason)
        verb = "passes" if seen.passed else f"is {seen.outcome}"
        here = f"it {verb} here, in the whole suite and by itself"
        parts = (
            non_code_causes.explain_strictness(failure),
            failure.reason,
            here,
            environment_differences.explain_differences(failure.test, suite, tree, env),
        )
        reason = "; ".join(filter(None, parts))
        return Reproduced(replace(failure, reason=reason), FailureStatus.NOT_REPRODUCED)
    if reason := run_kinds.explain_by_order(trial):
        return Reproduced(replace(failure, reason=reason), FailureStatus.ORDER_DEPENDENT)
    if reason := run_kinds.explain_by_observation(trial):
        # The runs without it are those that count.
        status = FailureStatus.NOT_REPRODUCED if trial.suite else FailureStatus.CONFIRMED
        return Reproduced(replace(failure, reason=reason), status)
    if reason := run_kinds.explain_by_load(trial):
        return Reproduced(replace(failure, reason=reason), FailureStatus.NOT_REPRODUCED)
    reason = run_kinds.explain_by_chance(trial)
    return Reproduced(replace(failure, reason=reason), FailureStatus.FLAKY, trial.rate)


def _firm(failure: Failure, seen: CaseResult, tree: Tree, env: Environment) -> Reproduced:
    """A test that is red whenever it runs."""
    found = seen.as_failure(failure.reason)
    if reason := non_code_causes.explain_environment(seen, failure, tree, env):
        known = non_code_causes.is_known(seen, failure, tree, env)
        status = FailureStatus.EXPLAINED if known else FailureStatus.ENVIRONMENT
        return Reproduced(replace(found, reason=reason), status)
    if not non_code_causes.is_alike(failure, seen) and (
        reason := non_code_causes.explain_elsewhere(failure, tree, env)
    ):
        said = f"{seen.kind}: {seen.message.strip()}".partition("\n")[0]
        reason = f"{reason}; here it fails otherwise ({said})"
        return Reproduced(replace(failure, reason=reason), FailureStatus.EXPLAINED)
    if reason := non_code_causes.explain_stale(seen):
        return Reproduced(replace(found, reason=reason), FailureStatus.STALE_TEST)
    if reason := unfinished_code.explain_unfinished(seen, tree):
        return Reproduced(replace(found, reason=reason), FailureStatus.EXPLAINED)
    return Reproduced(found, FailureStatus.CONFIRMED)


def _explained_elsewhere(failure: Failure, reason: str) -> Reproduced:
    """A test that fails for what the failing run lacked."""
    return Reproduced(replace(failure, reason=f"{reason}; it passes here"), FailureStatus.EXPLAINED)


def _absent(failure: Failure, suite: SuiteRun, tree: Tree, env: Environment) -> Reproduced:
    """A reported test that did not run here: the suite did not come to it, or it is gone."""
    if not suite.finished:
        reason = f"the suite ended before it came to this test ({suite.reached})"
        if suite.ended != SuiteEnd.TIMEOUT:
            return Reproduced(replace(failure, reason=reason), FailureStatus.ENVIRONMENT)
        reason = f"{reason}: raise --max-minutes, or name the test with --only"
        return Reproduced(replace(failure, reason=reason), FailureStatus.NOT_ATTEMPTED)
    if suite.collected == (COMMAND,):
        reason = "the test command names no test: have it write JUnit XML (--junitxml=junit.xml)"
        return Reproduced(replace(failure, reason=reason), FailureStatus.ENVIRONMENT)
    here = any(test.startswith(_starts(failure)) for test in suite.collected)
    if here and (reason := non_code_causes.explain_elsewhere(failure, tree, env)):
        return _explained_elsewhere(failure, reason)
    passing = non_code_causes.explain_strictness(failure) or "none of its tests is red here"
    reason = passing if here else "no such test is collected at this commit"
    return Reproduced(replace(failure, reason=reason), FailureStatus.NOT_REPRODUCED)


def _uncollected(
    failure: Failure, file: Failure, suite: SuiteRun, tree: Tree, env: Environment
) -> Reproduced:
    """A test whose file cannot be collected, by what is to blame: the machine, a test, the source.

    What the report said of it, the same in other words, is left out.
    """
    found = replace(file, test=failure.test, legs=failure.legs)
    result = replace(non_code_causes.make_failure(found), outcome=RunResult.ERROR)
    if reason := non_code_causes.explain_environment(result, failure, tree, env):
        known = non_code_causes.is_known(result, failure, tree, env)
        status = FailureStatus.EXPLAINED if known else FailureStatus.ENVIRONMENT
        return Reproduced(replace(found, reason=reason, broken=None), status)
    if found.broken is not None and collection_failures.is_of_tests(found.broken, suite, tree):
        reason = f"the tests' own code cannot be imported: {found.broken.said}"
        return Reproduced(replace(found, reason=reason, broken=None), FailureStatus.STALE_TEST)
    return Reproduced(found, FailureStatus.CONFIRMED)


def _tell_unreported(run: Run, reproduced: Sequence[Reproduced], suite: SuiteRun) -> None:
    """Say which tests are red here although the report does not name them."""
    named = {item.failure.test for item in reproduced}
    red = [r.test for r in suite.red if r.test not in named]
    if red:
        others = name_first(len(red), red[0], "test")
        message = f"red here and not among the failures to heal: {others}"
        run.warn("verify", message)
