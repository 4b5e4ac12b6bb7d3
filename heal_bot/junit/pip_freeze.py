"""What `pip freeze` wrote in the failing run, where it lies beside the reports of its artifacts."""

from __future__ import annotations

import os
import struct
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path

from heal_bot.core.events import Noted, Run
from heal_bot.junit import report_files
from heal_bot.junit.archive import check_directory

NAME = "freeze.txt"
_BYTES = 1 << 20


def find_frozen(archives: Sequence[Path]) -> bytes | None:
    """The one freeze file that all archives with such a file have; None where they disagree.

    The legs of a matrix have different environments, and nothing says whose failures are meant.
    """
    found = {data for path in archives if (data := _read(path))}
    return found.pop() if len(found) == 1 else None


def choose_freeze(run: Run, given: str, setup: str) -> Path | None:
    """The freeze file that is given; of those that a pattern finds one, where all say the same.

    A pattern may find nothing, and counts only where no `setup` says what to install; which of
    these it was is told.
    """
    if not given:
        return None
    places = find_files(given)
    if not places:
        _tell(run, f"no file matches {given}, which was to name exact versions")
        return None
    if setup and not _is_plain(given):
        _tell(run, f"setup says what is installed: what matches {given} is not used")
        return None
    if len(places) > 1 and len({_content(place) for place in places}) > 1:
        message = f"the {len(places)} files that match {given} differ: none of them is used"
        run.warn("workspace", message)
        return None
    return places[0].base / places[0].name


def _tell(run: Run, why: str) -> None:
    run.emit(Noted(stage="workspace", message=why, level="info"))


def find_files(given: str) -> tuple[report_files.ReportPlace, ...]:
    """The files that a path or a pattern means; a path counts though nothing is there."""
    path = Path(given).absolute()
    if _is_plain(given):
        return (report_files.ReportPlace(path.parent, path.name),)
    return report_files.find_matching(Path.cwd(), os.path.normpath(path), absolute=True)


def _is_plain(given: str) -> bool:
    """Whether it is a path: a file that is there, or no pattern."""
    return not report_files.is_glob(given) or Path(given).is_file()


def _content(place: report_files.ReportPlace) -> bytes:
    """The bytes of a file beneath its base; what cannot be read is told when it is used."""
    opened = report_files.open_report(place)
    if isinstance(opened, str):
        return opened.encode()
    with opened.file as file:
        return file.read(_BYTES)


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
