"""What a streamed search has seen so far, and whether it may end."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from heal_bot.model import Attempt, Candidate, Verdict
from heal_bot.repair.belief import Odds

# Candidates and seconds to go on for other full fixes once there is one (and never more than that
# share of the seconds left), how much dearer than the first one they may be, and after how many in
# a row that are dearer none is expected.
_MORE = 200
_MORE_SECONDS = 20.0
_SHARE = 0.3
_DEARER = 1.5
_DEAR_ONES = 40
# Candidates to go on for a full fix once a partial one stands by itself.
_PATIENCE = 300


@dataclass(slots=True)
class Tally:
    """What a stream has seen so far, and the partial fix that looks like a cause of its own.

    `accidents` counts what made all failing tests pass and broke one that passed.
    """

    tried: int = 0
    best: int = 0
    regressions: int = 0
    accidents: int = 0
    apart: Attempt | None = None
    apart_since: int = 0
    fixes: list[Attempt] = field(default_factory=list)
    last: int = 0
    latest: float = 0.0
    roof: float = math.inf
    dear: int = 0
    late: list[Candidate] = field(default_factory=list)

    def count(self, candidate: Candidate, verdict: Verdict, failures: int) -> None:
        """What a verdict tells beside what the ledger keeps."""
        self.accidents += verdict.status == "regression" and len(verdict.fixed) == failures
        if verdict.status == "timeout":
            self.late.append(candidate)

    def odds(self) -> Odds:
        """How easily the failing tests are passed, as far as this search shows."""
        return Odds(self.tried, self.accidents)

    def ripe(self) -> Attempt | None:
        """The partial fix that looks like a cause of its own, when nothing better came for long."""
        if self.fixes or self.apart is None or self.tried < self.apart_since + _PATIENCE:
            return None
        apart, self.apart = self.apart, None
        return apart

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
