"""Whether a change was judged already, and whether judging it once more would help."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from heal_bot.core.model import Attempt, Candidate
from heal_bot.core.statuses import VerdictStatus
from heal_bot.repair.search.attempt_history import digest

# A judge that timed out or crashed said nothing about the change.
_UNJUDGED = frozenset({VerdictStatus.TIMEOUT, VerdictStatus.ERROR})
# How often a change is judged of which nothing is learned.
_MOST = 2


def find_twin(candidate: Candidate, attempts: Sequence[Attempt]) -> Attempt | None:
    """The earlier attempt that proposed the same, whatever its layout and comments.

    None where no verdict on it said anything yet, as long as it may be judged again.
    """
    wanted = digest(candidate)
    same = [a for a in attempts if a.candidate.edits and digest(a.candidate) == wanted]
    judged = (a for a in same if a.verdict.measured and a.verdict.status not in _UNJUDGED)
    return next(judged, same[-1] if len(same) >= _MOST else None)


def given_up(attempts: Sequence[Attempt], proposers: Collection[str]) -> Attempt | None:
    """The newest attempt of these proposers where their last ones that passed were not measured."""
    cold = [
        attempt
        for attempt in attempts
        if attempt.candidate.proposer in proposers
        and (attempt.verdict.status == VerdictStatus.UNCONFIRMED or not attempt.verdict.measured)
    ]
    last = cold[-_MOST:]
    lost = len(last) == _MOST and not any(attempt.verdict.measured for attempt in last)
    return last[-1] if lost else None
