"""Source for which no test of a file can run: told once, whatever the number of files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from heal_bot.core.text import count

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
        more = f" and {len(tests) - _NAMED} more" if len(tests) > _NAMED else ""
        named = f"{', '.join(tests[:_NAMED])}{more}"
        found.append(f"{count(len(tests), 'test file')} cannot be collected: {reason} ({named})")
    return found
