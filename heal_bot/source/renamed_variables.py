"""Local variables that a commit renames: a version of a file with the names of another."""

from __future__ import annotations

import ast
import difflib
import io
import tokenize
from collections import Counter
from collections.abc import Iterator, Mapping, Set

from heal_bot.core.model import Target
from heal_bot.source import functions, guard
from heal_bot.source.bound_names import find_locals, find_symbols

# What stands for any variable that may be a renamed one.
_ANY = "\0"
_DULL = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
}  # fmt: skip


def follow_renames(path: str, before: str, after: str) -> tuple[str, int]:
    """`before` with the variables of its functions named as in `after`, and in how many of them.

    A name became another one where neither version has both, and most uses of the old one stand
    where uses of the new one do in otherwise equal code. Parameters and what is imported keep their
    names: callers and other modules know these.
    """
    lines, count = list(functions.split_lines(before)), 0
    try:
        newer = {(t.qualname, t.nth): t for t in _functions(path, after)}
        older = tuple(_functions(path, before))
    except guard.SourceRejected:
        return before, 0
    for old in older:
        new = newer.get((old.qualname, old.nth))
        if new is None or new.source == old.source:
            continue
        try:
            renames = _find_renames(old.source, new.source)
        except (tokenize.TokenError, SyntaxError, RecursionError):
            continue
        if renames:
            begin, end = old.first_line - 1, old.last_line
            lines[begin:end] = functions.split_lines(_rename(old.source, renames))
            count += 1
    return "".join(lines), count


def _functions(path: str, text: str) -> Iterator[Target]:
    """The functions of a file that stand in no other one."""
    last = 0
    for target in functions.index_targets(path, text):
        if target.kind == "function" and target.first_line > last:
            last = target.last_line
            yield target


def _find_renames(old: str, new: str) -> dict[str, str]:
    """The variables of a function that are renamed, each with its new name."""
    gone = find_locals(old) - find_symbols(new)
    come = find_locals(new) - find_symbols(old)
    if not gone or not come or gone & _formatted(old):
        return {}
    one, other = _read_uses(old, gone), _read_uses(new, come)
    shapes, others = (
        [_ANY if use else token.string for token, use in uses] for uses in (one, other)
    )
    matcher = difflib.SequenceMatcher(None, shapes, others, autojunk=False)
    votes = Counter(
        (one[block.a + n][0].string, other[block.b + n][0].string)
        for block in matcher.get_matching_blocks()
        for n in range(block.size)
        if one[block.a + n][1]
    )
    found: dict[str, str] = {}
    total = Counter(token.string for token, use in one if use)
    for (name, called), many in votes.most_common():
        if name not in found and called not in found.values() and 2 * many > total[name]:
            found[name] = called
    return found


def _formatted(source: str) -> set[str]:
    """The names in formatted strings, which are one token before Python 3.12."""
    strings = (n for n in ast.walk(guard.parse_part(source)) if isinstance(n, ast.JoinedStr))
    return {n.id for one in strings for n in ast.walk(one) if isinstance(n, ast.Name)}


def _rename(source: str, renames: Mapping[str, str]) -> str:
    """A function with other names for its variables."""
    lines = list(functions.split_lines(source))
    uses = [token for token, use in _read_uses(source, renames.keys()) if use]
    for token in reversed(uses):
        (row, column), (_, end) = token.start, token.end
        line = lines[row - 1]
        lines[row - 1] = f"{line[:column]}{renames[token.string]}{line[end:]}"
    return "".join(lines)


def _read_uses(source: str, names: Set[str]) -> list[tuple[tokenize.TokenInfo, bool]]:
    """The tokens of a function but for layout, and which are variables of these names.

    Attributes and keywords of a call are none.
    """
    keywords = {
        (node.lineno, node.col_offset)
        for node in ast.walk(guard.parse_part(source))
        if isinstance(node, ast.keyword)
    }
    found: list[tuple[tokenize.TokenInfo, bool]] = []
    before = ""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type in _DULL:
            continue
        row, column = token.start[0], len(token.line[: token.start[1]].encode())
        free = before != "." and (row, column) not in keywords
        found.append((token, token.string in names and free))
        before = token.string
    return found
