"""`heal-bot publish`: a bundle in, a pull request out."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from heal_bot.cli import shared_options
from heal_bot.core.errors import ForgeError, UsageError
from heal_bot.core.text import for_log, one_line
from heal_bot.publish.delivery_options import MODES, WHEN, Options

if TYPE_CHECKING:
    from heal_bot.core.events import Run
    from heal_bot.core.model import HealRequest
    from heal_bot.github.pulls import GitHub
    from heal_bot.publish.delivery_options import Published


@click.command("publish")
@shared_options.bundle
@click.option("--repo", metavar="OWNER/NAME", help="The repository; by default GITHUB_REPOSITORY.")
@click.option(
    "--base-sha",
    default="",
    metavar="SHA",
    help="The commit that was healed; by default the branch's newest.",
)
@click.option(
    "--base-ref",
    default="",
    metavar="BRANCH",
    help="The branch to target; by default with --base-sha that of the workflow's run, else the"
    " repository's default branch.",
)
@click.option(
    "--pull",
    type=click.IntRange(min=1),
    help="The pull request whose head was healed; one from a fork gets a comment alone.",
)
@click.option(
    "--mode", type=click.Choice(MODES), default=MODES[0], show_default=True, help="How to deliver."
)
@click.option(
    "--pull-requests",
    type=click.Choice(WHEN),
    default="auto",
    show_default=True,
    help="When a red pull request gets a proposal; whoever calls this by hand wants one.",
)
@click.option("--labels", envvar="HEAL_BOT_LABELS", default="", help="As the action's input.")
@click.option("--reviewers", envvar="HEAL_BOT_REVIEWERS", default="", help="As the action's input.")
@click.option("--assignees", envvar="HEAL_BOT_ASSIGNEES", default="", help="As the action's input.")
@click.option("--retry", is_flag=True, help="Propose again what people closed.")
@click.option(
    "--claimed", is_flag=True, help="Say that only an unprivileged run stands behind the bundle."
)
def command(
    folder: Path,
    repo: str | None,
    base_sha: str,
    base_ref: str,
    pull: int | None,
    mode: str,
    pull_requests: str,
    labels: str,
    reviewers: str,
    assignees: str,
    retry: bool,
    claimed: bool,
) -> None:
    """Open or update the pull request of a bundle, with the token in GITHUB_TOKEN.

    The bundle is believed in nothing that the repository can say: the change is recomputed from
    the commit, and refused when it is more than the functions it names.
    """
    from heal_bot.cli.console_output import print_events
    from heal_bot.core import bundle, settings
    from heal_bot.core.events import Run
    from heal_bot.core.model import HealRequest
    from heal_bot.publish.publishing import publish

    record = bundle.read(folder)
    # What `verify` repeats is the patch: what it does not repeat is left out, alone it is claimed.
    claimed = claimed or record.patch is None
    if not claimed:
        unseen = {"suggestion": None, "regression": None, "inferred": (), "not_shown": ()}
        record = record.model_copy(update=unseen)
    chosen = settings.from_process(None, {})
    name = repo or chosen.github_repository
    if not name:
        raise UsageError("no repository is given; set GITHUB_REPOSITORY or --repo owner/name")
    forge = shared_options.open_repository(chosen, name)
    run = Run(print_events(err=True))
    named = bool(base_ref)
    if base_sha and not base_ref:
        base_ref = chosen.github_ref_name
    request = HealRequest(name, base_sha, base_ref, verb="retry" if retry else "heal")
    if pull is not None:
        request = _of_pull(run, request, forge, pull)
    options = Options(
        mode=mode,
        labels=settings.split_list(labels),
        reviewers=settings.split_list(reviewers),
        pull_requests=pull_requests,
        base=base_ref if named else "",
        assignees=settings.split_list(assignees),
    )
    done = publish(run, record, request, forge, options, claimed=claimed)
    click.echo(describe_result(done))
    if done.status == "refused":
        raise ForgeError("the bundle was refused; nothing was written")


def _of_pull(run: Run, request: HealRequest, forge: GitHub, number: int) -> HealRequest:
    """The request with what GitHub says of a pull request, fork or not."""
    found = forge.pull(run, number)
    if found is None:
        raise UsageError(f"--pull {number}: {forge.repo} has no such pull request")
    return replace(
        request,
        base_sha=request.base_sha or found.head_sha,
        base_ref=found.head_ref,
        head_repo=found.head_repo or "deleted/fork",
        pull_number=number,
    )


def describe_result(done: Published) -> str:
    """The result as one line."""
    where = f" {done.url}" if done.url else ""
    return for_log(f"{done.status}:{where} ({one_line(done.reason, 500)})")
