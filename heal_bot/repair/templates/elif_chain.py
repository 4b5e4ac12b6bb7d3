"""The branches of an `if` with `elif`: their order, and the one that is missing.

The condition that a wider one hides moves before it, 2.2. `if k in d: d[k] += 1` gets the `else`
that puts the first one in, 2.2.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from heal_bot.repair.templates.mutation_context import MutationContext
from heal_bot.repair.templates.statement_insertion import after
from heal_bot.repair.templates.target_ast import TargetAst
from heal_bot.repair.templates.text_edits import Mutation, TextEdit

_MOVED, _FIRST = 2.2, 2.2
_LONGEST = 6
# What a container begins with that such a method would have filled.
_WITH = {"append": "[{}]", "add": "{{{}}}", "extend": "list({})", "update": "dict({})"}


def orders(scope: MutationContext) -> Iterator[Mutation]:
    """A branch comes before an earlier one."""
    site = scope.site
    for node in site.each(ast.If):
        if site.source.startswith(b"elif", site.start(node)):
            continue
        branches = _branches(site, node)
        spans = [span for test, body in branches for span in (test, body)]
        texts = [site.source[begin:end].decode() for begin, end in spans]
        if not all(text.endswith("\n") for text in texts[1::2]):
            continue
        for at in range(1, len(branches)):
            for to in range(at):
                order = [*range(to), at, *range(to, at), *range(at + 1, len(branches))]
                moved = [text for n in order for text in texts[2 * n : 2 * n + 2]]
                pairs = zip(spans, texts, moved, strict=True)
                cuts = tuple(TextEdit(*span, new) for span, old, new in pairs if old != new)
                line = site.line(node)
                why = f"`{texts[2 * at]}` is asked before `{texts[2 * to]}` on line {line}"
                yield Mutation(cuts, _MOVED, line, why)


def _branches(site: TargetAst, node: ast.If) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """The spans of the condition and of the lines of each branch; none where one is not plain."""
    found: list[tuple[tuple[int, int], tuple[int, int]]] = []
    current: ast.stmt = node
    while isinstance(current, ast.If) and len(found) < _LONGEST:
        first, last = site.whole(current.body[0]), site.whole(current.body[-1])
        if first is None or last is None or "\n" in site.segment(current.test):
            return []
        test = (site.start(current.test), site.end(current.test))
        found.append((test, (first[0], last[1])))
        below = current.orelse[0] if len(current.orelse) == 1 else None
        if not isinstance(below, ast.If) or not site.source.startswith(b"elif", site.start(below)):
            break
        current = below
    return found


def beginnings(scope: MutationContext) -> Iterator[Mutation]:
    """What is added to under a key that is there is put in where it is not."""
    site = scope.site
    for node in site.statements:
        match node:
            case ast.If(
                test=ast.Compare(left=key, ops=[ast.In()], comparators=[held]),
                body=[only],
                orelse=[],
            ):
                target, code = _begun(site, only)
            case _:
                continue
        if target is None or not _is_of(target, held, key):
            continue
        lines = ("else:", f"\t{site.segment(target)} = {code}")
        if "\n" not in code:
            yield from after(site, node, lines, _FIRST)


def _begun(site: TargetAst, only: ast.stmt) -> tuple[ast.Subscript | None, str]:
    """The item that a statement adds to, and what it would be with that alone."""
    match only:
        case ast.AugAssign(target=ast.Subscript() as target, op=ast.Add(), value=value):
            return target, site.segment(value)
        case ast.Expr(
            value=ast.Call(
                func=ast.Attribute(value=ast.Subscript() as target, attr=attr), args=[value]
            )
        ) if attr in _WITH:
            return target, _WITH[attr].format(site.segment(value))
    return None, ""


def _is_of(target: ast.Subscript, held: ast.expr, key: ast.expr) -> bool:
    same = ast.unparse(target.value) == ast.unparse(held)
    return same and ast.unparse(target.slice) == ast.unparse(key)
