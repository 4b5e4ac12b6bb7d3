"""What was wrong: the attempts that the patch is made of, each with the tests it was to fix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from heal_bot.core.text import printable

if TYPE_CHECKING:
    from heal_bot.core.outcome import AttemptRecord, OutcomeRecord


@dataclass(frozen=True, slots=True)
class RepairedCause:
    """An attempt of the patch, the tests it was first to fix, and what the first of them said."""

    attempt: AttemptRecord
    tests: tuple[str, ...]
    said: str

    @property
    def function(self) -> str:
        """The guilty function, as `path::qualname`."""
        return self.attempt.functions[0]


def list_causes(record: OutcomeRecord) -> tuple[RepairedCause, ...]:
    """One for each change that the patch holds."""
    if record.patch is None:
        return ()
    failures = {failure.test: failure for failure in record.failures}
    found: list[RepairedCause] = []
    told: set[str] = set()
    for attempt in record.attempts:
        tests = tuple(t for t in attempt.fixed if t in record.patch.fixed and t not in told)
        if tests and _is_part(attempt, printable(record.patch.diff)):
            told.update(tests)
            first = failures.get(tests[0])
            said = f"{first.kind}: {first.message.strip()}".strip(": ") if first else ""
            found.append(RepairedCause(attempt, tests, said.partition("\n")[0]))
    return tuple(found)


def _is_part(attempt: AttemptRecord, diff: str) -> bool:
    """Whether an attempt that worked is in the patch: all its changed lines are."""
    if attempt.verdict not in {"fixed", "improved"} or not attempt.functions:
        return False
    changed = {line for line in attempt.diff.splitlines() if line[:1] in {"+", "-"}}
    return changed <= set(diff.splitlines())


def describe_attempt(attempt: AttemptRecord) -> str:
    """What an attempt changed and what came of it, as far as either is told."""
    return "; ".join(text for text in (attempt.reason, attempt.detail) if text)
