"""`heal-bot completion`: the script that makes a shell complete verbs and options."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

# Where each shell looks for such a script when it starts.
_PLACES = {
    "bash": "~/.local/share/bash-completion/completions/heal-bot",
    "zsh": "a folder of $fpath, as _heal-bot",
    "fish": "~/.config/fish/completions/heal-bot.fish",
}


@click.command(
    "completion", epilog="  ".join(f"{shell}: {place}." for shell, place in _PLACES.items())
)
@click.argument("shell", type=click.Choice(list(_PLACES)))
@click.pass_context
def command(ctx: click.Context, shell: str) -> None:
    """Print the script that completes verbs, options and their values in a shell.

    Write it to where the shell looks for it, or load it now: eval "$(heal-bot completion bash)".
    """
    made = get_completion_class(shell)
    assert made is not None
    click.echo(made(ctx.find_root().command, {}, "heal-bot", "_HEAL_BOT_COMPLETE").source())
