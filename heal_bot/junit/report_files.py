"""Report files found and opened beneath a root: no link is followed, nothing but plain files."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from heal_bot.core import safe_open
from heal_bot.core.errors import UsageError
from heal_bot.core.text import one_line

FILE_CAP = 512 << 20
_ENTRIES = 200_000
_MATCHES = 10_000
_DEPTH = 40
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class ReportPlace:
    """A file as a pattern found it: `name` is relative to the trusted folder `base`."""

    base: Path
    name: str


@dataclass(frozen=True, slots=True)
class Opened:
    """An open plain file; whoever gets it closes it. `modified` is in epoch seconds."""

    file: BinaryIO
    modified: float


def find(root: Path, patterns: Sequence[str], *, absolute: bool = False) -> tuple[ReportPlace, ...]:
    """The files that match, in the order of the patterns, each once, sorted within a pattern.

    A pattern is a path or a glob (`*`, `?`, `[...]` within a folder name, `**` for any folders)
    relative to `root`; absolute ones outside of `root` need `absolute`. UsageError when a pattern
    leaves the root or matches nothing.
    """
    found: dict[ReportPlace, None] = {}
    for pattern in patterns:
        places = find_matching(root, pattern, absolute=absolute)
        if not places:
            raise UsageError(
                f"no test report matches {one_line(pattern)!r} in {root}; check the path and that"
                " the test step writes it (pytest --junitxml=report.xml), or pass no report at all"
            )
        found.update(dict.fromkeys(places))
    return tuple(found)


def find_matching(root: Path, pattern: str, *, absolute: bool = False) -> tuple[ReportPlace, ...]:
    """As `find` for one pattern, sorted; nothing where nothing matches."""
    base, parts = _split(root, pattern, absolute)
    return tuple(sorted(_matches(base, parts), key=lambda place: place.name))


def _split(root: Path, pattern: str, absolute: bool) -> tuple[Path, tuple[str, ...]]:
    """The folder to start in (links in it are the user's own business) and the parts below it."""
    path = PurePosixPath(f"{pattern}/*" if pattern.endswith("**") else pattern)
    if "\0" in pattern or not path.parts or ".." in path.parts:
        raise UsageError(
            f"the report path {one_line(pattern)!r} is empty or holds '..';"
            " give a path below the repository"
        )
    if not path.is_absolute():
        return root, path.parts
    for start in (PurePosixPath(root), PurePosixPath(root.resolve())):
        if path.is_relative_to(start) and path != start:
            return root, path.relative_to(start).parts
    if not absolute:
        raise UsageError(
            f"the report path {one_line(pattern)!r} lies outside of {root};"
            " give a path below the repository"
        )
    literal = 1
    while literal < len(path.parts) - 1 and not is_glob(path.parts[literal]):
        literal += 1
    return Path(*path.parts[:literal]), path.parts[literal:]


def is_glob(part: str) -> bool:
    """Whether a name is a pattern."""
    return any(mark in part for mark in "*?[")


def _matches(base: Path, parts: tuple[str, ...]) -> Iterator[ReportPlace]:
    try:
        start = os.open(base, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        return
    budget = [_ENTRIES, _MATCHES]
    try:
        for name in _walk(start, parts, "", budget):
            yield ReportPlace(base, name)
    finally:
        os.close(start)


def _walk(folder: int, parts: tuple[str, ...], prefix: str, budget: list[int]) -> Iterator[str]:
    """Names beneath an open folder; `budget` counts down folder entries and matches."""
    head, rest = parts[0], parts[1:]
    if head == "**":
        yield from _walk(folder, rest, prefix, budget)
        for name in _listing(folder, budget):
            if not name.startswith("."):
                yield from _descend(folder, name, parts, prefix, budget)
        return
    for name in _listing(folder, budget) if is_glob(head) else [head]:
        hidden = name.startswith(".") and not head.startswith(".")
        if budget[1] > 0 and (name == head or (fnmatchcase(name, head) and not hidden)):
            yield from _descend(folder, name, rest, prefix, budget)


def _listing(folder: int, budget: list[int]) -> list[str]:
    names = []
    with os.scandir(folder) as entries:
        for entry in entries:
            budget[0] -= 1
            if budget[0] < 0:
                break
            names.append(entry.name)
    return sorted(names)


def _descend(
    folder: int, name: str, rest: tuple[str, ...], prefix: str, budget: list[int]
) -> Iterator[str]:
    try:
        mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
    except (OSError, ValueError):
        return
    inside = f"{prefix}{name}"
    if stat.S_ISDIR(mode):
        if rest and inside.count("/") < _DEPTH:
            try:
                below = os.open(name, _DIRECTORY, dir_fd=folder)
            except OSError:
                return
            try:
                yield from _walk(below, rest, f"{inside}/", budget)
            finally:
                os.close(below)
    elif not rest:
        budget[1] -= 1
        yield inside


def open_report(place: ReportPlace) -> Opened | str:
    """The file, opened folder by folder without following links; or why it is not read."""
    try:
        descriptor = safe_open.open_below(place.base, place.name)
    except OSError as error:
        return f"cannot be opened without following links ({error.strerror})"
    info = os.fstat(descriptor)
    reason = _refusal(info)
    if reason:
        os.close(descriptor)
        return reason
    return Opened(os.fdopen(descriptor, "rb"), info.st_mtime)


def _refusal(info: os.stat_result) -> str:
    if not stat.S_ISREG(info.st_mode):
        return "is not a plain file"
    if info.st_nlink != 1:
        return f"has {info.st_nlink} names (hard links); copy it first"
    if info.st_size > FILE_CAP:
        return f"has {info.st_size >> 20} MiB, more than the {FILE_CAP >> 20} MiB that are read"
    return ""
