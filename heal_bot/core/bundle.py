"""The bundle: a folder of data between the run that heals and the run that publishes."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from pydantic import ValidationError

from heal_bot.core import safe_open
from heal_bot.core.errors import UsageError
from heal_bot.core.outcome import OutcomeRecord
from heal_bot.core.text import describe_fault

OUTCOME = "outcome.json"
_MAX_BYTES = 64 << 20


def read(folder: Path) -> OutcomeRecord:
    """The outcome of a bundle, checked against the schema and its caps.

    Raises UsageError when the folder is no bundle, or holds what the schema refuses.
    """
    path = folder / OUTCOME
    try:
        data = safe_open.read(folder, OUTCOME, _MAX_BYTES, one_name=True)
    except OSError as error:
        raise UsageError(
            f"no bundle in {folder}: {path.name}: {error.strerror or error};"
            " give the folder that `heal-bot heal --out` wrote"
        ) from error
    return parse(data, path)


def parse(data: bytes, source: Path) -> OutcomeRecord:
    """The outcome in `data`; `source` names it in the error."""
    try:
        return OutcomeRecord.model_validate_json(data)
    except ValidationError as error:
        raise UsageError(
            f"{source} is not an outcome of this version: {describe_fault(error)};"
            " heal again with this version of heal-bot"
        ) from error


def dump(record: OutcomeRecord) -> str:
    """The text of `outcome.json`: stable order, readable."""
    return json.dumps(record.model_dump(by_alias=True, mode="json"), indent=1, sort_keys=False)


def check_writable(folder: Path) -> None:
    """Fail before any work when the bundle could not be written at the end."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".heal-bot-"):
            pass
    except OSError as error:
        raise UsageError(
            f"cannot write the bundle to {folder}: {error.strerror};"
            " choose another folder with --out"
        ) from error
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is a file; choose a folder for the bundle with --out")
    if folder.exists() and any(folder.iterdir()) and not (folder / OUTCOME).exists():
        raise UsageError(
            f"{folder} holds files that are no bundle; choose an empty folder with --out"
        )


def set_aside(folder: Path) -> Path | None:
    """Rename the bundle that is there, so that a new one does not overwrite it; None without one.

    One bundle is kept: what was set aside before goes.
    """
    if not (folder / OUTCOME).exists():
        return None
    kept = folder.with_name(f"{folder.resolve().name}.previous")
    if (kept / OUTCOME).exists():
        shutil.rmtree(kept)
    try:
        return folder.resolve().rename(kept)
    except OSError as error:
        raise UsageError(
            f"{folder} holds a bundle that cannot be renamed to {kept}: {error.strerror};"
            " choose another folder with --out"
        ) from error


@contextlib.contextmanager
def replace_bundle(folder: Path) -> Iterator[Path | None]:
    """Where the former bundle is kept meanwhile; it comes back where none takes its place."""
    kept = set_aside(folder)
    try:
        yield kept
    finally:
        if kept is not None and not folder.exists():
            kept.rename(folder)


def write(folder: Path, record: OutcomeRecord, texts: Mapping[str, str]) -> None:
    """Write the bundle; `texts` are for people.

    A new folder is made beside and renamed. In one that is a bundle already, each file is replaced
    by rename and outcome.json last, so that a kill at any moment leaves a whole outcome.
    """
    check_writable(folder)
    # Git leaves the bundle alone when it lies in a work tree.
    whole = {".gitignore": "*\n", **texts, OUTCOME: dump(record)}
    if folder.exists() and not any(folder.iterdir()):
        folder.rmdir()
    if folder.exists():
        for name, text in whole.items():
            _replace(folder / name, text)
        for old in folder.iterdir():
            if old.name not in whole and not old.is_dir():
                old.unlink()
        return
    beside = Path(tempfile.mkdtemp(dir=folder.parent, prefix=".heal-bot-"))
    try:
        beside.chmod(0o755)
        for name, text in whole.items():
            _replace(beside / name, text)
        beside.rename(folder)
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def _replace(path: Path, text: str) -> None:
    """Put the text in the place of the file in one step."""
    fd, beside = tempfile.mkstemp(dir=path.parent, prefix=".heal-bot-")
    with os.fdopen(fd, "w", encoding="utf-8", errors="replace", newline="") as file:
        file.write(text)
    Path(beside).chmod(0o644)
    Path(beside).replace(path)
