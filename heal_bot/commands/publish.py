"""`heal-bot publish`: a bundle in, a pull request out."""

from __future__ import annotations

from pathlib import Path

import click

from heal_bot import bundle, settings
from heal_bot.errors import ForgeError, UsageError
from heal_bot.events import Run
from heal_bot.forge.pulls import GitHub
from heal_bot.model import HealRequest
from heal_bot.publish import Published, publish
from heal_bot.report import console
from heal_bot.text import for_log, one_line


@click.command("publish")
@click.option(
    "--bundle",
    "folder",
    type=click.Path(path_type=Path),
    required=True,
    metavar="DIR",
    help="What `heal-bot heal --out` wrote.",
)
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
    help="The branch to target; by default the repository's default branch.",
)
@click.option("--retry", is_flag=True, help="Propose again what people closed.")
@click.option(
    "--claimed", is_flag=True, help="Say that only an unprivileged run stands behind the bundle."
)
def command(
    folder: Path, repo: str | None, base_sha: str, base_ref: str, retry: bool, claimed: bool
) -> None:
    """Open or update the pull request of a bundle, with the token in GITHUB_TOKEN.

    The bundle is believed in nothing that the repository can say: the change is recomputed from
    the commit, and refused when it is more than the functions it names.
    """
    record = bundle.read(folder)
    chosen = settings.from_process(None, {})
    name = repo or chosen.github_repository
    if not name:
        raise UsageError("no repository is given; set GITHUB_REPOSITORY or --repo owner/name")
    forge = GitHub.open(chosen.github_token, chosen.github_api_url, name)
    request = HealRequest(name, base_sha, base_ref, verb="retry" if retry else "heal")
    run = Run(lambda event: click.echo(console.line(event), err=True))
    done = publish(run, record, request, forge, claimed=claimed)
    click.echo(told(done))
    if done.status == "refused":
        raise ForgeError("the bundle was refused; nothing was written")


def told(done: Published) -> str:
    """The result as one line."""
    where = f" {done.url}" if done.url else ""
    return for_log(f"{done.status}:{where} ({one_line(done.reason, 500)})")
