"""What a run concludes: its status, why it ended, the reason, and what it cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from heal_bot.core.errors import BudgetError, HealBotError, ProvisionError, SandboxError
from heal_bot.core.events import Run
from heal_bot.core.model import (
    Attempt,
    Baseline,
    Broken,
    Cluster,
    Confidence,
    Cost,
    HealRequest,
    History,
    Outcome,
    Report,
    SuiteRun,
)
from heal_bot.core.statuses import FailureStatus, OutcomeStatus, SuiteEnd, VerdictStatus
from heal_bot.core.text import count
from heal_bot.history import package_bisection
from heal_bot.ports import Proposer
from heal_bot.repair.search import attempt_history
from heal_bot.repair.search.attempt_log import AttemptLog

# A command stands for tests that are not told apart: none of them can be called out of date.
_IDLE = "the test-command was seen to execute nothing that a patch may change: look at its output"
_MORE = "raise --max-minutes, or give a whole report with --junit"
_STALE = "executes and names nothing that a patch may change: the test looks out of date"
# How a run ends whose failures are none to repair: the first of these counts.
_RANKED = {
    FailureStatus.NOT_ATTEMPTED: OutcomeStatus.BUDGET_EXHAUSTED,
    FailureStatus.ENVIRONMENT: OutcomeStatus.ENVIRONMENT_ERROR,
    FailureStatus.EXPLAINED: OutcomeStatus.EXPLAINED,
    FailureStatus.STALE_TEST: OutcomeStatus.EXPLAINED,
    FailureStatus.FLAKY: OutcomeStatus.FLAKY,
    FailureStatus.ORDER_DEPENDENT: OutcomeStatus.FLAKY,
    FailureStatus.NOT_REPRODUCED: OutcomeStatus.NOT_REPRODUCED,
}


@dataclass(frozen=True, slots=True)
class RunFindings:
    """What was asked, what report, baseline and history said, and the causes behind it."""

    request: HealRequest
    report: Report
    baseline: Baseline
    clusters: tuple[Cluster, ...]
    history: History = field(default_factory=History)


@contextmanager
def add_report_message(report: Report) -> Iterator[None]:
    """Where no environment can be made, say what the report tells of its first failure."""
    try:
        yield
    except ProvisionError as error:
        red = next((case for case in report.cases if case.red and case.message), None)
        if red is None:
            raise
        # A whole line: what is cut before secrets are hidden may leave a part of one.
        message = red.message.strip().partition("\n")[0]
        python = f" on Python {report.hints.python}" if report.hints.python else ""
        said = f"the report says{python} of {red.classname}::{red.name}: {message}"
        raise ProvisionError(f"{error}; {said}") from error


def conclude_unrun(
    request: HealRequest, error: HealBotError, report: Report | None = None
) -> Outcome:
    """The outcome where nothing could be run: whose doing that is, and why."""
    status, stopped = OutcomeStatus.ENVIRONMENT_ERROR, "done"
    if isinstance(error, BudgetError):
        status, stopped = OutcomeStatus.BUDGET_EXHAUSTED, "budget"
    elif isinstance(error, SandboxError):
        status = OutcomeStatus.SANDBOX_ERROR
    return Outcome(request, status, stopped, str(error), report or Report(()))


def conclude_unconfirmed(
    request: HealRequest,
    report: Report,
    baseline: Baseline,
    remark: str = "",
    history: History | None = None,
) -> Outcome:
    """The outcome when no failure is worth a repair: which kind, and why, with the remark."""
    statuses = [item.status for item in baseline.reproduced]
    if not statuses:
        status, stopped, reason = _nothing(baseline.suite)
        reason = f"{reason}; {remark}" if remark else reason
        return Outcome(request, status, stopped, reason, report, baseline)
    found = next(status for status in _RANKED if status in statuses)
    first = next(item for item in baseline.reproduced if item.status == found)
    late = found == FailureStatus.NOT_ATTEMPTED
    reason = f"{first.failure.test}: {first.failure.reason or found}"
    if baseline.suite.ended == SuiteEnd.TIMEOUT and not late:
        reason = f"{reason}; the suite did not finish: {baseline.suite.reached}"
    reason = f"{reason}; {remark}" if remark else reason
    stopped, status = "budget" if late else "done", _RANKED[found]
    if found == FailureStatus.NOT_REPRODUCED and (alone := _alone(report, baseline)):
        status, reason = OutcomeStatus.EXPLAINED, f"{reason}; {alone}"
    dated = history or History()
    return Outcome(request, status, stopped, reason, report, baseline, history=dated)


def _alone(report: Report, baseline: Baseline) -> str:
    """Where alone it is red, by the reports of what is green here; '' where nobody knows."""
    if report.hints.system:
        return f"its tracebacks are of {report.hints.system}: run `heal-bot heal` in that job"
    legs = {leg.name for item in baseline.reproduced for leg in item.failure.legs}
    if not legs or len(legs) >= len(report.legs):
        return ""
    return (
        f"it is red on {', '.join(sorted(legs)[:3])} alone, of {len(report.legs)} legs: run"
        " `heal-bot heal` in that job, or give its python-version, setup or freeze"
    )


def _nothing(suite: SuiteRun) -> tuple[OutcomeStatus, str, str]:
    """Status, why the run stopped, and the reason where the suite names no failure."""
    if suite.ended == SuiteEnd.TIMEOUT:
        reason = f"no test is red so far, and the suite did not finish: {suite.reached}"
        return OutcomeStatus.BUDGET_EXHAUSTED, "budget", f"{reason}; {_MORE}"
    if not suite.finished:
        reason = f"the suite names no failure and did not finish: {suite.detail}"
        broken = OutcomeStatus.ENVIRONMENT_ERROR
        return broken, "done", f"{reason}; make `python -m pytest` run to its end"
    if not suite.collected:
        return OutcomeStatus.NOTHING_TO_DO, "done", "pytest collects no test in the repository"
    return OutcomeStatus.NOTHING_TO_DO, "done", "every test passes here"


def conclude(
    run: Run, started: float, found: RunFindings, proposers: Sequence[Proposer], ledger: AttemptLog
) -> Outcome:
    """The outcome as the ledger stands now."""
    if run.left() <= 0:
        ledger.end("budget", "time")
    baseline = _outdated(found, ledger)
    if ledger.confirmed is None:
        baseline = package_bisection.mark_explained(baseline, found.history.packages, searched=True)
    found = replace(found, baseline=baseline)
    status, stopped, reason = _ended(found, ledger)
    attempts = tuple(ledger.attempts)
    return Outcome(
        request=found.request,
        status=status,
        stopped=stopped,
        reason=reason,
        report=found.report,
        baseline=found.baseline,
        clusters=found.clusters,
        searches=ledger.searches,
        attempts=attempts,
        patch=ledger.confirmed.patch if ledger.confirmed else None,
        certificate=ledger.confirmed.certificate if ledger.confirmed else None,
        memory=attempt_history.extend_memory(ledger.memory, attempts),
        cost=_spent(proposers),
        seconds=run.clock() - started,
        notes=tuple(dict.fromkeys((*ledger.notes, *_remarks(proposers)))),
        suggestion=ledger.suggestion,
        question=ledger.question,
        history=found.history,
        confidence=_least_sure(ledger.held),
        limit=ledger.limit,
    )


def _least_sure(winners: Sequence[Attempt]) -> Confidence | None:
    """The confidence in a patch of several winners: that of the least sure one."""
    known = [winner.confidence for winner in winners if winner.confidence is not None]
    return min(known, key=lambda one: one.rank) if len(known) == len(winners) and known else None


def _outdated(found: RunFindings, ledger: AttemptLog) -> Baseline:
    """The baseline, with the tests that were shown to be out of date called so."""
    reasons = {
        failure.test: ledger.outdated[cluster.id]
        for cluster in found.clusters
        if cluster.id in ledger.outdated
        for failure in cluster.failures
    }
    return found.baseline.marked(FailureStatus.STALE_TEST, reasons)


def _ended(found: RunFindings, ledger: AttemptLog) -> tuple[OutcomeStatus, str, str]:
    """Status, why the run stopped, and the reason."""
    if ledger.confirmed is not None:
        patch, undoes = ledger.confirmed.patch, ledger.confirmed.certificate.undoes
        reason = _repaired(len(patch.fixed), len(found.baseline.confirmed))
        # Of several changes the doubts tell which commit each takes back.
        if undoes and len(ledger.held) <= 1:
            reason = f"takes back the code of {undoes[:7]}: {reason}"
        if patch.still_failing:
            return OutcomeStatus.PARTLY_HEALED, ledger.stopped, reason
        return OutcomeStatus.HEALED, "done", reason
    if ledger.question is not None:
        reason = f"two changes pass; which is right depends on what {ledger.question.call} gives"
        return OutcomeStatus.NEEDS_ANSWER, "done", reason
    if found.clusters and all(cluster.id in ledger.unsure for cluster in found.clusters):
        return OutcomeStatus.STALE_TEST, "done", ledger.unsure[found.clusters[0].id]
    if ledger.suggestion is not None:
        return OutcomeStatus.NOT_HEALED, ledger.stopped, _unhealed(ledger)
    if found.clusters and all(cluster.id in ledger.outdated for cluster in found.clusters):
        first = found.clusters[0]
        test, reason = first.failures[0].test, ledger.outdated[first.id]
        return OutcomeStatus.EXPLAINED, "done", f"{test}: {reason}"
    if found.history.packages and not found.baseline.confirmed:
        reason = package_bisection.describe_change(found.history.packages[0])
        return OutcomeStatus.EXPLAINED, ledger.stopped, reason
    spent = ledger.stopped == "budget"
    unhealed = OutcomeStatus.BUDGET_EXHAUSTED if spent else OutcomeStatus.NOT_HEALED
    if broken := [f.broken for f in found.baseline.confirmed if f.broken is not None]:
        return unhealed, ledger.stopped, _uncollected(broken)
    if found.clusters and all(cluster.stale for cluster in found.clusters):
        if found.request.other_command:
            return OutcomeStatus.NOT_HEALED, "done", _IDLE
        test = found.clusters[0].failures[0].test
        return OutcomeStatus.STALE_TEST, "done", f"{test} {_STALE}"
    return unhealed, ledger.stopped, _unhealed(ledger)


def _uncollected(broken: Sequence[Broken]) -> str:
    """Which source keeps how many test files from being collected."""
    (first, files), *others = Counter(broken).most_common()
    more = f"; so does {others[0][0].said}" if others else ""
    return f"{count(files, 'test file')} cannot be collected: {first.said}{more}"


def _repaired(fixed: int, failing: int) -> str:
    tests = "test" if failing == 1 else "tests"
    return f"{fixed} of {failing} failing {tests} {'is' if fixed == 1 else 'are'} fixed"


def _unhealed(ledger: AttemptLog) -> str:
    """Why there is no patch: what a suggestion lacks, or what there was against the last one."""
    if ledger.suggestion is not None:
        return f"a change passes and is not called the repair: {ledger.suggestion.why[0]}"
    cold = (a for a in ledger.attempts if a.verdict.status == VerdictStatus.UNCONFIRMED)
    if refused := [attempt for attempt in cold if attempt.verdict.detail]:
        last = refused[-1]
        if not last.verdict.measured:
            return (
                f"attempt {last.number} may be right, but was not measured: {last.verdict.detail}"
            )
        # Whole: what is cut before secrets are hidden may leave a part of one.
        return f"attempt {last.number} was not confirmed: {' '.join(last.verdict.detail.split())}"
    return "no change made a failing test pass in a cold run without breaking another"


def _spent(proposers: Sequence[Proposer]) -> Cost:
    """The sum of all tiers; dollars are unknown as soon as one price is."""
    costs = [proposer.spent() for proposer in proposers]
    prices = [cost.usd for cost in costs]
    known = [price for price in prices if price is not None]
    return Cost(
        usd=sum(known) if len(known) == len(prices) else None,
        input_tokens=sum(cost.input_tokens for cost in costs),
        output_tokens=sum(cost.output_tokens for cost in costs),
        cached_tokens=sum(cost.cached_tokens for cost in costs),
    )


def _remarks(proposers: Sequence[Proposer]) -> tuple[str, ...]:
    """What the tiers want said, and that no model was asked."""
    said = tuple(note for proposer in proposers for note in proposer.notes)
    if any(proposer.name != "rules" for proposer in proposers):
        return said
    return (*said, "no model key was given: only the offline rules searched")
