"""A run in words, as plain text: what failed, what was suspected, what was tried, how it ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

from heal_bot.core.text import count, one_line, printable
from heal_bot.report import closing_lines
from heal_bot.report.causes import describe_attempt
from heal_bot.report.findings import list_checks
from heal_bot.report.parameter_groups import group_tests
from heal_bot.report.status_sentences import describe_failure, describe_verdict

if TYPE_CHECKING:
    from heal_bot.core.outcome import FailureRecord, OutcomeRecord


def explain_record(record: OutcomeRecord) -> list[str]:
    """The outcome as lines of plain text."""
    lines = [closing_lines.render_headline(record), ""]
    lines += [*closing_lines.render_findings(record), ""]
    for failures in _by_cause(record):
        lines += _cause(failures, record)
    if record.patch is not None:
        lines += ["the verified change:", *printable(record.patch.diff).splitlines(), ""]
    if record.question is not None:
        lines += [*closing_lines.render_question(record, record.question, verbose=True), ""]
    elif (found := record.suggestion) is not None:
        lines += ["a change that passes and is not called the repair:"]
        lines += [*printable(found.diff).splitlines()]
        lines += [*(f"  but {one_line(reason, 400)}" for reason in found.why), ""]
    if record.certificate is not None:
        lines += _certificate(record)
    tried = sum(search.tried for search in record.searches)
    recorded = count(len(record.attempts), "attempt")
    lines.append(f"{count(tried, 'candidate')} tried, {recorded} recorded")
    lines += [f"note: {one_line(note, 400)}" for note in record.notes]
    return lines


def _by_cause(record: OutcomeRecord) -> list[list[FailureRecord]]:
    """The failures that share their clusters; those of no cluster one by one."""
    groups: dict[tuple[str, ...], list[FailureRecord]] = {}
    for failure in record.failures:
        groups.setdefault(failure.cluster_ids or (failure.test,), []).append(failure)
    return [*groups.values()]


def _cause(failures: list[FailureRecord], record: OutcomeRecord) -> list[str]:
    """The first test of a cause, its suspects and attempts, and the other tests in short."""
    failure, others = failures[0], failures[1:]
    lines = [f"{describe_failure(failure)}: {one_line(failure.test, 400)}"]
    lines.append(f"  {one_line(f'{failure.kind}: {failure.message}', 300)}")
    if failure.reason:
        lines.append(f"  why: {one_line(failure.reason, 300)}")
    for said in dict.fromkeys(map(describe_failure, others)):
        tests = [other.test for other in others if describe_failure(other) == said]
        lines += [f"  also {said}: {one_line(group.said, 400)}" for group in group_tests(tests)]
    for rank, suspect in enumerate(failure.suspects[:3], 1):
        evidence = "; ".join(one_line(text) for text in suspect.evidence)
        where = f"{suspect.path}:{suspect.first_line} {suspect.qualname}"
        lines.append(f"  suspect {rank}: {one_line(where)} ({suspect.score:.2f}): {evidence}")
    mine = [a for a in record.attempts if a.cluster in failure.cluster_ids]
    for attempt in mine[:10]:
        detail = one_line(describe_attempt(attempt), 240)
        word = describe_verdict(attempt)
        lines.append(f"  attempt {attempt.number} by {attempt.proposer} {word}: {detail}")
    return [*lines, ""]


def _certificate(record: OutcomeRecord) -> list[str]:
    certificate = record.certificate
    assert certificate is not None
    suite, isolation, place = certificate.full_suite, certificate.isolation, certificate.environment
    lines = [
        f"{place.suite.said or 'suite'} after the change, on {certificate.base_sha[:12]} with"
        f" Python {place.python}: {suite.passed} passed, {suite.failed} failed,"
        f" {suite.skipped} skipped",
        f"isolation: {isolation.mode} ({', '.join(isolation.layers)})",
    ]
    lines += [one_line(said, 400) for said in list_checks(record)]
    lines += [f"doubt: {one_line(doubt, 400)}" for doubt in certificate.doubts]
    return [*lines, ""]
