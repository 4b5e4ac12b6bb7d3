"""Each reported failure with what became of it, and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from heal_bot.core.model import NOT_MEASURED, Attempt, Cluster, Failure, Outcome, Verdict
from heal_bot.core.statuses import FailureStatus, VerdictStatus
from heal_bot.core.text import count, list_some


@dataclass(frozen=True, slots=True)
class Fate:
    """A failure at the end: its status, the reason when it is not fixed, where it was searched."""

    failure: Failure
    status: FailureStatus
    reason: str
    flake_rate: float | None
    best_attempt: int | None
    clusters: tuple[Cluster, ...]


def list_fates(outcome: Outcome) -> tuple[Fate, ...]:
    """One fate per reported failure, in the order of the baseline."""
    if outcome.baseline is None:
        return ()
    best = _best_attempts(outcome.attempts)
    found = []
    for item in outcome.baseline.reproduced:
        failure = item.failure
        clusters = tuple(c for c in outcome.clusters if failure in c.failures)
        status, reason = item.status, failure.reason
        if item.confirmed:
            status, reason = _end(outcome, failure, clusters)
        attempt = best.get(failure.test)
        found.append(Fate(failure, status, reason, item.flake_rate, attempt, clusters))
    return tuple(found)


def _end(
    outcome: Outcome, failure: Failure, clusters: Sequence[Cluster]
) -> tuple[FailureStatus, str]:
    """Where the search for a confirmed failure ended."""
    if outcome.patch is not None and failure.test in outcome.patch.fixed:
        return FailureStatus.FIXED, ""
    if failure.broken is not None:
        return FailureStatus.COLLECTION_ERROR, failure.broken.said
    ids = {name for cluster in clusters for name in (cluster.id, f"{cluster.id}+")}
    mine = [attempt for attempt in outcome.attempts if attempt.cluster in ids]
    suspects = {suspect.target for cluster in clusters for suspect in cluster.suspects}
    tried = sum(search.tried for search in outcome.searches if search.target in suspects)
    if not mine and not tried:
        return FailureStatus.NOT_ATTEMPTED, failure.reason or outcome.reason
    return FailureStatus.STILL_FAILING, failure.reason or _why(outcome, failure, mine, tried)


def _why(outcome: Outcome, failure: Failure, attempts: Sequence[Attempt], tried: int) -> str:
    """What the best attempt lacked, or that none was worth recording.

    A suggestion comes first, then what the cold run said, then why the search ended.
    """
    if asked := outcome.question:
        held = [
            one.attempt.number for one in asked.choices if failure.test in one.confirmed.patch.fixed
        ]
        if held:
            return f"attempts {held[0]} and {held[-1]} pass it, and a question decides between them"
    if (suggestion := outcome.suggestion) is not None and failure.test in suggestion.fixed:
        return f"passes with attempt {suggestion.attempt.number}, which is a suggestion"
    verdicts = [attempt.verdict for attempt in attempts]
    unconfirmed = [v for v in verdicts if v.status == VerdictStatus.UNCONFIRMED]
    unmeasured = [v for v in verdicts if v.fixed and not v.measured]
    if unmeasured:
        return f"{NOT_MEASURED}: {unmeasured[-1].detail}"
    if unconfirmed:
        return f"{_broken(unconfirmed[-1])} (cold run)"
    for attempt in attempts:
        if attempt.verdict.status == VerdictStatus.FIXED and (lacks := attempt.lacks):
            return f"attempt {attempt.number} passes it, and is not called the repair: {lacks[0]}"
    if outcome.stopped == "budget":
        limit = f"the {outcome.limit}" if outcome.limit else "a"
        return f"{limit} limit ended the search before a candidate was found"
    if outcome.stopped == "interrupted":
        return "the search was interrupted before a candidate was found"
    if broke := [v for v in verdicts if v.status == VerdictStatus.REGRESSION]:
        return _broken(broke[0])
    return f"no candidate: none of {tried} tried makes it pass without breaking another test"


def _broken(verdict: Verdict) -> str:
    """The first test an attempt breaks; what the verdict says where it breaks none."""
    if verdict.newly_failing:
        return f"an attempt that passes it breaks {verdict.newly_failing[0].test}"
    return verdict.detail or "a candidate passed the search and did not hold"


def _best_attempts(attempts: Sequence[Attempt]) -> dict[str, int]:
    """Per test the attempt that fixed it, else the one that fixed most while failing it."""
    best: dict[str, tuple[tuple[bool, int], int]] = {}
    for attempt in attempts:
        verdict = attempt.verdict
        tests = [(test, True) for test in verdict.fixed]
        tests += [(failure.test, False) for failure in verdict.still_failing]
        for test, fixed in tests:
            rank = (fixed, len(verdict.fixed))
            if test not in best or rank > best[test][0]:
                best[test] = (rank, attempt.number)
    return {test: number for test, (_, number) in best.items()}


if TYPE_CHECKING:
    from heal_bot.core.outcome import OutcomeRecord

# The statuses of tests that fail yet, for the code's sake.
FAILING = frozenset({"still_failing", "not_attempted", "collection_error"})
_NAMED = 5


def describe_uncollected(record: OutcomeRecord) -> list[str]:
    """Each source that keeps test files from being collected, with the first few of these."""
    files: dict[str, list[str]] = {}
    for failure in record.failures:
        if failure.status == "collection_error":
            files.setdefault(failure.reason, []).append(failure.test)
    found = []
    for reason, tests in files.items():
        named = list_some(tests, _NAMED)
        found.append(f"{count(len(tests), 'test file')} cannot be collected: {reason} ({named})")
    return found
