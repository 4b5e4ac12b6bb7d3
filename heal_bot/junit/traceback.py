"""Traceback text to frames: every pytest style, native, chained, grouped; linear on any line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from heal_bot.core.model import Frame, Origin
from heal_bot.junit.path_mapping import Layout

_LINE = 2000
_LINES = 20_000
_FRAMES = 400
_NATIVE = re.compile(r'File "([^"]{1,1024})", line (\d{1,7})(?:, in ([^\s,]{1,300}))?$')
_NUMBER = re.compile(r":(\d{1,7}):(?= |$)")
_IN = re.compile(r"in ([^\s:]{1,300})(?: |$)")
_CHAIN = (
    "The above exception was the direct cause of the following exception",
    "During handling of the above exception, another exception occurred",
)
_GROUP = re.compile(r"-{2,}(?:\s*\d{1,6}\s*-{2,})?$")
_INTERNAL = ("/_pytest/", "/pluggy/", "/unittest/case.py", "/unittest/mock.py", "<frozen ")
_SOURCES = (".py", ".pyi", ".pyx", ".pxi", ".pyw")
_DOCS = (".txt", ".rst", ".md")


@dataclass(frozen=True, slots=True)
class Raw:
    """A frame as printed: path and line of text, function where the style names it."""

    path: str
    line: int
    function: str


def parse_frames(text: str, layout: Layout) -> tuple[Frame, ...]:
    """The frames of the root cause, outermost first, mapped to the checkout.

    Chained exceptions print the root cause first: its segment is taken, or the first one that
    touches the checkout. Of an exception group the sub-exceptions follow the place that raised
    it, the first one last, so that the last project frame is always the innermost suspect.
    """
    every = [locate_frames(segment, layout) for segment in split_segments(text)]
    ours = (found for found in every if any(frame.origin is not Origin.LIBRARY for frame in found))
    return next(ours, every[0] if every else ())


def locate_frames(segment: Sequence[Raw], layout: Layout) -> tuple[Frame, ...]:
    """The frames of one segment in terms of the checkout, without the test runner's own."""
    kept = [raw for raw in segment if not _is_internal(raw.path)]
    places = layout.locate([raw.path for raw in kept])
    return tuple(
        Frame(path, raw.line, raw.function, origin)
        for raw, (path, origin) in zip(kept, places, strict=True)
    )


def _is_internal(path: str) -> bool:
    slashed = path.replace("\\", "/")
    return any(mark in slashed for mark in _INTERNAL) or slashed.endswith("/nose2/main.py")


def split_segments(text: str) -> tuple[tuple[Raw, ...], ...]:
    """The frames per chained exception, root cause first; without empty segments."""
    found: list[tuple[Raw, ...]] = []
    parts: list[list[Raw]] = [[]]
    count = 0
    for line in _lines(text):
        if line.startswith(_CHAIN):
            found.append(_joined(parts))
            parts = [[]]
        elif _GROUP.match(line):
            parts.append([])
        elif count < _FRAMES and (raw := frame_of(line)) is not None:
            parts[-1].append(raw)
            count += 1
    found.append(_joined(parts))
    return tuple(segment for segment in found if segment)


def _joined(parts: list[list[Raw]]) -> tuple[Raw, ...]:
    """The place that raised, then the parts of a group from the last to the first."""
    first, *rest = parts
    return (*first, *(raw for part in reversed(rest) for raw in part))


def _lines(text: str) -> Iterator[str]:
    """Lines that can hold a frame, without bars, plus signs and indentation."""
    for line in text.split("\n", _LINES)[:_LINES]:
        if len(line) <= _LINE:
            yield line.rstrip().lstrip(" \t|+")


def frame_of(line: str) -> Raw | None:
    """The frame a single stripped line names, if it names one."""
    if line.startswith(">"):
        return None
    if line.startswith("E "):
        match = _NATIVE.search(line)
        return Raw(match[1], int(match[2]), "") if match and not match[3] else None
    if line.startswith('File "'):
        match = _NATIVE.match(line)
        return Raw(match[1], int(match[2]), _bare(match[3] or "")) if match else None
    return _pytest_style(line)


def _pytest_style(line: str) -> Raw | None:
    """`path:N:`, `path:N: Error`, `path:N: in function`."""
    match = _NUMBER.search(line)
    if match is None:
        return None
    path, rest = line[: match.start()], line[match.end() :].lstrip()
    if not path.endswith(_SOURCES) and not (path.endswith(_DOCS) and rest == "DocTestFailure"):
        return None
    named = _IN.match(rest)
    return Raw(path, int(match[1]), _bare(named[1]) if named else "")


def _bare(function: str) -> str:
    """Without the `<locals>` that Python 3.11 does not print but some tools do."""
    return function.rpartition(".<locals>.")[2]
