"""Options that several verbs take."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from heal_bot.core.errors import UsageError
from heal_bot.core.text import count, one_line

if TYPE_CHECKING:
    from heal_bot.core.outcome import AttemptRecord, ChoiceRecord, OutcomeRecord
    from heal_bot.core.settings import Settings
    from heal_bot.github.pulls import GitHub

BUNDLE = Path("heal-bot-bundle")


def bundle(function: Callable[..., None]) -> Callable[..., None]:
    """The bundle to read, as a word or as an option."""

    @functools.wraps(function)
    def call(
        *arguments: object, named: Path | None, folder: Path | None, **options: object
    ) -> None:
        if named and folder:
            raise UsageError(f"two bundles are named, {named} and {folder}: name one")
        function(*arguments, folder=named or folder or BUNDLE, **options)

    kind = click.Path(path_type=Path)
    told = f"What `heal-bot heal --out` wrote.  [default: {BUNDLE}]"
    option = click.option("--bundle", "folder", type=kind, metavar="DIR", help=told)
    return click.argument("named", metavar="[BUNDLE]", type=kind, required=False)(option(call))


verbose = click.option(
    "-v", "--verbose", is_flag=True, help="Show everything, also the test that is running."
)

_ENVIRONMENT = (
    click.option("--python-version", metavar="3.N", help="As for `heal`."),
    click.option("--setup", metavar="TEXT", help="As for `heal`."),
    click.option("--freeze", metavar="GLOB", help="As for `heal`."),
    click.option("--test-command", metavar="TEXT", help="As for `heal`."),
    click.option("--working-directory", metavar="DIR", help="As for `heal`."),
    click.option("--sandbox", type=click.Choice(["strict", "reduced"]), help="As for `heal`."),
)


def environment(function: Callable[..., None]) -> Callable[..., None]:
    """What tests are run with, and in."""
    for option in reversed(_ENVIRONMENT):
        function = option(function)
    return function


def open_repository(chosen: Settings, name: str) -> GitHub:
    """A repository on the server that the settings name, with their token and route."""
    from heal_bot.github.client import Route
    from heal_bot.github.pulls import GitHub

    return GitHub.open(
        chosen.github_token,
        chosen.github_api_url,
        name,
        server_url=chosen.github_server_url,
        route=Route(chosen.proxy, chosen.ca_file),
    )


def select_attempt(record: OutcomeRecord, number: int) -> AttemptRecord:
    """The attempt of that number; UsageError where the bundle has none."""
    for attempt in record.attempts:
        if attempt.number == number:
            return attempt
    raise UsageError(
        f"--attempt {number}: the bundle records {count(len(record.attempts), 'attempt')};"
        " heal-bot explain lists them"
    )


def select_choice(record: OutcomeRecord, pick: str) -> ChoiceRecord:
    """The choice of that name; UsageError where the run ended with no such choice."""
    for choice in record.choices:
        if choice.id == pick.upper():
            return choice
    if not record.choices:
        raise UsageError(
            f"--pick {one_line(pick)}: the bundle has no choices, the run ended as {record.status};"
            " apply without --pick takes its patch"
        )
    names = " and ".join(choice.id for choice in record.choices)
    raise UsageError(f"--pick {one_line(pick)}: the choices of the bundle are {names}")
