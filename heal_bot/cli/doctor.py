"""`heal-bot doctor`: what isolation this machine offers, and what a repository allows."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from pathlib import Path

import click

from heal_bot.cli import shared_options
from heal_bot.core.errors import SandboxError
from heal_bot.core.model import Isolation

_LAYERS = {
    "rlimits": "limits the time, memory, files and processes of each program",
    "environment": "passes on only the variables that are listed",
    "uid": "gives each slot its own user, so that all its processes can be killed at once",
    "no_new_privs": "set-uid programs gain no privileges",
    "landlock": "allows only the scratch folders and the system's own files",
    "seccomp": "allows no sockets beyond the process, tracing, namespaces or kernel extras",
    "supervisor": "watches memory, disk, output and time; kills what exceeds its limits",
}


@click.command(name="doctor")
@click.option("--python", "python", type=click.Path(), help="The interpreter to try inside.")
@click.option(
    "--mode", type=click.Choice(["strict", "reduced"]), default="strict", show_default=True
)
@click.option(
    "--repo",
    metavar="OWNER/NAME",
    help="Also ask GitHub, with GITHUB_TOKEN, whether workflows may open pull requests there.",
)
def command(python: str | None, mode: str, repo: str | None) -> None:
    """Show which isolation holds on this machine, tested from inside the sandbox."""
    if repo is not None:
        click.echo(check_repository(repo))
    from heal_bot.sandbox import preflight
    from heal_bot.sandbox.sandbox_client import Sandbox

    interpreter = str(Path(python).absolute()) if python else _system_python()
    with Sandbox.start("strict" if mode == "strict" else "reduced", slots=1) as sandbox:
        isolation = preflight.run_self_test(sandbox, interpreter, {}, _roots(interpreter))
        loopback = sandbox.layers.no_loopback(mode) or sandbox.layers.loopback_gap()
    _print(isolation, interpreter, loopback)


def check_repository(name: str) -> str:
    """Whether workflows of a repository may open pull requests, and where that is set."""
    from heal_bot.core import settings
    from heal_bot.core.events import Run
    from heal_bot.github.client import ALLOW_PULLS

    chosen = settings.from_process(None, {})
    if not chosen.github_token:
        return (
            f"{name}: GITHUB_TOKEN is empty; give that of somebody who administers the repository"
            " (a fine-grained one needs Administration: read)"
        )
    forge = shared_options.open_repository(chosen, name)
    allowed = forge.may_actions_propose(Run(lambda event: None))
    if allowed:
        return f"{name}: workflows may open pull requests"
    if allowed is None:
        return (
            f"{name}: this token may not read whether workflows may open pull requests; give that"
            " of somebody who administers the repository"
        )
    return f"{name}: workflows may not open pull requests: {ALLOW_PULLS}"


def _system_python() -> str:
    """An interpreter that every user can read: the one of the system, or our own."""
    found = shutil.which("python3", path="/usr/bin:/usr/local/bin") or sys.executable
    if not found:
        raise SandboxError("no python3 in /usr/bin or /usr/local/bin; name one with --python")
    return found


def _roots(python: str) -> tuple[Path, ...]:
    """The folders an interpreter outside the system's own needs: its prefix and its target's."""
    own = Path(python).parent.parent
    real = Path(python).resolve().parent.parent
    return tuple(
        folder
        for folder in dict.fromkeys((own, real))
        if not str(folder).startswith("/usr") and folder != Path("/")
    )


def describe_layer(layer: str) -> tuple[str, str, str]:
    """The row of a layer that holds: its name, `yes`, and what it does."""
    name, _, detail = layer.partition(" ")
    if name == "preflight":
        blocked, _, tried = detail.partition("/")
        return name, "yes", f"{blocked} of {tried} escape attempts blocked"
    return layer, "yes", _LAYERS.get(name.partition("-")[0], "")


def _print(isolation: Isolation, python: str, loopback: str) -> None:
    """The table; `loopback` is what is wrong with local servers here, or nothing."""
    from rich.console import Console
    from rich.table import Table

    console = Console()
    table = Table(title=f"heal-bot sandbox: {isolation.mode}")
    table.add_column("layer")
    table.add_column("holds")
    table.add_column("what it does")
    for layer in isolation.layers:
        table.add_row(*describe_layer(layer))
    for gap in isolation.missing:
        name, _, reason = gap.partition(": ")
        table.add_row(name, "no", reason)
    local = (
        loopback
        or "servers in other processes can be reached; those in the test's own process always can"
    )
    table.add_row("--loopback", "no" if loopback else "yes", local)
    console.print(table)
    user = "root" if os.geteuid() == 0 else f"uid {os.geteuid()}"
    console.print(
        f"Linux {platform.release()}, started as {user}; interpreter inside: {python}",
        highlight=False,
    )
    step = (
        "run heal-bot's container for the layers that are missing, or trust the code and heal"
        " with --sandbox reduced"
        if isolation.missing
        else "heal-bot heal junit.xml   in the repository whose tests are red"
    )
    console.print(f"next: {step}", highlight=False, soft_wrap=True)
