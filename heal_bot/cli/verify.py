"""`heal-bot verify`: the verification of a bundle, repeated."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from heal_bot.cli import shared_options
from heal_bot.core.errors import UsageError
from heal_bot.core.text import for_log, one_line

if TYPE_CHECKING:
    from heal_bot.core.model import RunHints
    from heal_bot.core.outcome import OutcomeRecord
    from heal_bot.verification.bundle_replay import Row


@click.command("verify")
@shared_options.bundle
@click.option(
    "--repo",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path(),
    show_default="here",
    help="A git repository that holds the commit of the bundle; its working tree is not read.",
)
@click.option("--python", type=click.Path(path_type=Path), help="The interpreter of the tests.")
@click.option("--max-minutes", type=float, help="When to give up (20).")
@shared_options.environment
@click.option("--quiet", is_flag=True, help="Print only the comparison.")
@click.pass_context
def command(
    context: click.Context,
    /,
    folder: Path,
    repo: Path,
    python: Path | None,
    quiet: bool,
    **options: object,
) -> None:
    """Repeat the verification of a bundle here, and say whether it comes out equal.

    The patch is put into a fresh checkout of the commit it names, and baseline and confirmation
    run as they did the first time. The exit code is 0 when every fact is equal and 1 when one is
    not; another Python or isolation is said and does not count.
    """
    from heal_bot import wiring
    from heal_bot.cli.console_output import print_events
    from heal_bot.core import bundle, settings
    from heal_bot.core.model import Suite
    from heal_bot.source.workflow_files import select_known
    from heal_bot.verification.bundle_replay import replay_bundle

    record = bundle.read(folder)
    if record.patch is None and record.suggestion is not None:
        click.echo("nothing to verify: the bundle holds a suggestion and no patch")
        return
    if record.patch is None:
        raise UsageError(f"{folder} holds no patch: the run ended as {record.status}")
    chosen = settings.from_process(None, options)
    sink, sha = (lambda event: None) if quiet else print_events(), record.patch.base_sha
    with wiring.open_bench(repo, python, chosen, sink, sha, _hints(record)) as made:
        env = made.env
        if record.certificate:
            # A bundle may be forged: only what the checkout has itself is taken from it.
            told, tree = record.certificate.environment, made.tree
            doctests = tuple(path for path in told.doctests if path in tree.paths())
            variables = select_known(tree, told.variables)
            suite = Suite(one_line(chosen.test_command, 80))
            env = replace(env, doctests=doctests, variables=variables, suite=suite)
        made.runner.preflight(made.run, env)
        rows = replay_bundle(replace(made, env=env), record)
    for row in rows:
        click.echo(for_log(_line(row)))
    equal = all(row.equal for row in rows if row.counts)
    click.echo(
        "equal: the verification was repeated with the same result" if equal else "NOT equal"
    )
    context.exit(0 if equal else 1)


def _hints(record: OutcomeRecord) -> RunHints:
    """pytest and the plugins of our own list that were added to the environment.

    A bundle may be forged: what else it names is not installed here.
    """
    from heal_bot.core.model import RunHints
    from heal_bot.verification import missing_plugins

    added = record.certificate.environment.added if record.certificate else ()
    names = [package.partition(" ")[0] for package in added]
    return RunHints(plugins=(*missing_plugins.select_known(names), *{"pytest"}.intersection(names)))


def _line(row: Row) -> str:
    claimed, found = one_line(row.claimed, 200), one_line(row.found, 200)
    if row.equal:
        return f"  equal    {row.name}: {found or 'none'}"
    mark = "DIFFERS  " if row.counts else "elsewhere"
    return f"  {mark} {row.name}: claimed {claimed or 'nothing'}, found {found or 'nothing'}"
