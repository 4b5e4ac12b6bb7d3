"""The command line: verbs loaded by name, exit codes, and the one broad except."""

from __future__ import annotations

import importlib
import sys
import traceback

import click

from heal_bot.errors import HealBotError
from heal_bot.text import for_log, one_line

VERBS = {
    "heal": "Repair what a failed test run names, and write a bundle.",
    "publish": "Open or update the pull request of a bundle.",
    "apply": "Write the patch of a bundle into a working tree.",
    "verify": "Repeat the verification of a bundle, and say whether it comes out equal.",
    "plan": "Deal the failing tests of a report to the jobs of a matrix.",
    "merge": "Make one verified bundle of those of several jobs.",
    "explain": "Tell in words what a bundle holds.",
    "action": "Run as a GitHub Action: read the event, heal, publish.",
    "doctor": "Show what the sandbox of this machine holds.",
}


class Verbs(click.Group):
    """A group whose commands are imported when they are called: `--help` stays fast."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The verbs, in the order of the table."""
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of a verb; unknown ones are None."""
        if cmd_name not in VERBS:
            return None
        module = importlib.import_module(f"heal_bot.commands.{cmd_name}")
        command = module.command
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The verbs with their line from the table, without importing any of them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(VERBS.items()))


@click.group(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="heal-bot", prog_name="heal-bot")
def cli() -> None:
    """A failed test run goes in as JUnit XML; a small, verified change comes out."""


def main(argv: list[str] | None = None) -> None:
    """Run the command line and exit: 0 ran, 1 our failure, 2 usage, 3 bug, 130 interrupted."""
    sys.exit(_run(argv))


def _run(argv: list[str] | None) -> int:
    try:
        code = cli.main(argv, prog_name="heal-bot", standalone_mode=False)
    except click.exceptions.Exit as done:
        return done.exit_code
    except click.ClickException as error:
        error.show()
        return 2
    except HealBotError as error:
        click.echo(for_log(one_line(f"heal-bot: {error}", 2_000)), err=True)
        return error.exit_code
    except (KeyboardInterrupt, click.Abort):
        click.echo("heal-bot: interrupted", err=True)
        return 130
    except Exception:  # noqa: BLE001 - a bug must end with its own code and a way to report it
        click.echo("heal-bot: this is a bug; please report it with these lines:", err=True)
        traceback.print_exc()
        return 3
    return code if isinstance(code, int) else 0
