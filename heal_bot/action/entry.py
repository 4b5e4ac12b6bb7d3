"""`heal-bot action`: the entry of the GitHub Action; what is for nobody ends here, at once.

Most events of a repository are comments that ask for nothing. Neither they nor the process that
only seals itself and starts anew need what reads events, talks to GitHub or heals.
"""

from __future__ import annotations

import signal
from pathlib import Path

import click

from heal_bot.action import event_file, secret_vault


@click.command("action")
@click.option(
    "--event",
    "path",
    type=click.Path(path_type=Path),
    help="The event's payload; by default GITHUB_EVENT_PATH.",
)
def command(path: Path | None) -> None:
    """Run as a step of a workflow: inputs from INPUT_*, the event from the runner's file.

    Away from a runner, name, repository, commit and branch are read off the event; the token is
    GITHUB_TOKEN, and GITHUB_WORKSPACE the folder where the bundle goes.
    """
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    environ = secret_vault.copy_environment()
    if not event_file.passes_filter(environ, path or event_file.find_event_file(environ)):
        return
    environ = secret_vault.seal_process(environ)
    from heal_bot.action import dispatch

    dispatch.receive(environ, path)
