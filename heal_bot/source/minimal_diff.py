"""A reprinted function made small again: the old lines wherever the code says the same."""

from __future__ import annotations

import ast
import difflib
import io
import textwrap
import tokenize
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import zip_longest

from heal_bot.source import functions, guard

_BLANK = {tokenize.NL, tokenize.COMMENT}


@dataclass(frozen=True, slots=True)
class _Unit:
    """A logical line: what it says at which depth, the lines before it, its own lines."""

    key: tuple[int, str]
    leading: tuple[str, ...]
    lines: tuple[str, ...]
    comment: str

    @property
    def comments(self) -> Counter[str]:
        """The comments above it and behind it."""
        return Counter(filter(None, map(str.strip, (*self.leading, self.comment))))


def minimise(old_source: str, new_source: str) -> str:
    """`new_source` with the lines of `old_source` kept where a logical line's code is equal.

    Comments, quotes, wrapping and blank lines of unchanged code survive; a changed line keeps the
    comments above and behind it; a comment that stands elsewhere in `new_source` moves there. The
    result has the same syntax tree as `new_source`; where that cannot be shown (text that this
    Python cannot parse) it is `new_source` itself.
    """
    try:
        wanted = _tree(new_source)
        old, new = _units(old_source), _units(new_source)
    except (guard.SourceRejected, tokenize.TokenError, SyntaxError):
        return new_source
    merged = "".join(_merged(old, new))
    if merged == new_source:
        return merged
    try:
        return merged if _tree(merged) == wanted else new_source
    except guard.SourceRejected:
        return new_source


def _merged(old: Sequence[_Unit], new: Sequence[_Unit]) -> list[str]:
    """The lines of the new units, in the words of the old ones as far as these say the same."""
    pairs = tuple(_paired(old, new))
    stay = _total(Counter(one.comments & unit.comments) for one, unit in pairs if one)
    # What is gone from one place and new at another has moved.
    moved = (_total(u.comments for u in old) - stay) & (_total(u.comments for u in new) - stay)
    leaving, arriving = moved.copy(), moved.copy()
    merged: list[str] = []
    # Whether the line before is a new one, which has its own blank line behind it.
    fresh = False
    for one, unit in pairs:
        if one is None:
            _taken(arriving, unit.comments)
            merged += [*unit.leading, *unit.lines]
            fresh = True
            continue
        after, fresh = fresh, one.key != unit.key
        left = _taken(leaving, one.comments - unit.comments)
        come = _taken(arriving, unit.comments - one.comments)
        above = [line for line in one.leading if line.strip() not in left]
        behind = "" if one.comment.strip() in left else one.comment
        if one.key != unit.key:
            merged += _changed(unit, above, behind)
            continue
        blank = not any(map(str.strip, (*above, *unit.leading)))
        if (after and blank) or (come and not one.comments - left - unit.comments):
            above = [*unit.leading]
        else:
            above += [line for line in unit.leading if line.strip() in come]
        as_new = behind != one.comment or unit.comment.strip() in come
        merged += [*above, *(unit.lines if as_new else one.lines)]
    return merged


def _paired(old: Sequence[_Unit], new: Sequence[_Unit]) -> Iterator[tuple[_Unit | None, _Unit]]:
    """Each new line, with the old one whose place it takes if that is of its depth."""
    matcher = difflib.SequenceMatcher(None, [u.key for u in old], [u.key for u in new], False)
    for _, old_from, old_to, new_from, new_to in matcher.get_opcodes():
        before, after = old[old_from:old_to], new[new_from:new_to]
        for one, unit in zip_longest(before[: len(after)], after):
            yield one if one and one.key[0] == unit.key[0] else None, unit


def _total(counts: Iterable[Counter[str]]) -> Counter[str]:
    return sum(counts, Counter())


def _taken(rest: Counter[str], wanted: Counter[str]) -> Counter[str]:
    """As many of the wanted as there are in the rest, taken out of it."""
    found = rest & wanted
    rest.subtract(found)
    return found


def _changed(unit: _Unit, above: Sequence[str], behind: str) -> list[str]:
    """A new line, with the comments of the old line whose place it takes."""
    leading = unit.leading if any(map(str.strip, unit.leading)) else above
    lines = unit.lines
    if behind and not unit.comment and len(lines) == 1:
        lines = (f"{lines[0].rstrip()}{behind}{_end(lines[0])}",)
    return [*leading, *lines]


# The old side is the same in every proposal for a function, and most lines of the new one are.
@lru_cache(maxsize=64)
def _units(source: str) -> tuple[_Unit, ...]:
    """The logical lines of a source, the last one with no code and the comments at the end."""
    lines = functions.split_lines(source)
    body = "".join(f"{line.rstrip(chr(13) + chr(10))}\n" for line in lines)
    indented = body[:1] in {" ", "\t"}
    shift = 1 if indented else 0
    reader = io.StringIO(f"if 1:\n{body}" if indented else body).readline
    units: list[_Unit] = []
    depth, start, done, comment = 0, None, shift, ""
    for token in tokenize.generate_tokens(reader):
        if token.type == tokenize.INDENT:
            depth += 1
        elif token.type == tokenize.DEDENT:
            depth -= 1
        elif token.type == tokenize.COMMENT and start == token.start[0]:
            gap = len(token.line[: token.start[1]]) - len(token.line[: token.start[1]].rstrip())
            comment = " " * gap + token.string
        elif token.type == tokenize.NEWLINE and start is not None:
            if start > shift:
                own = lines[start - 1 - shift : token.start[0] - shift]
                leading = lines[done - shift : start - 1 - shift]
                units.append(_Unit((depth, _key("".join(own))), leading, own, comment))
            start, done, comment = None, token.start[0], ""
        elif token.type not in _BLANK and token.type != tokenize.ENDMARKER and start is None:
            start = token.start[0]
    return (*units, _Unit((-1, ""), tuple(lines[done - shift :]), (), ""))


@lru_cache(maxsize=2048)
def _key(line: str) -> str:
    """What a logical line says: its syntax tree where it has one, its tokens otherwise."""
    text = textwrap.dedent(line).strip()
    word = text.split(None, 1)[0].rstrip(":") if text else ""
    wrapped = {
        "elif": f"if 0: pass\n{text} pass",
        "else": f"if 0: pass\n{text} pass",
        "except": f"try: pass\n{text} pass",
        "finally": f"try: pass\n{text} pass",
        "case": f"match 0:\n {text} pass",
    }.get(word, f"{text}\ndef f(): pass" if text.startswith("@") else text)
    for attempt in (wrapped, f"{text} pass", f"def f():\n {text}", f"async def f():\n {text} pass"):
        try:
            return f"{word if word in {'elif', 'else'} else ''}{ast.dump(guard.parse(attempt))}"
        except guard.SourceRejected:
            continue
    return " ".join(text.split())


def _tree(source: str) -> str:
    return ast.dump(guard.parse_part(source))


def _end(line: str) -> str:
    return line[len(line.rstrip("\r\n")) :]
