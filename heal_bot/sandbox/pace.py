"""How long a candidate may run, from how long the tests took unchanged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from heal_bot.sandbox.zygote import Answer

# Twenty times the passing test, and never less than a loaded machine may need for one.
SHORT, LONGEST = 0.25, 10.0
_TIMES = 20.0
_GUARD_SECONDS = 60.0
_UNKNOWN = 1.0
# What a collection afresh may take beyond the start of a zygote.
_FRESH = 2.0


@dataclass(frozen=True, slots=True)
class Pace:
    """Seconds: `limit` for the failing tests, `longer` for what follows once one passes, `fresh`
    on top for a candidate that is collected afresh."""

    limit: float = SHORT
    longer: float = SHORT
    fresh: float = 0.0

    @property
    def retry(self) -> float:
        """The limit of the second try of a promising candidate."""
        return min(max(LONGEST, self.limit), 16 * self.limit)


def pace(failing: Answer, guards: Answer, good: Sequence[str], start_seconds: float) -> Pace:
    """From the unchanged runs of the failing tests and of the guards that are `good`."""
    spent = sum(result.seconds for result in failing.results.values())
    guarding = sum(guards.results[name].seconds for name in good)
    # Tests that hang as they are say nothing of how long they take once repaired.
    least = _UNKNOWN if failing.how == "timeout" else SHORT
    limit = min(max(least, _TIMES * spent), max(LONGEST, 3 * spent))
    longer = limit + min(max(SHORT, _TIMES * guarding), _GUARD_SECONDS)
    return Pace(limit, longer, _FRESH + 5 * start_seconds)
