"""`heal-bot apply`: a change of a bundle into a working tree."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from heal_bot.cli import shared_options
from heal_bot.core.errors import UsageError
from heal_bot.core.statuses import MENDING
from heal_bot.core.text import for_log, one_line
from heal_bot.source.edit import blob_id
from heal_bot.source.unified_diff import DiffError, apply_diff, parse_diff

if TYPE_CHECKING:
    from heal_bot.core.outcome import AttemptRecord, FileRecord, OutcomeRecord, PatchRecord

_MAX_BYTES = 4 << 20


@dataclass(frozen=True, slots=True)
class _Change:
    """What a file is to hold; None where it holds that already."""

    path: Path
    name: str
    data: bytes | None


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
@click.option(
    "--attempt",
    type=click.IntRange(min=1),
    metavar="N",
    help="Apply this attempt instead of the verified patch; nothing vouches for it.",
)
@click.option(
    "--pick",
    metavar="A|B",
    help="Apply this choice of a run that ended with a question.",
)
def command(folder: Path, repo: Path, force: bool, attempt: int | None, pick: str | None) -> None:
    """Write the verified patch of a bundle into a working tree.

    All files are checked before the first is written; each is replaced as a whole.
    """
    from heal_bot.core import bundle

    record = bundle.read(folder)
    if attempt is not None and pick is not None:
        raise UsageError("--attempt and --pick name two changes; give one of them")
    if pick is not None:
        apply_choice(record, pick, repo, force=force)
    elif attempt is not None:
        chosen = shared_options.select_attempt(record, attempt)
        _warn(chosen)
        try:
            _write(_of_attempt(repo, chosen))
        except (DiffError, UnicodeDecodeError) as error:
            raise UsageError(
                f"attempt {attempt} cannot be applied: {error}; the bundle is about commit"
                f" {record.request.base_sha[:12]}; heal-bot explain {folder} --attempt {attempt}"
                " shows it"
            ) from error
    elif record.patch is not None:
        _write(_of_patch(repo, record.patch, force))
    else:
        _explain_nothing(record, folder)


def apply_choice(record: OutcomeRecord, pick: str, repo: Path, *, force: bool = False) -> None:
    """Write a choice into a working tree, and tell the test that would hold the answer."""
    from heal_bot.report.deciding_question import list_answers

    choice = shared_options.select_choice(record, pick)
    _write(_of_patch(repo, choice.patch, force))
    for answer in list_answers(record):
        if answer.choice == choice and answer.test:
            click.echo(for_log(f"keep the answer as a test: {answer.test}"))


def _warn(attempt: AttemptRecord) -> None:
    """Say what came of an attempt that makes no failing test pass, or did not hold."""
    from heal_bot.report.status_sentences import describe_verdict

    if attempt.word not in MENDING:
        told = f"{describe_verdict(attempt)}: {one_line(attempt.detail, 300)}".removesuffix(": ")
        click.echo(for_log(f"warning: attempt {attempt.number} {told}"))


def _write(changes: Iterable[_Change]) -> None:
    """Write the files once all of them are known to be what they should; the next step."""
    known = list(changes)
    for change in known:
        if change.data is not None:
            _replace(change.path, change.data)
        done = "already applied" if change.data is None else "changed"
        click.echo(for_log(f"{done}: {change.name}"))
    if any(change.data is not None for change in known):
        click.echo("next: review it with git diff, run the tests, and commit it")


def _explain_nothing(record: OutcomeRecord, folder: Path) -> None:
    """Say that there is no verified patch, and what may be taken instead."""
    from heal_bot.report import causes
    from heal_bot.report.closing_lines import next_step
    from heal_bot.report.status_sentences import describe_run

    click.echo(for_log(f"nothing to apply ({describe_run(record)})"))
    look = f"heal-bot explain {folder}"
    if record.choices:
        look = next_step(record, str(folder), look)
    elif closest := causes.closest_attempt(record):
        take = f"heal-bot apply --bundle {folder} --attempt {closest.number}"
        what = f"attempt {closest.number}, which nothing vouches for"
        if record.suggestion is not None:
            what = "the suggested change: it passes the tests, and you decide whether it is right"
        click.echo(for_log(f"closest: {take}   takes {what}"))
    click.echo(for_log(f"next: {look}"))


def _of_patch(repo: Path, patch: PatchRecord, force: bool) -> Iterator[_Change]:
    """The files of the verified patch."""
    for file in patch.files:
        path = _plain(repo, file.path)
        data = file.content.encode("utf-8", "surrogatepass")
        yield _Change(path, file.path, data if _is_due(file, path, force) else None)


def _of_attempt(repo: Path, attempt: AttemptRecord) -> Iterator[_Change]:
    """The files that an attempt changes, of which the bundle holds the diff alone."""
    for file in parse_diff(attempt.diff):
        path = _plain(repo, file.path)
        before = _read(path)
        text = apply_diff(before.decode("utf-8", "surrogatepass"), file)
        data = text.encode("utf-8", "surrogatepass")
        yield _Change(path, file.path, None if data == before else data)


def _plain(repo: Path, name: str) -> Path:
    """The place of a file below the tree, never through a link; UsageError for any other."""
    from heal_bot.source import paths

    parts = name.split("/")
    if any(part in {"", ".", "..", ".git"} or "\0" in part for part in parts):
        raise UsageError(f"{name[:200]!r} is not a path in a working tree")
    if paths.is_protected(name) or paths.is_test(name):
        raise UsageError(f"{name} is never changed: it belongs to tests, build or settings")
    path = repo.resolve()
    for place, part in enumerate(parts):
        path = path / part
        try:
            mode = path.lstat().st_mode
        except OSError as error:
            raise UsageError(f"{path}: {error.strerror}; is --repo the right folder?") from error
        wanted = stat.S_ISREG if place == len(parts) - 1 else stat.S_ISDIR
        if not wanted(mode):
            raise UsageError(
                f"{path} is a link or not a regular file; heal-bot does not write through it"
            )
    return path


def _is_due(file: FileRecord, path: Path, force: bool) -> bool:
    """Whether the file is to be written; UsageError when it is neither old nor already patched."""
    data = _read(path)
    blob = blob_id(data, file.base_blob)
    if data == file.content.encode("utf-8", "surrogatepass"):
        return False
    if blob != file.base_blob and not force:
        raise UsageError(
            f"{path} changed since the run (blob {blob[:12]}, expected {file.base_blob[:12]});"
            " heal again, or overwrite it with --force"
        )
    return True


def _read(path: Path) -> bytes:
    """The bytes of a file, never through a link."""
    fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    with os.fdopen(fd, "rb") as opened:
        return opened.read(_MAX_BYTES)


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
