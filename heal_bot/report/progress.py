"""How far a run is, as one line that is drawn anew: for terminals alone."""

from __future__ import annotations

from dataclasses import dataclass

from heal_bot.core.events import (
    ClusterStarted,
    Event,
    ModelSpoke,
    Planned,
    ProposalConfirmed,
    SearchProgressed,
    SuiteFinished,
    Underway,
)
from heal_bot.core.text import for_log, one_line
from heal_bot.report import console

# A rate is told of what takes long enough to have one.
_RATED = 0.5


@dataclass(slots=True)
class Progress:
    """What the events so far come to; `until` is the deadline in seconds of the run's clock."""

    until: float
    max_usd: float
    doing: str = "collecting and running the tests"
    causes: int = 0
    fixed: int = 0
    tried: int = 0
    usd: float = 0.0
    running: str = ""
    _before: int = 0
    _since: float = 0.0
    _rate: float = 0.0

    def take(self, event: Event) -> None:
        """Count what an event tells."""
        match event:
            case Planned():
                self.until = event.at + event.minutes_left * 60
                self.doing = "looking for suspects"
            case ClusterStarted():
                self.causes += 1
                self.doing = f"cause {event.cluster}"
                self._before, self._since, self._rate = self.tried, event.at, 0.0
            case SearchProgressed():
                self.doing = f"cause {event.cluster}, {event.proposer}"
                self._count(event)
            case ModelSpoke(usd=usd) if usd is not None:
                self.usd += usd
            case ModelSpoke():
                self.doing = f"{event.provider} {event.model}: {event.kind} {event.detail}"
            case SuiteFinished():
                self.doing = f"after {event.purpose}"
            case ProposalConfirmed():
                self.fixed = max(self.fixed, event.fixed)
            case Underway():
                self.running = console.render_underway(event)
            case _:
                pass

    def _count(self, event: SearchProgressed) -> None:
        """The candidates of all causes so far, and how fast those of this one come."""
        self.tried = max(self.tried, self._before + event.tried)
        if (seconds := event.at - self._since) >= _RATED:
            self._rate = event.tried / seconds

    def line(self, now: float) -> str:
        """What is being done, what was counted, what is left of the budget."""
        parts = [one_line(self.doing, 60)]
        if self.causes:
            parts.append(f"{self.causes} cause{'' if self.causes == 1 else 's'} begun")
        if self.tried:
            rate = f" ({self._rate:.0f}/s)" if self._rate else ""
            parts.append(f"{self.tried:,} candidates{rate}")
        if self.fixed:
            parts.append(f"{self.fixed} fixed")
        left = max(0, int(self.until - now))
        money = f", ${max(0.0, self.max_usd - self.usd):.2f}" if self.usd else ""
        parts.append(f"{left // 60}:{left % 60:02d}{money} left")
        return for_log(" · ".join(parts))
