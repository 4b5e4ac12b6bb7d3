"""Statuses as people read them: how a run ended, what became of a test, what an attempt did.

All is plain text, to be escaped for where it goes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from heal_bot.core.model import NOT_MEASURED
from heal_bot.core.statuses import MENDING
from heal_bot.core.text import count
from heal_bot.report.failure_status import FAILING

if TYPE_CHECKING:
    from heal_bot.core.outcome import AttemptRecord, FailureRecord, OutcomeRecord

_OUTDATED, _EXPLAINED = "Test looks outdated", "Explained; nothing to change in the code"
_NOT_RUN, _NONE_FOUND = "Could not run your tests", "No fix found"
_RUNS = {
    "healed": "Fix proposed",
    "flaky": "Flaky: the tests fail only sometimes",
    # No run or commit shows it: the failing tests merely reach no code that a patch may change.
    "stale_test": "Unsure: code or test",
    "nothing_to_do": "Nothing to fix",
    "refused": "Not permitted",
    "superseded": "Superseded: the branch has moved on",
    "environment_error": _NOT_RUN,
    "sandbox_error": _NOT_RUN,
    "needs_answer": "Two changes pass: one answer decides",
}
_FAILURES = {
    "fixed": "fixed",
    "still_failing": "still failing",
    "order_dependent": "depends on the order of the tests",
    "environment": "could not run here",
    "stale_test": "looks outdated",
    "not_attempted": "not attempted",
    "explained": "explained; nothing to change in the code",
}
_VERDICTS = {
    "unchanged": "fixes none",
    "rejected": "refused",
    "timeout": "timed out",
    "error": "crashed",
    "unconfirmed": "did not hold in the final check",
    NOT_MEASURED: "could not be measured",
}
_MOODS = {"fixed": "good", "improved": "mixed", "unconfirmed": "mixed", NOT_MEASURED: "mixed"}


def describe_confidence(record: OutcomeRecord) -> tuple[str, str]:
    """How likely the patch is right, '' where unrated, and the ground where no doubt tells it."""
    if record.patch is None or (known := record.patch.confidence) is None:
        return "", ""
    told = record.certificate is not None and known.ground in record.certificate.doubts
    return known.level, "" if told else f"({known.ground})"


def describe_run(record: OutcomeRecord) -> str:
    """How a run ended, as a headline without its reason."""
    match record.status:
        case "partly_healed":
            fixed = sum(failure.status == "fixed" for failure in record.failures)
            left = sum(failure.status in FAILING for failure in record.failures)
            return f"Fixes {fixed} of {count(fixed + left, 'failing test')}"
        case "not_healed":
            return _describe_unhealed(record)
        case "explained" | "not_reproduced":
            return _describe_explained(record)
        case "budget_exhausted":
            limit = f"{record.limit} limit" if record.limit else "limits"
            return f"{_NONE_FOUND} within the {limit}"
        case status:
            return _RUNS[status]


def _describe_unhealed(record: OutcomeRecord) -> str:
    broken = next((f for f in record.failures if f.status == "collection_error"), None)
    if broken is not None:
        return f"Import or syntax error in {broken.source}:{broken.line}"
    if record.suggestion is not None:
        return "A change passes, but is not proposed as the fix"
    return "Stopped before a fix was found" if record.stopped == "interrupted" else _NONE_FOUND


def _describe_explained(record: OutcomeRecord) -> str:
    """What nothing is repaired for, by what all failures have in common."""
    statuses = {failure.status for failure in record.failures}
    places = dict.fromkeys(place for f in record.failures for place in f.failed_on)
    if statuses == {"stale_test"}:
        return _OUTDATED
    if all(failure.failed_on for failure in record.failures) and places:
        return _passes_here(tuple(places))
    return _passes_here(()) if statuses == {"not_reproduced"} else _EXPLAINED


def _passes_here(places: tuple[str, ...]) -> str:
    """Where a test failed that passes here, as far as the reports name the place."""
    return f"Passes here; failed in CI{' on ' if places else ''}{' and '.join(places)}"


def describe_failure(failure: FailureRecord) -> str:
    """What became of a failing test, in a few words."""
    match failure.status:
        case "collection_error":
            return f"import or syntax error in {failure.source}:{failure.line}"
        case "flaky" if failure.flake_rate:
            return f"flaky: fails in {100 * failure.flake_rate:.0f} % of its runs"
        case "flaky":
            return "flaky: fails only sometimes"
        case "explained" | "not_reproduced" if failure.failed_on:
            return _lowered(_passes_here(failure.failed_on))
        case "not_reproduced":
            return _lowered(_passes_here(()))
        case status:
            return _FAILURES[status]


def _lowered(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]


def describe_verdict(attempt: AttemptRecord) -> str:
    """What an attempt did to the tests of its cause, in a few words."""
    if attempt.word in MENDING:
        tests = len(attempt.fixed) + len(attempt.still_failing)
        return f"fixes {len(attempt.fixed)} of {tests}"
    if attempt.word == "regression":
        broken = len(attempt.newly_failing)
        return f"breaks {count(broken, 'passing test') if broken else 'a passing test'}"
    return _VERDICTS[attempt.word]


def rate_verdict(attempt: AttemptRecord) -> str:
    """How the result of an attempt is coloured: good, mixed or bad."""
    return _MOODS.get(attempt.word, "bad")
