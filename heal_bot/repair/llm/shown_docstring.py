"""Long docstrings as a model is shown them: their beginning, and a line for the rest."""

from __future__ import annotations

import ast
import re

from heal_bot.source import functions

# Lines of a docstring that is shown whole, and of a longer one's beginning.
_WHOLE, _KEPT = 30, 12
_MARK = "[{} lines of the docstring are left out]"
_MARKED = re.compile(r"^[ \t]*\[\d+ lines of the docstring are left out\][ \t]*\r?$")


def shorten_docstring(source: str) -> str:
    """The source of a function, without the middle of a docstring that is very long."""
    span = _omitted(source)
    if span is None:
        return source
    lines, (first, last) = functions.split_lines(source), span
    margin = lines[last][: len(lines[last]) - len(lines[last].lstrip(" \t"))]
    mark = _MARK.format(last - first)
    return "".join((*lines[:first], f"{margin}{mark}\n", *lines[last:]))


def restore_docstring(text: str, source: str) -> str:
    """An answer with what `shorten_docstring` left out of the source put back.

    It stands where the mark does, or where an answer leaves the mark out as well.
    """
    span = _omitted(source)
    if span is None:
        return text
    old, new = functions.split_lines(source), functions.split_lines(text)
    omitted, around = old[span[0] : span[1]], [old[span[0] - 1].strip(), old[span[1]].strip()]
    for at, line in enumerate(new):
        if _MARKED.match(line):
            return "".join((*new[:at], *omitted, *new[at + 1 :]))
        if at == span[0] and [one.strip() for one in new[at - 1 : at + 1]] == around:
            return "".join((*new[:at], *omitted, *new[at:]))
    return text


def _omitted(source: str) -> tuple[int, int] | None:
    """The lines of the docstring that are left out, from 0; None where it is short or none."""
    if source.count("\n") <= _WHOLE:
        return None
    node = functions.parse_function(source)
    if node is None or ast.get_docstring(node) is None:
        return None
    text = node.body[0]
    first, last = text.lineno, text.end_lineno or text.lineno
    return (first - 1 + _KEPT, last - 1) if last - first >= _WHOLE else None
