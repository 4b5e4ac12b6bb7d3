"""Places where a commit left the expression that it replaced by another one elsewhere."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from difflib import SequenceMatcher

from heal_bot.source.lost_code import UNREADABLE, FileVersions, list_functions
from heal_bot.source.parsed_version import Version
from heal_bot.source.tree_diff import Part

_WORD = re.compile(r"\w+")
# So many places are told at the most.
_MOST = 60


def find_missed_places(changes: Iterable[FileVersions]) -> tuple[tuple[str, Part], ...]:
    """The parts that make the same replacement, by their paths, those of the longest code first.

    Only files that the commit changed are looked at; those that do not parse have none.
    """
    swaps: dict[str, tuple[str, str]] = {}
    files: list[tuple[str, Version]] = []
    for one in changes:
        with suppress(*UNREADABLE):
            was, then, now = map(Version.of, (one.before, one.after, one.now))
            files.append((one.path, now))
            former, left = list_functions(was.tree), list_functions(then.tree)
            for name in former.keys() & left.keys():
                for old, new in _list_swaps(former[name], left[name]):
                    swaps[ast.dump(old)] = ast.dump(new), ast.unparse(new)
    found = [
        (path, Part(*version.span(node), swaps[ast.dump(node)][1].encode(), (), atomic=True))
        for path, version in files
        for function in list_functions(version.tree).values()
        for node in _list_places(function, swaps)
        # What is called instead may do itself what it replaces.
        if function.name not in _WORD.findall(swaps[ast.dump(node)][1])
    ]
    return tuple(sorted(dict.fromkeys(found), key=lambda one: one[1].start - one[1].end)[:_MOST])


def _list_swaps(old: ast.AST, new: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """The smallest expressions in which two versions of a function differ, literals apart."""
    if ast.dump(old) == ast.dump(new):
        return
    whole, pairs = type(old) is not type(new), list[tuple[ast.AST, ast.AST]]()
    for name in () if whole else old._fields:
        one, other = getattr(old, name, None), getattr(new, name, None)
        if isinstance(one, list) and isinstance(other, list):
            pairs += _pair(one, other)
            whole |= len(one) != len(other)
        elif isinstance(one, ast.AST) and isinstance(other, ast.AST):
            pairs.append((one, other))
        else:
            whole |= one != other
    if isinstance(old, ast.expr) and isinstance(new, ast.expr) and whole:
        if not isinstance(old, ast.Constant):
            yield old, new
    else:
        for pair in pairs:
            yield from _list_swaps(*pair)


def _pair(some: Sequence[ast.AST], others: Sequence[ast.AST]) -> Iterator[tuple[ast.AST, ast.AST]]:
    """Nodes of two lists that stand for each other; where some came or went, those between."""
    matched = SequenceMatcher(
        None, [*map(ast.dump, some)], [*map(ast.dump, others)], autojunk=False
    )
    for _, a, b, c, d in matched.get_opcodes():
        if b - a == d - c:
            yield from zip(some[a:b], others[c:d], strict=True)


def _list_places(tree: ast.AST, swaps: dict[str, tuple[str, str]]) -> Iterator[ast.expr]:
    """The expressions that were replaced elsewhere, but for those in what replaced them."""
    come = {new for new, _ in swaps.values()}
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.expr) and ast.dump(node) in swaps:
            yield node
        elif not isinstance(node, ast.expr) or ast.dump(node) not in come:
            waiting += ast.iter_child_nodes(node)
