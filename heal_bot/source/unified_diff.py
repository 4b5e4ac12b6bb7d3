"""Unified diffs as our own bundles hold them: read, and put into the text of a file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_UNENDED = "\\ No newline at end of file"


class DiffError(Exception):
    """A text is no diff, or a file is not the one that a diff is for."""


@dataclass(frozen=True, slots=True)
class Hunk:
    """Lines that stand together, each with its sign, and where they stand before and after."""

    old_start: int
    new_start: int
    lines: tuple[str, ...]

    def side(self, sign: str) -> Iterator[str]:
        """The lines before (`-`) or after (`+`) the change."""
        return (line[1:] for line in self.lines if line[:1] in {" ", sign})


@dataclass(frozen=True, slots=True)
class FileDiff:
    """The hunks of one file."""

    path: str
    hunks: tuple[Hunk, ...]


def parse_diff(text: str) -> tuple[FileDiff, ...]:
    """The files of a diff; DiffError for a text that is none."""
    lines = text.replace("\r\n", "\n").split("\n")
    found: list[FileDiff] = []
    at = 0
    while at < len(lines):
        if lines[at].startswith("+++ b/"):
            path = lines[at].removeprefix("+++ b/").rstrip("\t")
            hunks, at = _read_hunks(lines, at + 1)
            found.append(FileDiff(path, hunks))
        else:
            at += 1
    if not found or not all(file.hunks for file in found):
        raise DiffError("the text is no unified diff")
    return tuple(found)


def _read_hunks(lines: Sequence[str], at: int) -> tuple[tuple[Hunk, ...], int]:
    """The hunks from a line on, and the line after them."""
    hunks = []
    while at < len(lines) and (head := _HUNK.match(lines[at])):
        old, new = (int(head[group] or 1) for group in (2, 4))
        begin = at = at + 1
        while at < len(lines) and (old > 0 or new > 0 or lines[at] == _UNENDED):
            sign = lines[at][:1]
            old -= sign in {" ", "-"}
            new -= sign in {" ", "+"}
            if sign not in {" ", "-", "+", "\\"} or min(old, new) < 0:
                raise DiffError(f"hunk {head[0]} does not hold the lines that it counts")
            at += 1
        if old or new:
            raise DiffError(f"hunk {head[0]} ends early")
        hunks.append(Hunk(int(head[1]), int(head[3]), tuple(lines[begin:at])))
    return tuple(hunks), at


def apply_diff(text: str, file: FileDiff) -> str:
    """The text with the change made; DiffError where it is not what the diff was made of.

    Lines end as those of the text do. What other changes moved is found where it stands once, and
    a hunk that the text holds already is left.
    """
    lines = text.split("\n")
    newline = "\r" if lines[0].endswith("\r") else ""
    for hunk in reversed(file.hunks):
        old, made = list(hunk.side("-")), list(hunk.side("+"))
        known = [line.removesuffix("\r") for line in lines]
        first = _find_place(known, hunk.old_start, old)
        if first is None and made and _find_place(known, hunk.new_start, made) is not None:
            continue
        if first is None:
            raise DiffError(f"{file.path}:{hunk.old_start} is not what the change was made for")
        new = [f"{line}{newline}" for line in made]
        if new and first + len(old) == len(lines):
            # The last line of a text has no end.
            new[-1] = new[-1].removesuffix("\r")
        lines[first : first + len(old)] = new
    return "\n".join(lines)


def _find_place(lines: Sequence[str], start: int, side: Sequence[str]) -> int | None:
    """Where a side of a hunk begins: at its place, else at the only one; None for neither."""
    told = start - 1 if side else start
    if lines[told : told + len(side)] == side:
        return told
    places = [at for at in range(len(lines)) if lines[at : at + len(side)] == side]
    return places[0] if len(places) == 1 else None
