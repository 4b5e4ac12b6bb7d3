"""The Actions runner's interface: inputs, file commands, workflow commands."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Mapping
from pathlib import Path

from heal_bot.core.errors import ForgeError
from heal_bot.core.text import Secret, for_command, printable

_PREFIX = "INPUT_"


def inputs(environ: Mapping[str, str]) -> dict[str, str]:
    """The action's inputs by name; the runner upper-cases names and keeps their hyphens.

    Inputs that were not given arrive as empty text and are left out.
    """
    return {
        name.removeprefix(_PREFIX).lower(): value.strip()
        for name, value in environ.items()
        if name.startswith(_PREFIX) and value.strip()
    }


def command(name: str, value: str = "", **properties: str) -> str:
    """A workflow command as one line."""
    given = ",".join(f"{key}={for_command(v, prop=True)}" for key, v in properties.items() if v)
    return f"::{name}{' ' if given else ''}{given}::{for_command(value)}"


def masks(values: tuple[Secret, ...]) -> tuple[str, ...]:
    """The commands that hide secrets from the log, one per line of each."""
    lines = (line for value in values for line in value.reveal().splitlines())
    return tuple(f"::add-mask::{for_command(line)}" for line in lines if len(line.strip()) >= 4)


def annotation(level: str, title: str, message: str) -> str:
    """A notice, warning or error for the run's page, within the runner's 4,096 characters."""
    return command(level, printable(message)[:3_000], title=printable(title)[:200])


def pause() -> tuple[str, str]:
    """The commands around foreign output: in between the runner obeys nothing."""
    word = secrets.token_hex(16)
    return f"::stop-commands::{word}", f"::{word}::"


def write_outputs(path: Path, values: Mapping[str, str]) -> None:
    """Append outputs to the runner's file; no value can end its block early."""
    parts = []
    for name, value in values.items():
        word = f"end-{secrets.token_hex(16)}"
        parts.append(f"{name}<<{word}\n{value}\n{word}\n")
    _append(path, "".join(parts))


def write_summary(path: Path, text: str) -> None:
    """Append to the step summary."""
    _append(path, text + "\n")


def tell(environ: Mapping[str, str], outputs: Mapping[str, str], text: str) -> None:
    """Write outputs and step summary, where there is a runner that takes them."""
    if path := environ.get("GITHUB_OUTPUT"):
        write_outputs(Path(path), outputs)
    if path := environ.get("GITHUB_STEP_SUMMARY"):
        write_summary(Path(path), text)


def give_back(folder: Path, like: Path) -> None:
    """Let the owner of `like` own the folder and all in it; links are not followed."""
    owner = like.stat()
    if os.geteuid() != 0 or owner.st_uid == 0:
        return
    for path in (folder, *folder.rglob("*")):
        os.chown(path, owner.st_uid, owner.st_gid, follow_symlinks=False)


def _append(path: Path, text: str) -> None:
    """Append to a regular file that the runner made; never through a link."""
    try:
        fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW, 0o644)
        with os.fdopen(fd, "a", encoding="utf-8", errors="replace") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise ForgeError(f"{path} is not a regular file")
            file.write(text)
    except OSError as error:
        raise ForgeError(f"cannot write {path}: {error.strerror}") from error
