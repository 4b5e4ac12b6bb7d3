"""`heal-bot explain`: what a bundle holds, in words."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from heal_bot.core.text import for_log, one_line, printable
from heal_bot.report.causes import describe_attempt

if TYPE_CHECKING:
    from heal_bot.core.outcome import FailureRecord, OutcomeRecord


@click.command("explain")
@click.argument("folder", metavar="BUNDLE", type=click.Path(path_type=Path))
def command(folder: Path) -> None:
    """Tell what was red, who was suspected, what was tried, and what came of it."""
    from heal_bot.core import bundle
    from heal_bot.report import console

    record = bundle.read(folder)
    for line in explain_record(record):
        click.echo(for_log(line))
    page = f"open {folder / 'report.html'}   for every attempt with its diff"
    click.echo(for_log(f"next: {console.next_step(record, str(folder), page)}"))


def explain_record(record: OutcomeRecord) -> list[str]:
    """The outcome as lines of plain text."""
    from heal_bot.report import console

    lines = [f"{record.status} ({record.stopped}): {one_line(record.reason, 400)}", ""]
    lines += [*console.render_findings(record), ""]
    told: dict[tuple[str, ...], str] = {}
    for failure in record.failures:
        if failure.status == "collection_error" and failure.cluster_ids in told:
            continue
        same = told.setdefault(failure.cluster_ids, failure.test) if failure.cluster_ids else ""
        lines += _failure(failure, record, "" if same == failure.test else same)
    if record.patch is not None:
        lines += ["the verified change:", *printable(record.patch.diff).splitlines(), ""]
    if record.suggestion is not None:
        lines += [*console.render_suggestion(record), ""]
    if record.certificate is not None:
        lines += _certificate(record)
    tried = sum(search.tried for search in record.searches)
    lines.append(f"{tried} candidates were tried, {len(record.attempts)} attempts recorded")
    lines += [f"note: {one_line(note, 400)}" for note in record.notes]
    return lines


def _failure(failure: FailureRecord, record: OutcomeRecord, same: str) -> list[str]:
    """One failing test; `same` is another with the same cause, which was told before."""
    lines = [f"{failure.status}: {one_line(failure.test, 400)}"]
    lines.append(f"  {one_line(f'{failure.kind}: {failure.message}', 300)}")
    if failure.reason:
        lines.append(f"  why: {one_line(failure.reason, 300)}")
    if same:
        return [*lines, f"  suspects and attempts as for {one_line(same, 400)}", ""]
    for rank, suspect in enumerate(failure.suspects[:3], 1):
        evidence = "; ".join(one_line(text) for text in suspect.evidence)
        where = f"{suspect.path}:{suspect.first_line} {suspect.qualname}"
        lines.append(f"  suspect {rank}: {one_line(where)} ({suspect.score:.2f}): {evidence}")
    mine = [a for a in record.attempts if a.cluster in failure.cluster_ids]
    for attempt in mine[:10]:
        detail = one_line(describe_attempt(attempt), 240)
        lines.append(f"  attempt {attempt.number} by {attempt.proposer}: {attempt.word}: {detail}")
    return [*lines, ""]


def _certificate(record: OutcomeRecord) -> list[str]:
    certificate = record.certificate
    assert certificate is not None
    suite, isolation = certificate.full_suite, certificate.isolation
    lines = [
        f"suite after the change, on {certificate.base_sha[:12]} with Python"
        f" {certificate.environment.python}: {suite.passed} passed, {suite.failed} failed,"
        f" {suite.skipped} skipped",
        f"isolation {isolation.mode}: {', '.join(isolation.layers)}",
    ]
    lines += [one_line(said, 400) for said in record.checks]
    lines += [f"doubt: {one_line(doubt, 400)}" for doubt in certificate.doubts]
    return [*lines, ""]
