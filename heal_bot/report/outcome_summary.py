"""What decides whether a patch is merged, in at most 25 lines; the folds below have the rest."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from heal_bot.core.text import code_span, count, fence
from heal_bot.report.causes import (
    RepairedCause,
    closest_attempt,
    describe_closest,
    find_closest,
    find_suspect,
    list_causes,
)
from heal_bot.report.compact_diff import shorten_diff
from heal_bot.report.deciding_question import list_answers
from heal_bot.report.failed_assertion import describe_message
from heal_bot.report.failure_status import FAILING
from heal_bot.report.findings import list_culprits
from heal_bot.report.markdown import ended, prose, sentence
from heal_bot.report.parameter_groups import group_tests
from heal_bot.report.proposed_change import Shown
from heal_bot.report.sections import describe_suggestion
from heal_bot.report.status_sentences import describe_confidence, describe_failure, describe_run

if TYPE_CHECKING:
    from heal_bot.core.outcome import FailureRecord, OutcomeRecord

LINES = 25
# What is shown of a diff even where the other lines leave no room.
_DIFF = 6
_CHOICE = 3
_CAUSES = 3
_FAILING = 2
_GROUPS = 5
_NAMED = 3
_NAME = 160
WAITING = (
    "Checks on this pull request wait until a maintainer approves them, because `GITHUB_TOKEN`"
    " made it."
)


def summarize(record: OutcomeRecord, shown: Shown) -> str:
    """The change and what speaks for it; without a patch what is known of the failures."""
    commands = [" · ".join(f"`{command}`" for command in shown.commands)] if shown.commands else []
    if record.patch is None:
        before, diff = _diagnose(record, shown)
        return _fitted(before, diff, commands)
    before = [_warn([*list_doubts(record, shown)]), _tell_causes(record, shown)]
    facts = [*_list_facts(record, shown), *commands]
    return _fitted(before, shown.diff, ["\n".join(f"- {fact}" for fact in facts)])


def _fitted(before: Sequence[str], diff: str, after: Sequence[str]) -> str:
    """All parts, with as much of the diff as the lines leave room for."""
    above, below = ([part for part in parts if part] for parts in (before, after))
    used = sum(len(part.splitlines()) + 1 for part in (*above, *below))
    room = max(_DIFF, LINES - used - 2)
    middle = [fence(shorten_diff(diff, room), "diff")] if diff else []
    return "\n\n".join((*above, *middle, *below))


def list_doubts(record: OutcomeRecord, shown: Shown) -> Iterator[str]:
    """What a reviewer should look at twice, in Markdown, the weightiest first."""
    certificate = record.certificate
    if shown.claimed:
        yield "An unprivileged run claims all of this; nothing of it was verified here."
    if certificate is not None:
        if (sha := certificate.undoes) and not any(sha[:7] in one for one in certificate.doubts):
            yield f"This takes back the code of commit `{sha}`."
        yield from (sentence(doubt, 400) for doubt in certificate.doubts)
    yield from shown.remarks


def _warn(doubts: Sequence[str]) -> str:
    """The first doubt as an alert of GitHub, with how many more there are."""
    if not doubts:
        return ""
    more = f" {count(len(doubts) - 1, 'more doubt')} below." if len(doubts) > 1 else ""
    return f"> [!WARNING]\n> {doubts[0]}{more}"


def _tell_causes(record: OutcomeRecord, shown: Shown) -> str:
    """One cause as a sentence, several as a table."""
    causes = list_causes(record)
    if not causes:
        changed = ", ".join(code_span(name, _NAME) for name in shown.functions[:_NAMED])
        return f"Changes {changed}." if changed else ""
    if len(causes) == 1:
        (cause,) = causes
        return f"{_place(cause)} made {count(len(cause.tests), 'test')} fail. {_fix(cause, 400)}"
    rows = [
        f"| {_place(cause)} | {_fix(cause, 160)} | {len(cause.tests)} | {prose(cause.said, 240)} |"
        for cause in causes[:_CAUSES]
    ]
    if len(causes) > _CAUSES:
        rows.append(f"| and {count(len(causes) - _CAUSES, 'more cause')} | | | |")
    head = ["| Cause | Fix | Tests | Before |", "| --- | --- | --- | --- |"]
    return "\n".join([*head, *rows])


def _place(cause: RepairedCause) -> str:
    path, _, name = cause.function.partition("::")
    if re.fullmatch(r"line \d+", name):
        return f"L{name[1:]} of {code_span(path, _NAME)}"
    return f"{code_span(name, _NAME)} in {code_span(path, _NAME)}"


def _fix(cause: RepairedCause, limit: int) -> str:
    return sentence(cause.attempt.reason, limit)


def _list_facts(record: OutcomeRecord, shown: Shown) -> Iterator[str]:
    """What was fixed and where it was verified, what is proved, what still fails."""
    yield describe_fix(record, shown)
    level, ground = describe_confidence(record)
    if level:
        yield f"Confidence: **{level}** {prose(ground, 300)}".rstrip() + "."
    causes = list_causes(record)
    if len(causes) == 1 and causes[0].said:
        yield f"Before: {ended(causes[0].said, 400)}"
    yield from list_proofs(record, shown)
    failing = [failure for failure in record.failures if failure.status in FAILING]
    groups = list(_group(failing))
    for number, (failures, names) in enumerate(groups[:_FAILING]):
        rest = len(failing) - sum(len(each) for each, _ in groups[:_FAILING])
        last = number == _FAILING - 1 and rest > 0
        told = f"**Still failing ({len(failures)}):** {names}{_why(failures[0], record)}"
        yield f"{told} {count(rest, 'more test')} below." if last else told
    if shown.waiting:
        yield WAITING


def describe_fix(record: OutcomeRecord, shown: Shown) -> str:
    """How many failing tests pass, of which run, and what ran where to show it."""
    fixed = sum(failure.status == "fixed" for failure in record.failures)
    total = fixed + sum(failure.status in FAILING for failure in record.failures)
    number = shown.run_url.rpartition("/")[2]
    of = f" of [run {number}]({shown.run_url})" if shown.run_url else ""
    all_ = f"all {total}" if total > 1 else "the only"
    many = all_ if fixed == total else f"{fixed} of {total}"
    told = f"**Fixes {many}** failing {'test' if total == 1 else 'tests'}{of}"
    certificate = record.certificate
    if certificate is None:
        return f"{told}; not verified."
    if shown.claimed:
        return f"{told}, as an unprivileged run claims; not verified here."
    suite, before = certificate.full_suite, certificate.suite_before
    was = f" (was {before.failed})" if before is not None and before.failed else ""
    whole = prose(certificate.environment.suite.said) or "whole suite"
    ran = whole if suite.complete else "of the tests that ran"
    runs = {1: "once", 2: "twice"}.get(certificate.verify_runs, f"{certificate.verify_runs} times")
    python = prose(certificate.environment.python, 60)
    places = ", ".join(prose(place, 60) for place in certificate.not_run)
    return (
        f"{told}; {ran}: {suite.passed} passed, {suite.failed} failed{was}, {runs} in a fresh"
        f" checkout of `{certificate.base_sha[:7]}`. Verified on Linux, Python {python}"
        f"{f'; not run: {places}' if places else ''}."
    )


def list_proofs(record: OutcomeRecord, shown: Shown) -> Iterator[str]:
    """What broke the tests, as far as runs prove it."""
    how = "Claimed" if shown.claimed else "Proved"
    yield from (f"**{how}:** {ended(said, 400)}" for said in list_culprits(record))


def _group(failures: Iterable[FailureRecord]) -> Iterator[tuple[list[FailureRecord], str]]:
    """Failures that end alike for one reason, and the names of the first few."""
    alike: dict[tuple[str, str, tuple[str, ...]], list[FailureRecord]] = {}
    for failure in failures:
        key = describe_failure(failure), failure.reason, failure.cluster_ids
        alike.setdefault(key, []).append(failure)
    for mine in alike.values():
        groups = group_tests(failure.test for failure in mine)
        names = ", ".join(
            code_span(group.name, _NAME) + (f" ({group.parameters})" if group.parameters else "")
            for group in groups[:_NAMED]
        )
        left = len(mine) - sum(len(group.tests) for group in groups[:_NAMED])
        yield mine, f"{names} and {left} more" if left else names


def _why(failure: FailureRecord, record: OutcomeRecord) -> str:
    """What it says, who is suspected, and the closest attempt or the reason if it is its own."""
    said = describe_message(failure.kind, failure.message)
    told = f": {ended(said)}" if said else "."
    if failure.status in FAILING and (suspect := find_suspect(record, failure)):
        told += f" Suspected, not proved: {code_span(suspect.qualname, _NAME)}."
    closest = None if record.question else find_closest(record, failure)
    if closest is not None:
        found = record.suggestion
        how = "Suggested below" if found and found.attempt == closest.number else "Closest"
        return f"{told} {how}: {ended(describe_closest(closest))}"
    if failure.reason and failure.reason not in record.reason:
        told += f" {sentence(failure.reason)}"
    return told


def _diagnose(record: OutcomeRecord, shown: Shown) -> tuple[list[str], str]:
    """What is known where nothing is proposed, and the diff of what came closest."""
    reason = sentence(record.reason, 500)
    head = f"**{prose(describe_run(record))}.** {reason}".strip()
    groups = list(_group(record.failures))
    facts = [*list_proofs(record, shown)]
    facts += [
        f"{count(len(mine), 'test')} {prose(describe_failure(mine[0]))}: {names}"
        f"{_why(mine[0], record)}"
        for mine, names in groups[:_GROUPS]
    ]
    if record.question is not None:
        asked = f"What should {code_span(record.question.call)} give?"
        head = f"**{prose(describe_run(record))}.** {asked}"
        before = [_warn([*list_doubts(record, shown)]), head, *_show_choices(record)]
        return [*before, "\n".join(f"- {fact}" for fact in facts[:_FAILING])], ""
    if len(groups) > _GROUPS:
        left = sum(len(mine) for mine, _ in groups[_GROUPS:])
        facts.append(f"{count(left, 'more test')} below.")
    before = [_warn([*list_doubts(record, shown)]), head, "\n".join(f"- {fact}" for fact in facts)]
    if (found := record.suggestion) is not None:
        return [*before, f"> [!WARNING]\n> This change {describe_suggestion(found)}"], found.diff
    if (closest := closest_attempt(record)) is None:
        return before, ""
    return [*before, f"The closest attempt ({closest.number}):"], closest.diff


def _show_choices(record: OutcomeRecord) -> Iterator[str]:
    """Each choice with its answer, the test that would hold it, and what it changes."""
    for answer in list_answers(record):
        test = f" (as a test: {code_span(answer.test)})" if answer.test else ""
        yield f"**{answer.choice.id}** gives {code_span(answer.result)}{test}:"
        yield fence(shorten_diff(answer.choice.diff, _CHOICE), "diff")
