"""A diff as few lines show it: less context first, then no more than its beginning."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from heal_bot.core.text import count, printable
from heal_bot.source.unified_diff import DiffError, FileDiff, parse_diff

_CONTEXTS = (3, 1, 0)


def shorten_diff(diff: str, lines: int) -> str:
    """The diff within so many lines, each hunk under its place; the last line says what is cut.

    What is no diff is cut alone.
    """
    text = printable(diff)
    try:
        files = parse_diff(text)
    except DiffError:
        return _cut(text.splitlines(), lines)
    shown: list[str] = []
    for context in _CONTEXTS:
        shown = [line for file in files for line in _render(file, context)]
        if len(shown) <= lines:
            break
    return _cut(shown, lines)


def _cut(shown: Sequence[str], lines: int) -> str:
    if len(shown) <= lines:
        return "\n".join(shown)
    kept = max(1, lines - 1)
    return "\n".join([*shown[:kept], f"@@ {count(len(shown) - kept, 'more line')} @@"])


def _render(file: FileDiff, context: int) -> Iterator[str]:
    """Each change below its place, with no blank lines around it."""
    for hunk in file.hunks:
        lines = [line for line in hunk.lines if not line.startswith("\\")]
        for first, last in _blocks(lines, context):
            number = hunk.new_start + sum(line[:1] != "-" for line in lines[:first])
            yield f"@@ {file.path}:{number} @@"
            yield from lines[first:last]


def _blocks(lines: Sequence[str], context: int) -> Iterator[tuple[int, int]]:
    """Where a hunk's changes begin and end, with context; as one what would touch or overlap."""
    changed = [at for at, line in enumerate(lines) if line[:1] in {"+", "-"}]
    groups: list[list[int]] = []
    for at in changed:
        if groups and at - groups[-1][-1] <= 2 * context + 1:
            groups[-1].append(at)
        else:
            groups.append([at])
    for group in groups:
        first, last = max(0, group[0] - context), min(len(lines), group[-1] + context + 1)
        while first < group[0] and not lines[first].strip():
            first += 1
        while last > group[-1] + 1 and not lines[last - 1].strip():
            last -= 1
        yield first, last
