"""Events as lines for a terminal or a log."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

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
from heal_bot.core.text import count, for_log, one_line, printable
from heal_bot.report.failure_status import describe_uncollected

if TYPE_CHECKING:
    from heal_bot.core.outcome import OutcomeRecord

# Sentences of a kind, and lines of a suggestion's diff in a terminal.
_TOLD = 10
_SUGGESTED = 40
_QUIET_STEPS = frozenset({"delta", "candidate"})


def render_line(event: Event) -> str:
    """The event as one line of text; '' for those that only programs need."""
    match event:
        case Planned():
            text = (
                f"plan: the suite takes {event.suite_seconds:.1f} s,"
                f" {event.confirmations} confirmations, {event.minutes_left:.1f} minutes left"
            )
        case SuiteFinished():
            end = f", {event.ended}".removesuffix(", finished")
            text = (
                f"{event.purpose}: {event.passed} passed, {event.failed} failed"
                f" in {event.seconds:.1f} s{end}"
            )
        case ClusterStarted():
            tests = count(event.tests, "failing test")
            text = f"cause {event.cluster}: {tests}; suspects: {', '.join(event.suspects)}"
        case SearchProgressed():
            text = f"  {event.proposer}: {event.tried} candidates, best fixes {event.best_fixed}"
        case AttemptJudged():
            detail = f": {event.detail}" if event.detail else ""
            text = (
                f"  attempt {event.number} ({event.proposer}, {event.family}):"
                f" {event.verdict}, fixes {event.fixed}{detail}"
            )
        case ProposalConfirmed():
            detail = f": {event.detail}" if event.detail else f", fixes {event.fixed}"
            text = f"cold confirmation: {event.status}{detail}"
        case ModelSpoke():
            if event.kind in _QUIET_STEPS:
                return ""
            text = f"  {event.provider} {event.model}: {event.kind} {event.detail}".rstrip()
        case Underway():
            return ""
        case Noted():
            text = event.message if event.level == "info" else f"{event.level}: {event.message}"
    margin = text[: len(text) - len(text.lstrip(" "))]
    return margin + for_log(one_line(text, 500))


def render_underway(event: Underway) -> str:
    """What is running at this moment, for whoever watches."""
    count = f"test {event.number} of {event.of}" if event.of else f"candidate {event.number}"
    return "  " + for_log(one_line(f"{count}: {event.what}", 300))


def json_line(event: Event) -> str:
    """The event as one line of JSON."""
    # A runner takes `##[` for an order wherever it stands.
    return json.dumps(asdict(event)).replace("##[", "\\u0023#[")


def render_closing(record: OutcomeRecord, where: str) -> tuple[str, ...]:
    """The last lines of a run: what it came to, and the next step."""
    lines = [f"{record.status}: {one_line(record.reason, 500)}"]
    lines += render_findings(record)
    lines += [f"  collection_error: {one_line(said, 800)}" for said in describe_uncollected(record)]
    for failure in record.failures:
        if failure.status == "collection_error":
            continue
        reason = f" ({one_line(failure.reason, 160)})" if failure.reason else ""
        lines.append(f"  {failure.status}: {one_line(failure.test)}{reason}")
    if record.certificate is not None:
        lines += [f"doubt: {one_line(doubt, 400)}" for doubt in record.certificate.doubts]
    lines += render_suggestion(record)
    lines += [f"bundle: {where}", f"next: {next_step(record, where, f'heal-bot explain {where}')}"]
    return tuple(for_log(text) for text in lines)


def render_findings(record: OutcomeRecord) -> list[str]:
    """What is proved, what is inferred, what is not shown; a line each."""
    lists = {"proved": record.proved, "inferred": record.inferred, "not shown": record.not_shown}
    return [f"{how}: {one_line(one, 400)}" for how, said in lists.items() for one in said[:_TOLD]]


def render_suggestion(record: OutcomeRecord) -> list[str]:
    """A change that passes and is not called the repair, with why not."""
    if (found := record.suggestion) is None:
        return []
    names = ", ".join(one_line(f"{f.path}::{f.qualname}", 160) for f in found.functions[:3])
    lines = [f"suggestion, no repair (by {found.proposer}): a change of {names}; but"]
    lines += [f"  {one_line(reason, 400)}" for reason in found.why]
    return [*lines, *(f"  {text}" for text in printable(found.diff).splitlines()[:_SUGGESTED])]


def next_step(record: OutcomeRecord, where: str, look: str) -> str:
    """What a person may do now, as a command where one helps; `look` where nothing else does."""
    if record.patch is not None:
        return f"heal-bot apply --bundle {where}   or   heal-bot publish --bundle {where}"
    if record.suggestion is not None:
        return f"read {where}/suggestion.diff, and `git apply` it if it is what is meant"
    known = {
        "sandbox_error": "heal-bot doctor   says which layer of isolation is missing",
        "environment_error": "what the first line says, or another environment with --python,"
        " --freeze or --setup",
        "explained": "what the first line says; the code is left as it is",
        "nothing_to_do": "nothing; give the report of a red run with --junit if there is one",
        "stale_test": "look at the test: the code does what its callers expect",
        "flaky": "repair the test or what it waits for; no change of the code is proposed",
        "superseded": "heal again at the present commit",
    }
    if record.status in known:
        return known[record.status]
    if broken := next((f for f in record.failures if f.status == "collection_error"), None):
        return f"mend {broken.source}:{broken.line}; none of these tests can run before"
    if record.stopped == "budget":
        return f"{look}   or heal again with more --max-minutes or --max-usd"
    if record.stopped == "interrupted":
        return f"{look}   or heal again"
    return look
