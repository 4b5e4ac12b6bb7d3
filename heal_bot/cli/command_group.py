"""The group of all verbs: each is imported by its name when it is called."""

from __future__ import annotations

import importlib

import click
from click.shell_completion import CompletionItem

from heal_bot.cli.verbs import VERBS, usage


class Verbs(click.Group):
    """A group whose commands are imported when they are called, so that others stay fast."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The verbs, in the order of the table."""
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of a verb; unknown ones are None."""
        if cmd_name not in VERBS:
            return None
        name = "action.entry" if cmd_name == "action" else f"cli.{cmd_name}"
        module = importlib.import_module(f"heal_bot.{name}")
        command = module.command
        assert isinstance(command, click.Command)
        return command

    def get_help(self, ctx: click.Context) -> str:
        """The one text of help."""
        return usage()

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Verbs from the table, without importing any of them; the group's options otherwise."""
        if incomplete.startswith("-"):
            return super().shell_complete(ctx, incomplete)
        found = [verb for verb in VERBS if verb.startswith(incomplete)]
        return [CompletionItem(verb, help=VERBS[verb]) for verb in found]


@click.group(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="heal-bot", prog_name="heal-bot")
def cli() -> None:
    """The whole command line."""
