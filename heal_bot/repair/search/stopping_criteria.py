"""What a streamed search has seen so far, and whether it may end."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from heal_bot.core.model import Attempt, Candidate, Verdict
from heal_bot.core.statuses import VerdictStatus

# Candidates and seconds to go on for other full fixes once there is one (and never more than that
# share of the seconds left), how much dearer than the first one they may be, and after how many in
# a row that are dearer none is expected.
_MORE = 200
_MORE_SECONDS = 20.0
_SHARE = 0.3
_DEARER = 3.0
_DEAR_ONES = 40
# Candidates to go on for a full fix once a partial one stands by itself.
_PATIENCE = 300


@dataclass(slots=True)
class StoppingState:
    """What a stream has seen so far, and the partial fixes that look like a cause of their own.

    `apart` are those that fix the same tests, all that fail in one way.
    """

    tried: int = 0
    best: int = 0
    regressions: int = 0
    apart: list[Attempt] = field(default_factory=list)
    apart_since: int = 0
    fixes: list[Attempt] = field(default_factory=list)
    last: int = 0
    latest: float = 0.0
    roof: float = math.inf
    dear: int = 0
    late: list[Candidate] = field(default_factory=list)

    def count(self, candidate: Candidate, verdict: Verdict) -> None:
        """What a verdict tells beside what the ledger keeps."""
        if verdict.status == VerdictStatus.TIMEOUT:
            self.late.append(candidate)

    def is_beside(self, verdict: Verdict) -> bool:
        """Whether a change fixes what those apart do, no more and no less."""
        same = any(set(one.verdict.fixed) == set(verdict.fixed) for one in self.apart[:1])
        return verdict.status == VerdictStatus.IMPROVED and same

    def set_apart(self, fix: Attempt) -> None:
        """Keep a partial fix that settles one way of failing, with those that fix the same."""
        if not self.is_beside(fix.verdict):
            self.apart, self.apart_since = [], self.tried
        self.apart.append(fix)

    def is_ripe(self) -> bool:
        """Whether partial fixes look like a cause, since nothing better came for long."""
        waited = self.tried >= self.apart_since + _PATIENCE
        return bool(self.apart) and waited and not self.fixes

    def take_apart(self) -> tuple[Attempt, ...]:
        """The partial fixes that look like a cause of their own; they go out once."""
        apart, self.apart = tuple(self.apart), []
        return apart if not self.fixes else ()

    def take(self, fix: Attempt, now: float, left: float) -> None:
        """A full fix; the first one says how long to look for others.

        Of the seconds left to the search the choice among them needs its part.
        """
        if not self.fixes:
            self.last = self.tried + _MORE + self.tried // 4
            self.latest = now + min(_MORE_SECONDS, _SHARE * left)
            self.roof = fix.candidate.prior + _DEARER
        self.fixes.append(fix)

    def has_enough(self, now: float) -> bool:
        """Whether to choose among the full fixes now."""
        spent = self.tried >= self.last or self.dear >= _DEAR_ONES
        return self.is_late(now) or (bool(self.fixes) and spent)

    def is_late(self, now: float) -> bool:
        """Whether the time to look for other full fixes is over."""
        return bool(self.fixes) and now >= self.latest

    def is_too_dear(self, candidate: Candidate) -> bool:
        """Whether a full fix is known beside which this one would not count."""
        dear = candidate.prior > self.roof
        self.dear = self.dear + 1 if dear else 0
        return dear
