"""The last lines of a run: what came of it, the change, and the next command."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from heal_bot.core.statuses import MENDING
from heal_bot.core.text import count, for_log, one_line, printable
from heal_bot.report.causes import closest_attempt, describe_attempt, list_alternatives
from heal_bot.report.deciding_question import list_answers
from heal_bot.report.failure_status import describe_uncollected
from heal_bot.report.findings import list_culprits
from heal_bot.report.parameter_groups import group_tests
from heal_bot.report.status_sentences import (
    describe_confidence,
    describe_failure,
    describe_run,
    describe_verdict,
)
from heal_bot.source.unified_diff import DiffError, Hunk, parse_diff

if TYPE_CHECKING:
    from heal_bot.core.outcome import AttemptRecord, OutcomeRecord, QuestionRecord

# Lines of one kind without `-v`: tests, sentences, other changes, and changed lines of a diff.
_TESTS = 8
_TOLD = 10
_ALTERNATIVES = 3
_CHANGED = 16
_SUSPECTED = 3
_UNHEALED = frozenset({"not_healed", "budget_exhausted"})
# The options that raise what ended a run; those of one model have none.
_OPTIONS = {"time": "--max-minutes", "attempt": "--max-attempts", "spending": "--max-usd"}


def render_closing(record: OutcomeRecord, where: str, *, verbose: bool = False) -> tuple[str, ...]:
    """What a run came to: tests, change, doubts, and the next step; with `verbose` all of it."""
    lines = [render_headline(record)]
    if verbose:
        lines += render_findings(record)
    lines += _tests(record, verbose=verbose)
    if record.patch is not None:
        lines += render_change(record.patch.diff, _CHANGED if not verbose else None)
        level, ground = describe_confidence(record)
        if level:
            lines.append(f"confidence: {one_line(f'{level} {ground}', 300)}")
    if record.certificate is not None:
        word = "doubt, so a draft" if record.patch is not None else "doubt"
        lines += [f"{word}: {one_line(doubt, 400)}" for doubt in record.certificate.doubts]
    if record.question is not None:
        lines += render_question(record, record.question, verbose=verbose)
    else:
        if record.status in _UNHEALED and not verbose:
            lines += [f"proved: {one_line(one, 400)}" for one in list_culprits(record)]
        lines += _suggestion(record, where, verbose=verbose)
        if record.patch is None and record.suggestion is None and not verbose:
            lines += [f"inferred: {one_line(one, 400)}" for one in record.inferred[:_SUSPECTED]]
        lines += _closest(record, where)
    lines += [
        f"report: {where}/report.html",
        f"next: {next_step(record, where, f'heal-bot explain {where}')}",
    ]
    return tuple(for_log(text) for text in lines)


def render_headline(record: OutcomeRecord) -> str:
    """How the run ended, with its reason where neither the words nor the lines below say it."""
    said = describe_run(record)
    counts = said.removeprefix("Fixes ")
    told = record.reason.startswith(counts)
    below = record.patch is None and record.suggestion is not None
    if told or (below and record.status != "stale_test"):
        return said
    return f"{said}: {one_line(record.reason.partition(f': {counts}')[0], 500)}"


def _tests(record: OutcomeRecord, *, verbose: bool) -> list[str]:
    """The tests by what became of them and why, parameters folded, a reason told once."""
    lines = [f"  cannot be collected: {one_line(s, 800)}" for s in describe_uncollected(record)]
    every = [failure.test for failure in record.failures]
    groups: dict[tuple[str, str], list[str]] = {}
    # What is fixed comes first, whatever was reported before it.
    for failure in sorted(record.failures, key=lambda one: one.status != "fixed"):
        if failure.status != "collection_error":
            groups.setdefault((describe_failure(failure), failure.reason), []).append(failure.test)
    for (word, reason), tests in groups.items():
        told = tests if verbose else [group.said for group in group_tests(tests, every)]
        # The line that says how many more there are has room for one more.
        shown = told if verbose or len(told) == _TESTS + 1 else told[:_TESTS]
        why, head = f" ({one_line(reason, 400)})" if reason else "", f"{word}: "
        if why and len(told) > 1:
            lines.append(f"  {word}, {count(len(tests), 'test')}{why}:")
            why, head = "", "  "
        lines += [f"  {head}{one_line(test)}{why}" for test in shown]
        if len(told) > len(shown):
            lines.append(f"  {head}{len(told) - len(shown)} more, shown by heal-bot explain")
    return lines


def render_change(diff: str, limit: int | None) -> list[str]:
    """The changed lines of a diff below the place of each; at most `limit` of them."""
    try:
        files = parse_diff(printable(diff))
    except DiffError:
        changed = [f"    {line}" for line in printable(diff).splitlines()]
    else:
        changed = [line for file in files for hunk in file.hunks for line in _hunk(file.path, hunk)]
    if limit is None or len(changed) <= limit + 1:
        return changed
    return [*changed[:limit], f"    … {len(changed) - limit} more lines, shown by heal-bot explain"]


def _hunk(path: str, hunk: Hunk) -> Iterator[str]:
    """The changed lines of a hunk, each run of them below its place."""
    number, running = hunk.new_start, False
    for line in hunk.lines:
        changed = line[:1] in {"+", "-"}
        if changed and not running:
            yield f"  {path}:{number}"
        if changed:
            yield f"    {line}"
        running = changed or (running and line[:1] == "\\")
        number += line[:1] in {"+", " "}


def render_findings(record: OutcomeRecord) -> list[str]:
    """What is proved, what is inferred, what is not shown; a line each."""
    lists = {"proved": record.proved, "inferred": record.inferred, "not shown": record.not_shown}
    return [f"{how}: {one_line(one, 400)}" for how, said in lists.items() for one in said[:_TOLD]]


def _suggestion(record: OutcomeRecord, where: str, *, verbose: bool) -> list[str]:
    """A change that passes and is not called the repair, with why not, and those of other tests."""
    if (found := record.suggestion) is None:
        return []
    lines = ["a change passes, and you decide whether it is right:"]
    lines += render_change(found.diff, None if verbose else _CHANGED)
    lines += [f"  but {one_line(reason, 400)}" for reason in found.why]
    told = {*found.fixed, *(record.patch.fixed if record.patch else ())}
    for attempt in record.attempts:
        if attempt.word in MENDING and not told.issuperset(attempt.fixed):
            more = count(len(set(attempt.fixed) - told), "other failing test")
            look = f"heal-bot explain {where} --attempt {attempt.number}"
            lines.append(f"another change fixes {more} in the search: {look}")
            told.update(attempt.fixed)
    return lines


def render_question(record: OutcomeRecord, asked: QuestionRecord, *, verbose: bool) -> list[str]:
    """The question, and each choice with its answer, its change and the test that would hold it."""
    lines = [f"what should {one_line(asked.call, 400)} give?"]
    for answer in list_answers(record):
        lines.append(f"  {answer.choice.id}: {one_line(answer.result, 400)}")
        lines += render_change(answer.choice.diff, None if verbose else _CHANGED)
        if answer.test:
            lines.append(f"  as a test: {answer.test}")
    return lines


def _closest(record: OutcomeRecord, where: str) -> list[str]:
    """The attempt that came closest, why it was refused, and how to see and to take it."""
    if (attempt := closest_attempt(record)) is None:
        return []
    lines = []
    if record.suggestion is None:
        of = len(attempt.fixed) + len(attempt.still_failing)
        left = len(attempt.still_failing)
        some = f"{left} still {'fails' if left == 1 else 'fail'}" if attempt.fixed and left else ""
        passes = "no cold run has confirmed it" if attempt.word in MENDING else ""
        why = one_line(attempt.detail or some or passes or describe_verdict(attempt), 300)
        lines = [f"closest: attempt {attempt.number} fixes {len(attempt.fixed)} of {of}, but {why}"]
    lines.append(f"  see it: heal-bot explain {where} --attempt {attempt.number}")
    if attempt.verdict != "regression" and not attempt.newly_failing:
        lines.append(f"  take it: heal-bot apply --bundle {where} --attempt {attempt.number}")
    for other in list_alternatives(record)[:_ALTERNATIVES]:
        look = f"heal-bot explain {where} --attempt {other.number}"
        lines.append(f"in its place, {one_line(other.reason, 200)} passes too, unconfirmed: {look}")
    return lines


def render_attempt(attempt: AttemptRecord) -> list[str]:
    """All that is known of one attempt."""
    lines = [f"attempt {attempt.number} by {attempt.proposer}: {describe_verdict(attempt)}"]
    if said := one_line(describe_attempt(attempt), 1_000):
        lines.append(f"  {said}")
    lists = {"fixes": attempt.fixed, "still fails": attempt.still_failing,
             "breaks": attempt.newly_failing}  # fmt: skip
    for word, tests in lists.items():
        for test in tests[:_TOLD]:
            said = f": {one_line(attempt.messages[test], 300)}" if test in attempt.messages else ""
            lines.append(f"  {word}: {one_line(test)}{said}")
        if len(tests) > _TOLD:
            lines.append(f"  {word}: {len(tests) - _TOLD} more")
    return [*lines, "", *printable(attempt.diff).splitlines()]


def next_step(record: OutcomeRecord, where: str, look: str) -> str:
    """What a person may do now, as a command where one helps; `look` where nothing else does."""
    if record.patch is not None:
        take = f"heal-bot apply --bundle {where}"
        repo = record.request.repo or "OWNER/NAME"
        return f"{take}   or   heal-bot publish --bundle {where} --repo {repo}"
    if record.choices:
        picks = [f"heal-bot apply --bundle {where} --pick {one.id}" for one in record.choices]
        return "   or   ".join([*picks, "change the code, where neither is right"])
    if record.suggestion is not None and record.status == "stale_test":
        return (
            "take the change if the commit broke this by accident, change the tests if it was"
            " meant, or mend the commit's own lines where both are right"
        )
    if record.suggestion is not None:
        return "take the change if it is what you mean, or change the code and heal again"
    known = {
        "sandbox_error": "heal-bot doctor   shows which layer of isolation is missing",
        "environment_error": "fix what the first line names, or give another environment with"
        " --python, --freeze or --setup",
        "explained": "follow the reason above; no change to the code is proposed",
        "nothing_to_do": "nothing; if a run failed elsewhere, give its report with --junit",
        "stale_test": "decide whether the code or the test is right",
        "flaky": "fix the test or what it waits for; no change to the code is proposed",
        "superseded": "heal again at the current commit",
    }
    if record.status in known:
        return known[record.status]
    if broken := next((f for f in record.failures if f.status == "collection_error"), None):
        return f"fix {broken.source}:{broken.line}; until then none of these tests can run"
    broke = record.regression
    commit = broke.bad_sha[:7] if broke and broke.confirmed and not broke.package else ""
    look = f"git show {commit}   or {look}" if commit and record.status in _UNHEALED else look
    if record.stopped == "budget":
        option = _OPTIONS.get(record.limit)
        return f"{look}   or heal again with a higher {option}" if option else look
    if record.stopped == "interrupted":
        return f"{look}   or heal again"
    if record.status == "not_healed":
        return f"{look}   or heal again with --target PATH::NAME, --good REF or a model's key"
    return look
