"""Where the events of a run are shown: a log, lines of JSON, or a terminal with a status line."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

from heal_bot.core.events import Event, SearchProgressed, Underway
from heal_bot.report import console
from heal_bot.report.progress import Progress

Sink = Callable[[Event], None]


@contextmanager
def choose_sink(
    minutes: float, max_usd: float, *, quiet: bool, as_json: bool, watch: bool = False
) -> Iterator[Sink]:
    """What prints events: a status line only for a terminal, never among JSON.

    What is under way at the moment is shown to who asked to watch.
    """
    with _screen(minutes, max_usd, quiet=quiet, as_json=as_json) as sink:
        if watch:
            yield sink
        else:
            yield lambda event: None if isinstance(event, Underway) else sink(event)


@contextmanager
def _screen(minutes: float, max_usd: float, *, quiet: bool, as_json: bool) -> Iterator[Sink]:
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
    text = (
        console.render_underway(event)
        if isinstance(event, Underway)
        else console.render_line(event)
    )
    if text:
        click.echo(text)


@contextmanager
def _status(progress: Progress) -> Iterator[Sink]:
    """A line at the bottom of the terminal on standard error, the log above it."""
    from rich.console import Console, Group
    from rich.live import Live
    from rich.spinner import Spinner
    from rich.text import Text

    spinner = Spinner("dots")

    def drawn() -> Group:
        spinner.update(
            text=Text(progress.line(time.monotonic()), overflow="ellipsis", no_wrap=True)
        )
        running = Text(progress.running, overflow="ellipsis", no_wrap=True)
        return Group(spinner, running) if progress.running else Group(spinner)

    watched = sys.stdout.isatty()
    screen = Console(stderr=True, highlight=False)
    with Live(
        get_renderable=drawn, console=screen, refresh_per_second=5, transient=True,
        redirect_stdout=watched,
    ):  # fmt: skip

        def sink(event: Event) -> None:
            progress.take(event)
            # The status itself shows how far a search is, and what is under way.
            if not isinstance(event, SearchProgressed | Underway):
                _print(event)

        yield sink
