"""Events as lines for a terminal or a log, and as JSON for programs."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime

from heal_bot.core.events import (
    AttemptJudged,
    ClusterStarted,
    Event,
    ModelSpoke,
    Noted,
    Planned,
    ProposalConfirmed,
    SearchProgressed,
    SuiteFinished,
    Underway,
)
from heal_bot.core.statuses import MENDING, SuiteEnd, VerdictStatus
from heal_bot.core.text import count, for_log, one_line

# Steps of a model call that only programs need, and those that change nothing for a reader.
_SILENT = frozenset({"delta", "candidate"})
_SMALL = frozenset({"usage", "look", "kept"})
# Seconds after which a log says what is under way.
_SILENCE = 60.0
_ENDS = {
    SuiteEnd.TIMEOUT: "stopped at its time limit",
    SuiteEnd.CRASHED: "the interpreter crashed",
    SuiteEnd.KILLED: "killed at a limit of the sandbox",
    SuiteEnd.UNTRUSTED: "its results could not be authenticated",
}


@dataclass(slots=True)
class EventLog:
    """The log of a run: each thing once, and what changes nothing only when `verbose`.

    What is under way is told after a minute without a line.
    """

    verbose: bool = False
    _spoke: float = 0.0
    _running: str = ""
    _said: set[Event] = field(default_factory=set)
    _solved: set[str] = field(default_factory=set)
    _tried: dict[str, int] = field(default_factory=dict)

    def line(self, event: Event) -> str:
        """The event as one line; '' for one that is not shown."""
        if not self._spoke:
            self._spoke = event.at
        if line := self._choose(event):
            self._spoke = event.at
        return line

    def _choose(self, event: Event) -> str:
        if isinstance(event, Underway):
            line, before = render_underway(event), self._running
            self._running = line
            told = self.verbose and line != before
            return line if told or event.at - self._spoke >= _SILENCE else ""
        if self.verbose:
            return render_line(event)
        if self._is_detail(event):
            return ""
        same = replace(event, seq=0, at=0.0)
        if isinstance(same, SuiteFinished):
            same = replace(same, seconds=0.0)
        if same in self._said:
            return ""
        self._said.add(same)
        return render_line(event)

    def _is_detail(self, event: Event) -> bool:
        """Whether a reader loses nothing without it: of several changes that fix a cause by rules
        the first is shown.
        """
        match event:
            case Noted(level="detail"):
                return True
            case SearchProgressed():
                # A search that goes on is told of when it has tried twice as many.
                shown = event.tried >= 2 * self._tried.get(event.cluster, 0)
                if shown:
                    self._tried[event.cluster] = event.tried
                return not shown
            case ModelSpoke(kind=kind):
                return kind in _SMALL
            case AttemptJudged(proposer="rules"):
                shown = event.verdict in MENDING and event.cluster not in self._solved
                if event.verdict == VerdictStatus.FIXED:
                    self._solved.add(event.cluster)
                return not shown
        return False


def render_line(event: Event) -> str:
    """The event as one line of text; '' for those that only programs need."""
    text = _text(event)
    margin = text[: len(text) - len(text.lstrip(" "))]
    return margin + for_log(one_line(text, 500))


def _text(event: Event) -> str:
    match event:
        case Planned():
            return (
                f"plan: the test suite takes {event.suite_seconds:.1f} s and runs at least"
                f" {event.confirmations} more times; {event.minutes_left:.1f} minutes left"
            )
        case SuiteFinished():
            return _suite(event)
        case ClusterStarted():
            return f"{render_cause(event)}, {count(event.tests, 'test')}"
        case SearchProgressed():
            best = "none fixes a test without breaking another"
            if event.best_fixed:
                best = f"the best fixes {event.best_fixed}"
            return f"  {event.proposer}: {count(event.tried, 'candidate')} tried, {best}"
        case AttemptJudged():
            return _attempt(event)
        case ProposalConfirmed():
            return _final_check(event)
        case ModelSpoke():
            return "" if event.kind in _SILENT else _model(event)
        case Noted():
            return f"warning: {event.message}" if event.level == "warning" else event.message
        case Underway():
            return ""


def render_cause(event: ClusterStarted) -> str:
    """Which cause of how many, by the likeliest suspect."""
    suspect = f"`{event.suspects[0]}`" if event.suspects else "no suspect"
    return f"cause {event.number} of {event.of}: {suspect}"


def _suite(event: SuiteFinished) -> str:
    end = f" ({_ENDS[SuiteEnd(event.ended)]})" if event.ended in _ENDS else ""
    known = " as before" if event.failed and event.failed == event.known else ""
    return (
        f"{event.purpose}: {event.passed} passed, {event.failed} failed{known}"
        f" in {event.seconds:.1f} s{end}"
    )


def _attempt(event: AttemptJudged) -> str:
    """The verdict first, so that a narrow terminal shows it."""
    change = event.change or event.family
    by = "" if event.proposer == "rules" else f" ({event.proposer})"
    fixes = f"fixes {event.fixed} of {event.of}" if event.of else f"fixes {event.fixed}"
    if event.verdict in MENDING:
        return f"  attempt {event.number}{by} {fixes}: {change}"
    detail = f": {event.detail}" if event.detail else ""
    return f"  attempt {event.number}{by}: {event.verdict}{detail} ({change})"


def _final_check(event: ProposalConfirmed) -> str:
    if event.status == "patch":
        return f"final check: passed, {count(event.fixed, 'failing test')} fixed"
    status = "passed, and you decide" if event.status == "suggestion" else event.status
    return f"final check: {status}: {event.detail}"


def _model(event: ModelSpoke) -> str:
    if event.kind == "request":
        return f"  asking {event.provider} {event.model}"
    if event.kind == "usage":
        cost = "unknown cost" if event.usd is None else f"${event.usd:.4f}"
        tokens = f"{event.input_tokens} tokens in, {event.output_tokens} out"
        return f"  {event.provider} {event.model}: {tokens}, {cost}"
    return f"  {event.provider} {event.model}: {event.kind} {event.detail}".rstrip()


def render_underway(event: Underway) -> str:
    """What is running at this moment, for whoever watches."""
    if event.stage == "verify":
        return "  " + for_log(one_line(event.what, 300))
    place = f"test {event.number} of {event.of}" if event.of else f"candidate {event.number}"
    return "  " + for_log(one_line(f"{place}: {event.what}", 300))


def json_line(event: Event, zero: float) -> str:
    """The event as one line of JSON; `zero` is when the run's clock was 0, in epoch seconds."""
    values = asdict(event)
    values["time"] = wall_clock(zero + values.pop("at"))
    return dump_json(values)


def dump_json(values: dict[str, object]) -> str:
    """One line of JSON for a log: a runner takes `##[` for an order wherever it stands."""
    return json.dumps(values).replace("##[", "\\u0023#[")


def wall_clock(seconds: float) -> str:
    """Epoch seconds as ISO 8601 in UTC, to the millisecond."""
    at = datetime.fromtimestamp(seconds, UTC)
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
