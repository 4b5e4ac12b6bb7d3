"""Answers that fixed something, for the next run: SQLite here, plain records between jobs.

What is read back is foreign text: it is judged like any answer of a model, and forgotten when it
does not hold.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from heal_bot.core.errors import UsageError
from heal_bot.ports.language_model import Replies

RECORDS = ".jsonl"
_KEPT = 500
_TEXT = 100_000
_BYTES = 32 << 20
_WAIT = 5.0


def open_replies(path: Path) -> Replies:
    """The answers in a file: plain records where its name ends in .jsonl, else SQLite.

    Raises UsageError for a file that is neither.
    """
    return RecordedReplies(path) if path.suffix == RECORDS else StoredReplies(path)


class StoredReplies:
    """Answers in an SQLite file that only its owner can read; the newest are kept."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with self._told():
            path.parent.mkdir(parents=True, exist_ok=True)
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600))
            self._base = sqlite3.connect(path, timeout=_WAIT, isolation_level=None)
            # Losing the newest answer in a power cut costs one call.
            self._base.execute("PRAGMA synchronous = OFF")
            self._base.execute(
                "CREATE TABLE IF NOT EXISTS replies (key TEXT PRIMARY KEY, text TEXT NOT NULL)"
            )

    def get(self, key: str) -> str | None:
        """The answer, or None."""
        with self._told():
            row = self._base.execute("SELECT text FROM replies WHERE key = ?", (key,)).fetchone()
        return str(row[0])[:_TEXT] if row else None

    def put(self, key: str, text: str) -> None:
        """Keep an answer in place of an older one; one that is too long is not kept."""
        if len(text) > _TEXT:
            return
        with self._told():
            self._base.execute("INSERT OR REPLACE INTO replies VALUES (?, ?)", (key, text))
            self._base.execute(
                "DELETE FROM replies WHERE rowid NOT IN"
                " (SELECT rowid FROM replies ORDER BY rowid DESC LIMIT ?)",
                (_KEPT,),
            )

    def drop(self, key: str) -> None:
        """Forget an answer."""
        with self._told():
            self._base.execute("DELETE FROM replies WHERE key = ?", (key,))

    @contextlib.contextmanager
    def _told(self) -> Iterator[None]:
        """Any trouble with the file as one line."""
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            raise UsageError(
                f"{self._path} cannot be used to keep replies: {error}; delete it or name another"
            ) from error


class _Record(BaseModel):
    model_config = ConfigDict(extra="forbid")
    key: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
    text: Annotated[str, Field(max_length=_TEXT)]


class RecordedReplies:
    """Answers as JSON lines, rewritten as a whole at each change; the newest are kept."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._texts = {record.key: record.text for record in _records(path)}

    def get(self, key: str) -> str | None:
        """The answer, or None."""
        return self._texts.get(key)

    def put(self, key: str, text: str) -> None:
        """Keep an answer in place of an older one; one that is too long is not kept."""
        if len(text) <= _TEXT:
            self._texts.pop(key, None)
            self._texts[key] = text
            self._write()

    def drop(self, key: str) -> None:
        """Forget an answer."""
        if self._texts.pop(key, None) is not None:
            self._write()

    def _write(self) -> None:
        kept = list(self._texts.items())[-_KEPT:]
        lines = [_Record(key=key, text=text).model_dump_json() + "\n" for key, text in kept]
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(
                "w", dir=self._path.parent, prefix=".replies-", delete=False, encoding="utf-8"
            ) as file:
                file.writelines(lines)
            Path(file.name).replace(self._path)
        except OSError as error:
            raise UsageError(f"{self._path} cannot be written: {error.strerror}") from error


def _records(path: Path) -> tuple[_Record, ...]:
    """The records of a file; UsageError when it holds anything else."""
    try:
        with path.open("rb") as file:
            data = file.read(_BYTES + 1)
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error
    try:
        if len(data) > _BYTES:
            raise ValueError(f"larger than {_BYTES} bytes")
        return tuple(_Record.model_validate_json(row) for row in data.splitlines() if row.strip())
    except (ValidationError, ValueError) as error:
        raise UsageError(
            f"{path} holds no replies of heal-bot; delete it to start afresh"
        ) from error
