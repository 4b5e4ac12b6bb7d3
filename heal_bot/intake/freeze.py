"""What `pip freeze` wrote in the failing run, where it lies beside the reports of its artifacts."""

from __future__ import annotations

import struct
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path

from heal_bot.intake.archive import check_directory

NAME = "freeze.txt"
_BYTES = 1 << 20


def frozen(archives: Sequence[Path]) -> bytes | None:
    """The one freeze file that all archives with such a file have; None where they disagree.

    The legs of a matrix have different environments, and nothing says whose failures are meant.
    """
    found = {data for path in archives if (data := _read(path))}
    return found.pop() if len(found) == 1 else None


def _read(path: Path) -> bytes:
    """The member of that name; empty without one, and for a file that is no sound archive."""
    try:
        with path.open("rb") as file:
            check_directory(file)
            with zipfile.ZipFile(file) as archive:
                for member in archive.infolist():
                    named = member.filename.rpartition("/")[2] == NAME
                    if named and not member.flag_bits & 1 and member.file_size <= _BYTES:
                        with archive.open(member) as stream:
                            return stream.read(_BYTES)
    except (OSError, zipfile.BadZipFile, NotImplementedError, ValueError, EOFError, zlib.error,
            struct.error):  # fmt: skip
        return b""
    return b""
