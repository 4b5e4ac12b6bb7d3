"""Loops: the way of iterating, and what is missing after the last round.

`for x in d` becomes `for x in d.items()` (2.0), a loop over a container runs over a copy (2.4),
what the last round left is taken in (3.0 to 3.9).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from heal_bot.repair.templates.mutation_context import MutationContext
from heal_bot.repair.templates.statement_insertion import after
from heal_bot.repair.templates.text_edits import Mutation, Text


def iterables(scope: MutationContext) -> Iterator[Mutation]:
    """Another way through the same values."""
    site = scope.site
    for node in site.nodes:
        place = site.places[node]
        if place.field != "iter":
            continue
        value, target = site.text(node), getattr(place.parent, "target", None)
        head = value.at(16)
        pair = isinstance(target, ast.Tuple) and len(target.elts) == 2
        options = [(f"list({value.at(1)})", 2.4), (f"reversed({value.at(1)})", 2.4),
                   (f"sorted({value.at(1)})", 2.3), (f"{head}[1:]", 3.3), (f"{head}[:-1]", 3.4),
                   (f"range(len({value.at(1)}))", 2.6), (f"range({value.at(1)})", 2.4),
                   (f"set({value.at(1)})", 3.0), (f"{head}[::-1]", 3.0),
                   (f"{value.at(3)} or []", 3.0), (f"{head}.values()", 2.8),
                   (f"{head}.split()", 3.0)]  # fmt: skip
        if pair:
            options += [(f"{head}.items()", 2.0), (f"enumerate({value.at(1)})", 2.0),
                        (f"zip({value.at(1)}, {head}[1:])", 3.0)]  # fmt: skip
        for name in scope.visible(node):
            kinds = scope.kinds.get(name, set())
            if name != value.code and ("number" in kinds or not kinds):
                extra = 0.0 if kinds else 0.4
                options += [(f"{head}[{name}:]", 2.6 + extra), (f"{head}[:{name}]", 2.7 + extra)]
        for code, cost in options:
            level = 3 if " or " in code else 16
            yield site.put(node, Text(code, level), cost)


def flushes(scope: MutationContext) -> Iterator[Mutation]:
    """After a loop its last state is taken in: `if current: result.append(current)`, 3.4."""
    site = scope.site
    for node in site.statements:
        if not isinstance(node, ast.For | ast.While):
            continue
        for inner in ast.walk(node):
            match inner:
                case ast.Expr(
                    value=ast.Call(func=ast.Attribute(attr="append" | "add" | "extend") as taking)
                ):
                    code = site.segment(inner)
                    if "\n" in code:
                        continue
                    yield from after(site, node, (code,), 3.2)
                    yield from _remainders(scope, node, taking)
                    yield from _flushed(scope, node, inner, code)
                case ast.Expr(value=ast.Yield(value=ast.expr())):
                    yield from _flushed(scope, node, inner, site.segment(inner))


def _flushed(
    scope: MutationContext, loop: ast.stmt, taken: ast.AST, code: str
) -> Iterator[Mutation]:
    """A statement of a loop after it, where there is something; most likely what it takes in."""
    own = {n.id for n in ast.walk(taken) if isinstance(n, ast.Name)}
    for name in scope.visible(loop)[:7] if "\n" not in code else ():
        cost = 3.0 if name in own else 3.9
        for test in (name, f"{name} is not None"):
            yield from after(scope.site, loop, (f"if {test}:", f"\t{code}"), cost)
            cost += 0.2


def _remainders(
    scope: MutationContext, loop: ast.For | ast.While, taking: ast.expr
) -> Iterator[Mutation]:
    """What the loop took from is taken in as a whole: `parts.append(rest)` after it."""
    changed = {
        node.id
        for node in ast.walk(loop)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    function = scope.site.segment(taking)
    for name in scope.visible(loop):
        if name in changed:
            yield from after(scope.site, loop, (f"{function}({name})",), 3.0)
