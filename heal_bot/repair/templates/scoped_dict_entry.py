"""An entry that only a part of a function sees: `d[k] = v; f(d)` becomes `f({**d, k: v})`.

What a caller passed keeps its entries then: 2.4 for a parameter.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from heal_bot.repair.templates.mutation_context import COMPREHENSIONS, LOOPS, MutationContext
from heal_bot.repair.templates.text_edits import Mutation, TextEdit

_COST = 2.4
# Where a call may be made several times, or later.
_AGAIN = (*LOOPS, *COMPREHENSIONS, ast.Lambda, ast.FunctionDef, ast.AsyncFunctionDef)


def entries(scope: MutationContext) -> Iterator[Mutation]:
    """What is put into a parameter and handed on goes into a copy for that call."""
    site, function = scope.site, scope.site.function
    if function is None:
        return
    given = {arg.arg for arg in (*function.args.posonlyargs, *function.args.args)}
    for block in site.blocks():
        for at, statement in enumerate(block[:-1]):
            match statement:
                case ast.Assign(
                    targets=[ast.Subscript(value=ast.Name(id=name), slice=key)], value=value
                ) if name in given and not isinstance(key, ast.Slice):
                    entry = f"{site.text(key).at(1)}: {site.text(value).at(1)}"
                case _:
                    continue
            span, passed = site.whole(statement), _passed(scope, block[at + 1 :], name)
            if span is None or not passed or "\n" in entry:
                continue
            if not _stays(key, value, block[at + 1 :], once=len(passed) == 1):
                continue
            more = f"{{**{name}, {entry}}}"
            cuts = (
                TextEdit(*span, ""),
                *(TextEdit(site.start(n), site.end(n), more) for n in passed),
            )
            line = site.line(statement)
            why = f"line {line} puts its entry into a copy of `{name}` for what follows"
            yield Mutation(cuts, _COST, line, why)


def _stays(key: ast.expr, value: ast.expr, block: list[ast.stmt], *, once: bool) -> bool:
    """Whether key and value are the same where the copy is made as where they stood."""
    parts = [part for side in (key, value) for part in ast.walk(side)]
    if not once and any(isinstance(part, ast.Call) for part in parts):
        return False
    read = {part.id for part in parts if isinstance(part, ast.Name)}
    stored = (n for statement in block for n in ast.walk(statement) if isinstance(n, ast.Name))
    return not any(n.id in read and not isinstance(n.ctx, ast.Load) for n in stored)


def _passed(scope: MutationContext, block: list[ast.stmt], name: str) -> list[ast.Name]:
    """The uses of a name in statements, where all are arguments of calls, each made once."""
    every = [
        node
        for statement in block
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and node.id == name
    ]
    inside = {id(above) for statement in block for above in ast.walk(statement)}
    for node in every:
        # Those in an f-string have no place of their own.
        place = scope.site.places.get(node)
        if place is None or not isinstance(place.parent, ast.Call) or place.field != "args":
            return []
        if any(isinstance(above, _AGAIN) and id(above) in inside for above in scope.above(node)):
            return []
    return every
