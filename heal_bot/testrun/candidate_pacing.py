"""Which failing tests a candidate meets first, and how long it may take, from how it was before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from heal_bot.core.model import CaseResult
from heal_bot.testrun.baseline_calibration import Unchanged
from heal_bot.testrun.verdict import find_results

# Seconds of processor time. Twenty times the unchanged test, and never less than a process that
# just forked may need.
SHORT, LONGEST = 0.05, 10.0
_TIMES = 20.0
# For tests that hang as they are: they say nothing of how long they take once repaired.
_UNKNOWN = 0.25
# What a collection afresh may take beyond the start of a fork server.
_FRESH = 2.0
SAMPLE = 20
# The first tests decide alone about nearly all candidates, so they must be quick.
_QUICK = 0.1


@dataclass(frozen=True, slots=True)
class CandidatePace:
    """`first` are run for each candidate, `rest` once one of them passes; then the guards.

    Seconds: `limit` for the first, `longer` for what follows, `fresh` on top for a candidate that
    is collected afresh. `known` once a change passed, so that no other one needs more time.
    """

    first: tuple[str, ...] = ()
    rest: tuple[str, ...] = ()
    limit: float = SHORT
    longer: float = SHORT
    fresh: float = 0.0
    known: bool = False

    @property
    def retry(self) -> float:
        """The limit of the second try of a promising candidate."""
        return min(max(LONGEST, self.limit), max(2.0, 16 * self.limit))

    def knowing(self, fixed: Mapping[str, CaseResult]) -> CandidatePace:
        """The pace once a change made all tests pass: they take no longer than that by far."""
        spent = sum(_seconds(name, fixed) for name in self.first)
        return replace(self, limit=min(self.limit, _allowed(spent, SHORT)), known=True)


def measure_pace(names: Sequence[str], before: Unchanged, start_seconds: float) -> CandidatePace:
    """From how the tests ran unchanged; `start_seconds` is what a fork server takes to start."""
    guards = before.guards
    taken = {name: _seconds(name, before.failing) for name in names if name not in before.hung}
    first = _first(names, taken)
    rest = tuple(name for name in names if name not in first)
    slowest = max((guard.seconds for guard in guards), default=0.0)
    unknown = min(1.0, max(SHORT, _TIMES * slowest)) if guards else _UNKNOWN
    least = SHORT if taken else unknown
    limit = _allowed(sum(taken.get(name, 0.0) for name in first), least)
    later = sum(taken.get(name, 0.0) for name in rest) + sum(guard.seconds for guard in guards)
    longer = limit + _allowed(later, SHORT + unknown * len(before.hung))
    return CandidatePace(first, rest, limit, longer, _FRESH + 5 * start_seconds)


def _first(names: Sequence[str], taken: Mapping[str, float]) -> tuple[str, ...]:
    """A sample from all over the failing tests, without those that would make it slow."""
    sample = [name for name in names[:: max(1, -(-len(names) // SAMPLE))] if name in taken]
    if not sample:
        return tuple(taken)[:1] or tuple(names[:1])
    chosen: set[str] = set()
    spent = 0.0
    for name in sorted(sample, key=lambda name: taken[name]):
        spent += taken[name]
        if chosen and spent > _QUICK:
            break
        chosen.add(name)
    return tuple(name for name in sample if name in chosen)


def _seconds(name: str, results: Mapping[str, CaseResult]) -> float:
    """What a test took; the sum for the name of a file or class."""
    return sum(result.seconds for result in find_results(results, name))


def _allowed(spent: float, least: float) -> float:
    return min(max(least, _TIMES * spent), max(LONGEST, 3 * spent))
