"""The command line: its verbs, exit codes, and the one broad except.

click takes longer to load than Python itself, so it is imported when there is something to parse.
"""

from __future__ import annotations

import os
import sys

from heal_bot.cli.verbs import usage


def main(argv: list[str] | None = None) -> None:
    """Run the command line and exit: 0 ran, 1 our failure, 2 usage, 3 bug, 130 interrupted."""
    sys.exit(_run(sys.argv[1:] if argv is None else argv))


def _run(argv: list[str]) -> int:
    if argv in (["--help"], ["-h"]):
        sys.stdout.write(usage() + "\n")
        return 0
    try:
        return _called(argv) if argv != ["action"] or _opened() else 0
    except KeyboardInterrupt:
        sys.stderr.write("heal-bot: interrupted\n")
        return 130
    except Exception as error:  # noqa: BLE001 - a bug must end with its own code and a report
        return _failed(error)
    finally:
        _give_back(os.environ.get("GITHUB_WORKSPACE", ""))


def _give_back(workspace: str) -> None:
    """Let later steps of the job change what a verb wrote as root, in a container of its own."""
    from pathlib import Path

    folder = Path(workspace, ".heal-bot")
    if workspace and os.geteuid() == 0 and folder.is_dir() and not folder.is_symlink():
        from heal_bot.github.actions_runner import give_back

        give_back(folder, Path(workspace))


def _opened() -> bool:
    """Whether an event of the container's entry may ask for something."""
    from heal_bot.action import event_file

    return event_file.admits_entry()


def _called(argv: list[str]) -> int:
    import click

    from heal_bot.cli.command_group import cli

    try:
        code = cli.main(argv, prog_name="heal-bot", standalone_mode=False)
    except click.exceptions.Exit as done:
        return done.exit_code
    except click.ClickException as error:
        error.show()
        return 2
    except click.Abort:
        raise KeyboardInterrupt from None
    return code if isinstance(code, int) else 0


def _failed(error: Exception) -> int:
    """Say what ended the run, on one line where it was expected."""
    import traceback

    import click

    from heal_bot.core.errors import HealBotError, no_room
    from heal_bot.core.text import for_log, one_line

    if isinstance(error, OSError):
        error = no_room(error) or error
    if isinstance(error, HealBotError):
        click.echo(for_log(one_line(f"heal-bot: {error}", 2_000)), err=True)
        return error.exit_code
    click.echo("heal-bot: this is a bug; please report it with these lines:", err=True)
    traceback.print_exception(error)
    return 3
