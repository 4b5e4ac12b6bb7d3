"""Where the events of a run are shown: a log, lines of JSON, or a terminal with a status line."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

from heal_bot.events import Event, SearchProgressed
from heal_bot.report import console
from heal_bot.report.progress import Progress

Sink = Callable[[Event], None]


@contextmanager
def shown(minutes: float, max_usd: float, *, quiet: bool, as_json: bool) -> Iterator[Sink]:
    """What prints events: a status line only for a person who watches, never among JSON."""
    if quiet:
        yield lambda event: None
    elif as_json:
        yield lambda event: click.echo(console.json_line(event))
    elif sys.stderr.isatty():
        with _status(Progress(time.monotonic() + minutes * 60, max_usd)) as sink:
            yield sink
    else:
        yield _print


def _print(event: Event) -> None:
    if text := console.line(event):
        click.echo(text)


@contextmanager
def _status(progress: Progress) -> Iterator[Sink]:
    """A line at the bottom of the terminal on standard error, the log above it."""
    from rich.console import Console
    from rich.live import Live
    from rich.spinner import Spinner
    from rich.text import Text

    spinner = Spinner("dots")

    def drawn() -> Spinner:
        spinner.update(
            text=Text(progress.line(time.monotonic()), overflow="ellipsis", no_wrap=True)
        )
        return spinner

    watched = sys.stdout.isatty()
    screen = Console(stderr=True, highlight=False)
    with Live(
        get_renderable=drawn, console=screen, refresh_per_second=5, transient=True,
        redirect_stdout=watched,
    ):  # fmt: skip

        def sink(event: Event) -> None:
            progress.take(event)
            # The status line itself shows how far a search is.
            if not isinstance(event, SearchProgressed):
                _print(event)

        yield sink
