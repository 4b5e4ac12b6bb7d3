"""Where a run is shown: a log, lines of JSON, or a terminal with a status line at its end."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from heal_bot.core.events import Event, SearchProgressed, Underway
from heal_bot.report import closing_lines, console
from heal_bot.report.console import EventLog
from heal_bot.report.progress import Progress

if TYPE_CHECKING:
    from rich.console import Console

    from heal_bot.core.outcome import OutcomeRecord

Sink = Callable[[Event], None]
# How lines look on a terminal, by what they begin with.
_STYLES = (
    ("    +", "green"), ("    -", "red"), ("warning:", "yellow"), ("doubt:", "yellow"),
    ("Fix", "bold green"), ("next:", "bold"), ("    ", ""),
)  # fmt: skip


@contextmanager
def choose_sink(
    minutes: float, max_usd: float, *, quiet: bool, as_json: bool, verbose: bool = False
) -> Iterator[Sink]:
    """What prints events: a status line only on a terminal that can draw one, never among JSON."""
    log = EventLog(verbose)
    if quiet:
        yield lambda event: None
    elif as_json:
        zero = time.time() - time.monotonic()
        yield lambda event: _print_json(event, zero, verbose=verbose)
    elif draws_status(os.environ) and sys.stderr.isatty():
        with _status(Progress(time.monotonic() + minutes * 60, max_usd), log) as sink:
            yield sink
    else:
        yield print_events(log)


def print_closing(record: OutcomeRecord, where: str, *, verbose: bool = False) -> None:
    """The closing lines, coloured on a terminal."""
    _print_lines(closing_lines.render_closing(record, where, verbose=verbose))


def print_outcome(record: OutcomeRecord, where: str) -> None:
    """The last event of `--json`: all of the outcome."""
    outcome = record.model_dump(by_alias=True, mode="json")
    head = {"kind": "outcome", "time": console.wall_clock(time.time()), "bundle": where,
            "status": record.status, "reason": record.reason}  # fmt: skip
    click.echo(console.dump_json({**head, "outcome": outcome}))


def draws_status(environ: Mapping[str, str]) -> bool:
    """Whether a terminal, if there is one, can redraw a line: not in CI, not a dumb one."""
    return environ.get("TERM", "dumb") not in {"", "dumb", "unknown"} and not environ.get("CI")


def _print_json(event: Event, zero: float, *, verbose: bool) -> None:
    if verbose or not isinstance(event, Underway):
        click.echo(console.json_line(event, zero))


def _print_lines(lines: Iterable[str]) -> None:
    """Lines on standard output, in colour where it is a terminal that has some."""
    if not (sys.stdout.isatty() and draws_status(os.environ)):
        for line in lines:
            click.echo(line)
        return
    from rich.console import Console

    screen = Console(highlight=False)
    for line in lines:
        _write(screen, line)


def print_events(log: EventLog | None = None, *, err: bool = False) -> Sink:
    """What prints events as the lines of a log."""
    shown = log or EventLog()

    def sink(event: Event) -> None:
        if line := shown.line(event):
            click.echo(line, err=err)

    return sink


def _write(screen: Console, line: str) -> None:
    """A line of the log; one that is too long is wrapped by the terminal, and copied as one."""
    from rich.text import Text

    style = next((style for start, style in _STYLES if line.startswith(start)), "")
    screen.print(Text(line, style=style), soft_wrap=True)


@contextmanager
def _status(progress: Progress, log: EventLog) -> Iterator[Sink]:
    """A line at the bottom of the terminal, the log above it.

    Both go through one console, which knows what is drawn: what another writes to the terminal
    would land in the middle of it.
    """
    from rich.console import Console, Group
    from rich.live import Live
    from rich.spinner import Spinner
    from rich.text import Text

    together = sys.stdout.isatty()
    screen = Console(stderr=not together, highlight=False)
    spinner = Spinner("dots")

    def drawn() -> Group:
        line = progress.line(time.monotonic(), screen.width - _SPINNER)
        spinner.update(text=Text(line, overflow="ellipsis", no_wrap=True))
        running = Text(progress.running, overflow="ellipsis", no_wrap=True)
        return Group(spinner, running) if progress.running else Group(spinner)

    with Live(
        get_renderable=drawn, console=screen, refresh_per_second=5, transient=True,
        redirect_stdout=together,
    ):  # fmt: skip

        def sink(event: Event) -> None:
            progress.take(event)
            # The status itself shows how far a search is, and what is under way.
            if isinstance(event, SearchProgressed | Underway) or not (line := log.line(event)):
                return
            if together:
                _write(screen, line)
            else:
                click.echo(line)

        yield sink


# What the spinner and the blank behind it take of a line.
_SPINNER = 2
