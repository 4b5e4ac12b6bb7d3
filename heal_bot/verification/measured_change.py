"""Whether the cold runs measured a change, and what kept them from it where they did not."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from heal_bot.core.events import Run
from heal_bot.core.model import Baseline, Cause, Edit, SuiteRun, Verdict, stable_test_ids
from heal_bot.core.statuses import VerdictStatus
from heal_bot.core.text import name_first
from heal_bot.verification import warm_trial
from heal_bot.verification.regression_or_flaky import BrokenTests

TAMPERED = Verdict(
    VerdictStatus.UNCONFIRMED,
    detail="files of the environment changed while tests ran",
    cause=Cause.ENVIRONMENT,
)


def explain_unusable(
    run: Run, suites: Sequence[SuiteRun], again: Sequence[SuiteRun], baseline: Baseline
) -> Verdict | None:
    """The verdict where the runs of the suite, or those under more hash seeds, prove nothing."""
    ended_before = baseline.suite.finished or not baseline.whole
    for suite in suites:
        if not suite.finished and ended_before:
            return ended_early(run, "the cold run", suite)
    if (other := _other_tests(suites, baseline)) is not None:
        return other
    early = next((suite for suite in again if not suite.finished), None)
    return ended_early(run, "the failing tests under another hash seed", early) if early else None


def ended_early(run: Run, what: str, suite: SuiteRun) -> Verdict:
    """The verdict where a run did not come to its end: there was no time, or the change ends it."""
    cause = Cause.BUDGET if run.over() else Cause.CHANGE
    detail = f"{what} ended early: {suite.detail or suite.ended}"
    return Verdict(VerdictStatus.UNCONFIRMED, detail=detail, cause=cause)


def _other_tests(suites: Sequence[SuiteRun], baseline: Baseline) -> Verdict | None:
    """The verdict where the runs collect other tests than each other, or than the baseline."""
    collected = [set(suite.collected) for suite in suites]
    if moving := {test for tests in collected for test in tests ^ collected[0]}:
        detail = (
            f"the suite collects other tests in each run, among them {min(moving)}:"
            " give its parameters fixed values and order"
        )
        return Verdict(VerdictStatus.UNCONFIRMED, detail=detail, cause=Cause.IDS)
    expected = set(baseline.suite.collected)
    if lost := expected - collected[0]:
        detail = f"no longer collected: {name_first(len(lost), min(lost), 'test')}"
        return Verdict(VerdictStatus.UNCONFIRMED, detail=detail, cause=_renamed(lost, collected[0]))
    broken = {path for path, _ in baseline.suite.errors}
    broken |= {failure.test for failure in baseline.confirmed if failure.broken is not None}
    new = {test for test in collected[0] - expected if test.partition("::")[0] not in broken}
    if new and baseline.suite.finished and baseline.whole:
        detail = f"collected, and not at the base: {name_first(len(new), min(new), 'test')}"
        return Verdict(VerdictStatus.UNCONFIRMED, detail=detail, cause=_renamed(new, expected))
    return None


def _renamed(tests: Collection[str], others: Collection[str]) -> Cause:
    """The ids, where each of the tests is there by the name of its function; else the change."""
    named = set(map(stable_test_ids.function, others))
    same = all(stable_test_ids.function(test) in named for test in tests)
    return Cause.IDS if same else Cause.CHANGE


def find_missing(suite: SuiteRun, baseline: Baseline) -> Cause:
    """The ids, where no failing test ran under the name that it had; else the change."""
    ran = {result.test for result in suite.results} | {path for path, _ in suite.errors}
    ran |= {test.partition("::")[0] for test in ran if "::" in test}
    asked = {failure.test for failure in baseline.confirmed}
    return Cause.IDS if asked.isdisjoint(ran) else Cause.CHANGE


def find_breaker(broken: BrokenTests, edits: Sequence[Edit], baseline: Baseline) -> Cause:
    """The change, unless the tests fail at times only and execute nothing of what it changes."""
    spectrum = baseline.suite.spectrum
    if spectrum is None:
        return Cause.CHANGE
    far = spectrum.hits.keys() - warm_trial.find_covering(
        baseline.suite, [edit.target for edit in edits]
    )
    others = {result.test for result in broken.results} <= broken.at_times & far
    return Cause.FLAKY if others else Cause.CHANGE
