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
from heal_bot.core.text import count, for_log, one_line
from heal_bot.report import console

# A rate is told of what takes long enough to have one.
_RATED = 0.5


@dataclass(slots=True)
class Progress:
    """What the events so far come to; `until` is the deadline in seconds of the run's clock."""

    until: float
    max_usd: float
    doing: str = "running the tests"
    cause: str = ""
    fixed: int = 0
    tried: int = 0
    usd: float = 0.0
    running: str = ""
    _before: int = 0
    _since: float = 0.0
    _rate: float = 0.0

    def take(self, event: Event) -> None:
        """Count what an event tells."""
        if not isinstance(event, Underway):
            self.running = ""
        match event:
            case Planned():
                self.until = event.at + event.minutes_left * 60
                self.doing = "looking for suspects"
            case ClusterStarted():
                self.cause = self.doing = console.render_cause(event)
                self._before, self._since, self._rate = self.tried, event.at, 0.0
            case SearchProgressed():
                self.doing = self.cause
                self._count(event)
            case ModelSpoke(usd=usd) if usd is not None:
                self.usd += usd
            case ModelSpoke():
                self.doing = f"{self.cause}, {event.provider} {event.model}".removeprefix(", ")
            case SuiteFinished():
                self.doing = f"after {event.purpose}"
            case ProposalConfirmed():
                self.fixed = max(self.fixed, event.fixed)
            case Underway(stage="verify"):
                self.doing = event.what
            case Underway():
                self.running = console.render_underway(event)
            case _:
                pass

    def _count(self, event: SearchProgressed) -> None:
        """The candidates of all causes so far, and how fast those of this one come."""
        self.tried = max(self.tried, self._before + event.tried)
        if (seconds := event.at - self._since) >= _RATED:
            self._rate = event.tried / seconds

    def line(self, now: float, width: int = 200) -> str:
        """What is being done, what was counted, what is left of the budget.

        Where not all of it fits, the time left and what is being done stay.
        """
        left = max(0, int(self.until - now))
        money = f", ${max(0.0, self.max_usd - self.usd):.2f}" if self.usd else ""
        last = f"{left // 60}:{left % 60:02d}{money} left"
        room = width - len(last) - len(_BETWEEN)
        parts = [one_line(self.doing, min(60, room))] if room > 0 else []
        for part in self._counted():
            if len(_BETWEEN.join((*parts, part))) <= room:
                parts.append(part)
        return for_log(_BETWEEN.join((*parts, last)))

    def _counted(self) -> list[str]:
        """The counts, the most telling first."""
        parts = [f"{self.fixed} fixed"] if self.fixed else []
        if self.tried:
            rate = f" ({self._rate:.0f}/s)" if self._rate else ""
            parts.append(f"{count(self.tried, 'candidate')}{rate}")
        return parts


_BETWEEN = " · "
