"""What was wrong: the attempts that the patch is made of, each with the tests it was to fix."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from heal_bot.core.statuses import MENDING, VerdictStatus
from heal_bot.core.text import printable
from heal_bot.report.failed_assertion import describe_message
from heal_bot.report.status_sentences import describe_verdict

if TYPE_CHECKING:
    from heal_bot.core.outcome import (
        AttemptRecord,
        FailureRecord,
        OutcomeRecord,
        SuspectRecord,
    )


@dataclass(frozen=True, slots=True)
class RepairedCause:
    """An attempt of the patch, the tests it was first to fix, and what the tersest of them said."""

    attempt: AttemptRecord
    tests: tuple[str, ...]
    said: str

    @property
    def function(self) -> str:
        """The guilty function, as `path::qualname`."""
        return self.attempt.functions[0]


def list_causes(record: OutcomeRecord) -> tuple[RepairedCause, ...]:
    """One for each change that the patch holds; what no attempt was made for goes to the first."""
    if record.patch is None:
        return ()
    failures = {failure.test: failure for failure in record.failures}
    found: list[RepairedCause] = []
    told: set[str] = set()
    for attempt in record.attempts:
        tests = tuple(t for t in attempt.fixed if t in record.patch.fixed and t not in told)
        if tests and _is_part(attempt, printable(record.patch.diff)):
            told.update(tests)
            mine = [failures[test] for test in tests if test in failures]
            said = min((describe_message(f.kind, f.message) for f in mine), key=len, default="")
            found.append(RepairedCause(attempt, tests, said))
    if found:
        others = tuple(test for test in record.patch.fixed if test not in told)
        found[0] = replace(found[0], tests=(*found[0].tests, *others))
    return tuple(found)


def _is_part(attempt: AttemptRecord, diff: str) -> bool:
    """Whether an attempt that worked is in the patch: all its changed lines are."""
    if attempt.verdict not in MENDING or not attempt.functions:
        return False
    changed = {line for line in attempt.diff.splitlines() if line[:1] in {"+", "-"}}
    return changed <= set(diff.splitlines())


def find_suspect(record: OutcomeRecord, failure: FailureRecord) -> SuspectRecord | None:
    """The likeliest place of a fault: where a change held for a test of its cause, one of that."""
    alike = {failure.test}.union(*(c.tests for c in record.clusters if c.id in failure.cluster_ids))
    held = (record.patch, record.suggestion, *(choice.patch for choice in record.choices))
    changes = [change for change in held if change and not alike.isdisjoint(change.fixed)]
    places = {(place.path, place.qualname) for change in changes for place in change.functions}
    found = (s for s in failure.suspects if not changes or (s.path, s.qualname) in places)
    return next(found, None)


def _rank(attempt: AttemptRecord) -> tuple[int, int, int]:
    """The least where an attempt fixes most, breaks least and changes least."""
    return -len(attempt.fixed), len(attempt.newly_failing), len(attempt.diff)


def find_closest(record: OutcomeRecord, failure: FailureRecord) -> AttemptRecord | None:
    """The attempt that came closest to fixing a test that is not fixed; None where none did."""
    if failure.status == "fixed":
        return None
    judged = [a for a in record.attempts if a.fixed and a.diff and _judged(a, failure.test)]
    shown = record.suggestion.attempt if record.suggestion else None
    return min(
        judged,
        key=lambda a: (failure.test not in a.fixed, a.number != shown, *_rank(a)),
        default=None,
    )


def _judged(attempt: AttemptRecord, test: str) -> bool:
    return test in attempt.fixed or test in attempt.still_failing


def closest_attempt(record: OutcomeRecord) -> AttemptRecord | None:
    """Without a patch: what was suggested, else the attempt that fixed most and broke least."""
    if record.patch is not None:
        return None
    if record.suggestion is not None:
        number = record.suggestion.attempt
        return next((a for a in record.attempts if a.number == number), None)
    fixing = [attempt for attempt in record.attempts if attempt.fixed and attempt.diff]
    return min(fixing, key=_rank, default=None)


def list_alternatives(record: OutcomeRecord) -> tuple[AttemptRecord, ...]:
    """Edits that pass too, in the search, where the suggestion takes a commit back."""
    found = record.suggestion
    if found is None or found.proposer != "history":
        return ()
    return tuple(
        one
        for one in record.attempts
        if one.word == VerdictStatus.FIXED
        and one.proposer != "history"
        and set(found.fixed) <= set(one.fixed)
    )


def describe_closest(attempt: AttemptRecord) -> str:
    """What an attempt changes and fixes, and why it was not taken."""
    tests = len(attempt.fixed) + len(attempt.still_failing)
    told = f"attempt {attempt.number} ({attempt.reason}) fixes {len(attempt.fixed)} of {tests}"
    if attempt.word in MENDING:
        return told
    detail = f" ({attempt.detail})" if attempt.word != "regression" and attempt.detail else ""
    return f"{told}, but {describe_verdict(attempt)}{detail}"


def describe_attempt(attempt: AttemptRecord) -> str:
    """What an attempt changed and what came of it, as far as either is told."""
    return "; ".join(text for text in (attempt.reason, attempt.detail) if text)
