"""`heal-bot merge`: the bundles of several shards become one, verified as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from heal_bot.cli import shared_options
from heal_bot.cli.heal import stop_on_signals
from heal_bot.core.errors import UsageError

if TYPE_CHECKING:
    from heal_bot.core.outcome import OutcomeRecord


@click.command("merge")
@click.argument("bundles", nargs=-1, type=click.Path(path_type=Path))
@click.option("--repo", type=click.Path(path_type=Path), default=Path(), show_default="here",
              help="The repository at the commit that was healed.")  # fmt: skip
@click.option("--out", type=click.Path(path_type=Path), default=shared_options.BUNDLE,
              show_default=True, help="The bundle to write.")  # fmt: skip
@click.option(
    "--below",
    type=click.Path(path_type=Path, file_okay=False),
    help="Take every folder in this one as a BUNDLE too.",
)
@click.option("--python", type=click.Path(path_type=Path), help="The interpreter of the tests.")
@click.option("--max-minutes", type=float, help="When to end with what is verified (20).")
@shared_options.environment
@click.option("--build-hosts", metavar="LIST", help="As for `heal`.")
@shared_options.verbose
@click.option("--quiet", is_flag=True, help="Print only the summary.")
def command(
    bundles: tuple[Path, ...],
    repo: Path,
    out: Path,
    below: Path | None,
    python: Path | None,
    quiet: bool,
    verbose: bool,
    **options: object,
) -> None:
    """Verify the union of the patches of BUNDLES in cold runs, and write one bundle.

    A patch that breaks the others' tests, or that the repository does not confirm, is left out.
    A BUNDLE that is no bundle (its job failed) is told and passed over. Runs code in the sandbox.
    """
    from heal_bot import api, wiring
    from heal_bot.cli.console_output import choose_sink, print_closing
    from heal_bot.core import bundle, settings
    from heal_bot.repair.search.replay_proposer import Replay
    from heal_bot.report.failure_status import FAILING
    from heal_bot.wiring.proposers import CustomProposers

    bundle.check_writable(out)
    if below is not None:
        bundles += tuple(sorted(path for path in below.iterdir() if path.is_dir()))
    if not bundles:
        raise UsageError("no bundle is given: name their folders, or the folder above with --below")
    records = _records(bundles)
    red = {"fixed", *FAILING}
    tests = tuple(dict.fromkeys(f.test for r in records for f in r.failures if f.status in red))
    if not tests:
        raise UsageError(f"{bundles[0]} and the others name no failing test: nothing to merge")
    chosen = settings.from_process(None, {**options, "proposers": ("rules",)})
    own = CustomProposers(proposers=(Replay(records),), alone=True)
    if kept := bundle.set_aside(out):
        click.echo(f"heal-bot: the bundle in {out} is kept as {kept}", err=True)
    job = wiring.HealJob(repo=repo, python=python, only=tests, out=out)
    stopped = stop_on_signals()
    limits = chosen.max_minutes, chosen.max_usd
    with choose_sink(*limits, quiet=quiet, as_json=False, verbose=verbose) as sink:
        record = api.heal(job, chosen, sink, stopped, own)
    print_closing(record, str(out), verbose=verbose)


def _records(folders: Sequence[Path]) -> list[OutcomeRecord]:
    """The outcomes of the bundles, all about one commit."""
    from heal_bot.core import bundle

    found: list[OutcomeRecord] = []
    for folder in folders:
        try:
            found.append(bundle.read(folder))
        except UsageError as error:
            click.echo(f"heal-bot: left out: {error}", err=True)
    if not found:
        raise UsageError(f"none of the {len(folders)} folders is a bundle")
    commits = sorted({record.request.base_sha for record in found})
    if len(commits) > 1:
        raise UsageError(
            f"the bundles are about {len(commits)} commits, {commits[0][:12]} and "
            f"{commits[1][:12]} among them: merge those of one plan"
        )
    return found
