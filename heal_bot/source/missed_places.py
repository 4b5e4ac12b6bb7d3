"""Places where a commit left the expression that it replaced by another one elsewhere."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from difflib import SequenceMatcher

from heal_bot.source.definitions import Function
from heal_bot.source.lost_code import UNREADABLE, FileVersions, list_functions
from heal_bot.source.lost_constants import stands_alone
from heal_bot.source.parsed_version import Version
from heal_bot.source.tree_diff import Part

_WORD = re.compile(r"\w+")
# So many places are told at the most; of longer blocks that grew or shrank nothing is compared.
_MOST = 60
_LONGEST = 500
_INNER = ast.expr | ast.stmt | ast.keyword | ast.comprehension | ast.excepthandler | ast.withitem


@dataclass(frozen=True, slots=True)
class _Swap:
    """What an expression became; in `function` alone where it is made of the variables of that."""

    text: str
    dump: str
    function: str


def find_missed_places(changes: Iterable[FileVersions]) -> tuple[tuple[str, Part], ...]:
    """The parts that make the same replacement, by their paths, those of the longest code first.

    Only files that the commit changed are looked at; none where one of them does not parse.
    """
    swaps: dict[str, _Swap | None] = {}
    files: list[tuple[str, Version]] = []
    found: list[tuple[str, Part]] = []
    with suppress(*UNREADABLE):
        for one in changes:
            was, then, now = map(Version.of, (one.before, one.after, one.now))
            former, left = list_functions(was.tree), list_functions(then.tree)
            for name in (name for name in former if name in left):
                for old, swap in _list_swaps(name, former[name], left[name]):
                    # What became one thing here and another there is no rule for a third place.
                    same = swaps.setdefault(old, swap)
                    swaps[old] = swap if same is not None and same.dump == swap.dump else None
            files.append((one.path, now))
        for path, version in files if swaps else ():
            for name, function in list_functions(version.tree).items():
                for node, swap in _list_places(name, function, swaps):
                    span = version.span(node)
                    found.append((path, Part(*span, swap.text.encode(), (), atomic=True)))
    return tuple(sorted(dict.fromkeys(found), key=lambda one: one[1].start - one[1].end)[:_MOST])


def _list_swaps(name: str, was: Function, now: Function) -> Iterator[tuple[str, _Swap]]:
    """The dumps of the expressions of a function that others stand for now."""
    nodes = [*ast.walk(was)]
    own = {node.arg for node in nodes if isinstance(node, ast.arg)} - {"self", "cls"}
    own |= {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    for old, new in _compare(was, now):
        words = {node.id for node in ast.walk(old) if isinstance(node, ast.Name)}
        text = ast.unparse(new)
        text = text if stands_alone(text) else f"({text})"
        yield ast.dump(old), _Swap(text, ast.dump(new), name if words <= own else "")


def _compare(old: ast.AST, new: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """The smallest expressions in which two versions of code differ, literals apart."""
    if ast.dump(old) == ast.dump(new):
        return
    whole, pairs = type(old) is not type(new), list[tuple[ast.AST, ast.AST]]()
    for name in () if whole else old._fields:
        one, other = getattr(old, name, None), getattr(new, name, None)
        if isinstance(one, list) and isinstance(other, list):
            inner = [*_pair(one, other)]
            pairs += inner
            whole |= len(one) != len(other) or any(not isinstance(a, _INNER) for a, _ in inner)
        elif isinstance(one, _INNER) and isinstance(other, _INNER):
            pairs.append((one, other))
        elif isinstance(one, ast.AST) and isinstance(other, ast.AST):
            whole |= ast.dump(one) != ast.dump(other)
        else:
            whole |= one != other
    if isinstance(old, ast.expr) and isinstance(new, ast.expr) and whole:
        # Who sets another variable replaces no expression.
        read = isinstance(getattr(old, "ctx", None), ast.Load | None)
        if read and not isinstance(old, ast.Constant):
            yield old, new
    elif not (whole and isinstance(old, ast.keyword)):
        for pair in pairs:
            yield from _compare(*pair)


def _pair(some: Sequence[ast.AST], others: Sequence[ast.AST]) -> Iterator[tuple[ast.AST, ast.AST]]:
    """The nodes that differ, of two lists, and stand for each other; of statements those between.

    Operators and the like come without a partner that they could be replaced by.
    """
    dumps = [*map(ast.dump, some)], [*map(ast.dump, others)]
    if not isinstance(next(iter(some), None), ast.stmt) or max(map(len, dumps)) > _LONGEST:
        pairs = zip(some, others, *dumps, strict=False)
        yield from ((one, other) for one, other, a, b in pairs if a != b)
        return
    for tag, a, b, c, d in SequenceMatcher(None, *dumps, autojunk=False).get_opcodes():
        if tag == "replace" and b - a == d - c:
            yield from zip(some[a:b], others[c:d], strict=True)


def _list_places(
    name: str, function: Function, swaps: dict[str, _Swap | None]
) -> Iterator[tuple[ast.expr, _Swap]]:
    """The expressions that were replaced elsewhere, but for those in what replaced them.

    What is called instead may do itself what it replaces.
    """
    come = {swap.dump for swap in swaps.values() if swap}
    waiting: list[ast.AST] = [function]
    while waiting:
        node = waiting.pop()
        dump = ast.dump(node) if isinstance(node, ast.expr) else ""
        if (swap := swaps.get(dump)) is not None:
            if swap.function in {"", name} and function.name not in _WORD.findall(swap.text):
                yield node, swap  # type: ignore[misc]
        elif dump not in come:
            waiting += ast.iter_child_nodes(node)
