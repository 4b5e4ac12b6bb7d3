"""`heal-bot explain`: what a bundle holds, in words."""

from __future__ import annotations

from pathlib import Path

import click

from heal_bot.cli import shared_options
from heal_bot.core.text import for_log


@click.command("explain")
@shared_options.bundle
@click.option("--attempt", type=click.IntRange(min=1), metavar="N", help="Show only this attempt.")
def command(folder: Path, attempt: int | None) -> None:
    """Explain what failed, what was suspected, what was tried, and how it ended."""
    from heal_bot.core import bundle
    from heal_bot.report import closing_lines, explanation

    record = bundle.read(folder)
    if attempt is not None:
        shown = shared_options.select_attempt(record, attempt)
        lines = closing_lines.render_attempt(shown)
        step = f"heal-bot apply --bundle {folder} --attempt {attempt}"
        if shown.newly_failing:
            step = f"mend what it breaks; {step}   takes it as it is"
    else:
        lines = explanation.explain_record(record)
        what = "every attempt with its diff" if record.attempts else "the suspects in full"
        page = f"open {folder / 'report.html'}   for {what}"
        step = closing_lines.next_step(record, str(folder), page)
    for line in (*lines, f"next: {step}"):
        click.echo(for_log(line))
