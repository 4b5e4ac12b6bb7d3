"""`heal-bot heal`: a failed run in, a bundle out."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from heal_bot.cli import shared_options

if TYPE_CHECKING:
    from heal_bot.core.errors import HealBotError
    from heal_bot.core.outcome import OutcomeRecord
    from heal_bot.core.settings import Settings
    from heal_bot.wiring.proposers import CustomProposers

# With --exit-code: how a run ends that leaves nothing to do, and the code of all others.
_FINE = frozenset({"healed", "nothing_to_do"})
_UNHEALED = 4


@click.command("heal")
@click.argument("reports", nargs=-1, metavar="[GLOB]...")
@click.option(
    "--repo",
    type=click.Path(path_type=Path),
    default=Path(),
    show_default="here",
    help="The git repository whose tests fail.",
)
@click.option(
    "--junit",
    multiple=True,
    metavar="GLOB",
    help="The same as GLOB; repeatable.",
)
@click.option(
    "--python",
    type=click.Path(path_type=Path),
    help="Interpreter or environment of the tests; by default $VIRTUAL_ENV, .venv or venv.",
)
@click.option("--python-version", metavar="3.N", help="Build a new environment with this Python.")
@click.option(
    "--setup", metavar="TEXT", help="Build one with these packages, in the syntax of `pip install`."
)
@click.option(
    "--freeze",
    metavar="GLOB",
    help="Build one with the versions in the output of `pip freeze`; several files must be equal.",
)
@click.option(
    "--test-command",
    metavar="TEXT",
    help="pytest with options, or what runs the tests instead: tox, manage.py test, a script.",
)
@click.option(
    "--build-hosts",
    metavar="LIST",
    help="Hosts that may be reached over https while packages without a wheel are built; none by"
    " default.",
)
@click.option(
    "--working-directory",
    metavar="DIR",
    help="Folder of the project in a monorepo, relative to the repository root.",
)
@click.option(
    "--proposers",
    metavar="LIST",
    help="Tiers in order: rules,claude,gemini,openai. By default rules and every model"
    " whose key is set.",
)
@click.option(
    "--model", metavar="NAME", help="The model; with several model tiers claude=NAME,gemini=NAME."
)
@click.option("--only", multiple=True, metavar="ID", help="Heal only these tests; repeatable.")
@click.option(
    "--good",
    metavar="REF",
    default="",
    help="A commit, branch or tag where the tests passed; by default older commits are tried.",
)
@click.option("--target", multiple=True, metavar="PATH::NAME", help="A function to suspect first.")
@click.option(
    "--out",
    "--bundle",
    "out",
    type=click.Path(path_type=Path),
    default=shared_options.BUNDLE,
    show_default=True,
    help="The bundle to write.",
)
@click.option("--instruction", help="A hint for the models, in plain words.")
@click.option(
    "--max-minutes",
    type=float,
    help="Time limit; ends with what is verified so far (20).",
)
@click.option("--max-usd", type=float, help="Spending limit for models in US dollars (1).")
@click.option("--max-attempts", type=int, help="Most model attempts for each cause (10).")
@click.option(
    "--min-confidence",
    type=float,
    help="Probability from which a patch of the rules is the repair (0.9).",
)
@click.option("--candidates", type=int, help="Model answers to sample and compare, 1 to 3 (1).")
@click.option(
    "--sandbox",
    type=click.Choice(["strict", "reduced"]),
    help="What to do if the kernel lacks a layer of isolation (strict: refuse).",
)
@click.option(
    "--loopback",
    is_flag=True,
    help="Let tests connect to servers in other processes; the outcome then says `reduced`.",
)
@click.option(
    "--request",
    "request_file",
    type=click.Path(path_type=Path),
    help="A request as `heal-bot action` writes it.",
)
@click.option("--config", type=click.Path(path_type=Path), help="A settings file.")
@click.option("--memory", type=click.Path(path_type=Path), help="A memory file, read and updated.")
@click.option(
    "--resume",
    type=click.Path(path_type=Path),
    help="Bundle of an interrupted run: its patch is verified again, and what it tried is not"
    " tried again.",
)
@click.option(
    "--replies",
    type=click.Path(path_type=Path),
    help="File that keeps model answers which fixed something: SQLite, or records in a .jsonl.",
)
@click.option(
    "--secrets-stdin", is_flag=True, hidden=True, help="Read the keys from standard input."
)
@shared_options.verbose
@click.option("--quiet", is_flag=True, help="Print only the summary.")
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Print events as JSON lines, the outcome last.",
)
@click.option(
    "--exit-code",
    is_flag=True,
    help="Exit with 4 unless every failing test is fixed or nothing failed.",
)
def command(
    reports: tuple[str, ...],
    repo: Path,
    junit: tuple[str, ...],
    python: Path | None,
    only: tuple[str, ...],
    good: str,
    target: tuple[str, ...],
    out: Path,
    request_file: Path | None,
    config: Path | None,
    memory: Path | None,
    resume: Path | None,
    replies: Path | None,
    secrets_stdin: bool,
    quiet: bool,
    as_json: bool,
    verbose: bool,
    exit_code: bool,
    **options: object,
) -> None:
    """Repair the failing tests of a run, and write a bundle.

    GLOB names the JUnit XML of the failed run, relative to here or to the repository. Without it,
    the tests run first to see what fails.

    The patch in the bundle was verified by running the whole suite in a fresh checkout. Finding no
    patch is a result too: the exit code is 0, or 4 with --exit-code, and the bundle says why.
    """
    # Help and completion come from this module too, and need nothing of what heals.
    from heal_bot.action import secret_vault
    from heal_bot.core import settings
    from heal_bot.core.errors import BudgetError, ProvisionError, SandboxError
    from heal_bot.sandbox.sandbox_client import launch_sandbox

    chosen = settings.from_process(
        config, options, secret_vault.receive_secrets() if secrets_stdin else {}
    )
    stopped = stop_on_signals()
    try:
        with launch_sandbox(chosen) as launch:
            # All that heals is loaded while the supervisor starts.
            from heal_bot import api, wiring
            from heal_bot.cli.console_output import choose_sink
            from heal_bot.core import bundle

            bundle.check_writable(out)
            job = wiring.HealJob(
                repo=repo, junit=(*reports, *junit), python=python, only=only, good=good,
                targets=target, out=out, request_file=request_file, memory=memory, replies=replies,
            )  # fmt: skip
            own = _resumed(resume)
            limits = chosen.max_minutes, chosen.max_usd
            shown = choose_sink(*limits, quiet=quiet, as_json=as_json, verbose=verbose)
            with bundle.replace_bundle(out) as kept, shown as sink:
                record = api.heal(job, chosen, sink, stopped, own, launch)
            if kept is not None:
                click.echo(f"heal-bot: the former bundle is kept as {kept}", err=True)
    except (BudgetError, ProvisionError, SandboxError) as error:
        if request_file is None:
            raise
        record = _ended(request_file, out, chosen, error)
    _tell(record, out, as_json=as_json, verbose=verbose)
    if record.choices and not (as_json or quiet):
        _ask(record, repo)
    if exit_code and record.status not in _FINE:
        raise click.exceptions.Exit(_UNHEALED)


def _ended(request_file: Path, out: Path, chosen: Settings, error: HealBotError) -> OutcomeRecord:
    """The bundle of a request for which nothing could be started: whoever asked reads it there."""
    from heal_bot import api
    from heal_bot.core import request_file as requests

    return api.write_broken_bundle(requests.load(request_file), out, chosen, error)


def _tell(record: OutcomeRecord, out: Path, *, as_json: bool, verbose: bool) -> None:
    """The closing lines, for a person or a program."""
    from heal_bot.cli import console_output

    if as_json:
        console_output.print_outcome(record, str(out))
    else:
        console_output.print_closing(record, str(out), verbose=verbose)


def _ask(record: OutcomeRecord, repo: Path) -> None:
    """Ask a person at a terminal which change is right, and apply it; Enter leaves it open."""
    from heal_bot.cli.apply import apply_choice

    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return
    signal.signal(signal.SIGINT, signal.default_int_handler)
    names = [choice.id for choice in record.choices]
    wanted = f"Apply {' or '.join(names)}? Enter to decide later"
    known = click.Choice([*names, ""], case_sensitive=False)
    try:
        pick = click.prompt(wanted, type=known, default="", show_default=False, show_choices=False)
    except click.Abort:
        click.echo()
        return
    if pick:
        apply_choice(record, pick, repo)


def _resumed(folder: Path | None) -> CustomProposers:
    """What a bundle brings: its patch before all search, and its memory. Both are judged anew."""
    from heal_bot.core import bundle
    from heal_bot.repair.search import attempt_history as memories
    from heal_bot.repair.search.replay_proposer import Replay
    from heal_bot.wiring.proposers import NOTHING, CustomProposers

    if folder is None:
        return NOTHING
    record = bundle.read(folder)
    return CustomProposers(first=(Replay([record]),), before=memories.load_record(record.memory))


def stop_on_signals() -> Callable[[], bool]:
    """Whether the user asked to end; the first signal ends the search, the second the program."""
    asked: list[int] = []

    def note(number: int, frame: object) -> None:
        if asked:
            raise KeyboardInterrupt
        asked.append(number)
        # Through sys.stderr, which a status line on the terminal stands in for.
        sys.stderr.write("heal-bot: stopping with what is verified; press Ctrl-C again to quit\n")

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, note)
    return lambda: bool(asked)
