"""Options that several verbs take."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click

bundle = click.option(
    "--bundle",
    "folder",
    type=click.Path(path_type=Path),
    required=True,
    metavar="DIR",
    help="What `heal-bot heal --out` wrote.",
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
