"""`heal-bot apply`: the patch of a bundle into a working tree."""

from __future__ import annotations

import os
import secrets
import stat
from pathlib import Path
from typing import TYPE_CHECKING

import click

from heal_bot.cli import shared_options
from heal_bot.core.errors import UsageError
from heal_bot.core.text import for_log
from heal_bot.source.edit import blob_id

if TYPE_CHECKING:
    from heal_bot.core.outcome import FileRecord

_MAX_BYTES = 4 << 20


@click.command("apply")
@shared_options.bundle
@click.option(
    "--repo",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path(),
    show_default="here",
    help="The working tree to change.",
)
@click.option("--force", is_flag=True, help="Overwrite files that changed since.")
def command(folder: Path, repo: Path, force: bool) -> None:
    """Write the verified patch of a bundle into a working tree.

    All files are checked before the first is written; each is replaced as a whole.
    """
    from heal_bot.core import bundle

    record = bundle.read(folder)
    if record.patch is None:
        click.echo(for_log(f"nothing to apply: the run ended as {record.status}"))
        if record.suggestion is not None:
            click.echo(
                for_log(f"a suggestion is no repair: git apply {folder / 'suggestion.diff'}")
            )
        click.echo(for_log(f"next: heal-bot explain {folder}"))
        return
    files = [(file, _plain(repo, file)) for file in record.patch.files]
    checked = [(file, path, _is_due(file, path, force)) for file, path in files]
    for file, path, due in checked:
        if due:
            _replace(path, file.content.encode("utf-8", "surrogatepass"))
        click.echo(for_log(f"{'changed' if due else 'unchanged'} {file.path}"))
    click.echo("next: look at it with git diff, run the tests, and commit it")


def _plain(repo: Path, file: FileRecord) -> Path:
    """The place of a file below the tree, never through a link; UsageError for any other."""
    from heal_bot.source import patch_policy

    parts = file.path.split("/")
    if any(part in {"", ".", "..", ".git"} or "\0" in part for part in parts):
        raise UsageError(f"{file.path[:200]!r} is no path of a working tree")
    if patch_policy.is_protected(file.path) or patch_policy.is_test(file.path):
        raise UsageError(f"{file.path} is never changed: it belongs to tests, build or settings")
    path = repo.resolve()
    for place, part in enumerate(parts):
        path = path / part
        try:
            mode = path.lstat().st_mode
        except OSError as error:
            raise UsageError(f"{path}: {error.strerror}; is --repo the right folder?") from error
        wanted = stat.S_ISREG if place == len(parts) - 1 else stat.S_ISDIR
        if not wanted(mode):
            raise UsageError(f"{path} is a link or no plain file; it is not written through")
    return path


def _is_due(file: FileRecord, path: Path, force: bool) -> bool:
    """Whether the file is to be written; UsageError when it is neither old nor already patched."""
    fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    with os.fdopen(fd, "rb") as opened:
        data = opened.read(_MAX_BYTES)
    blob = blob_id(data, file.base_blob)
    if data == file.content.encode("utf-8", "surrogatepass"):
        return False
    if blob != file.base_blob and not force:
        raise UsageError(
            f"{path} changed since the run (blob {blob[:12]}, expected {file.base_blob[:12]});"
            " heal again, or overwrite it with --force"
        )
    return True


def _replace(path: Path, data: bytes) -> None:
    """Write beside and rename, so that a reader sees the old or the new file; the mode stays."""
    beside = path.with_name(f".{path.name}.{secrets.token_hex(6)}")
    mode = stat.S_IMODE(path.lstat().st_mode)
    fd = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    try:
        with os.fdopen(fd, "wb") as file:
            file.write(data)
        beside.chmod(mode)
        beside.rename(path)
    finally:
        beside.unlink(missing_ok=True)
