"""Loops: the way of iterating, and what is missing after the last round.

`for x in d` becomes `for x in d.items()`, a loop over a container runs over a copy, what the last
round left is taken in.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from heal_bot.repair.templates.change_tiers import Tier, assign_tiers
from heal_bot.repair.templates.mutation_context import MutationContext
from heal_bot.repair.templates.statement_insertion import after
from heal_bot.repair.templates.text_edits import ATOM, FEW, LAMBDA, OR, Mutation, Text, is_short


def iterables(scope: MutationContext) -> Iterator[Mutation]:
    """Another way through the same values."""
    site = scope.site
    for node in site.nodes:
        place = site.places[node]
        if place.field != "iter":
            continue
        value, target = site.text(node), getattr(place.parent, "target", None)
        head = value.at(ATOM)
        pair = isinstance(target, ast.Tuple) and len(target.elts) == 2
        inner = value.at(LAMBDA)
        options = [f"{head}.items()", f"enumerate({inner})"] if pair else []
        options += [f"sorted({inner})", f"list({inner})", f"reversed({inner})", f"range({inner})",
                    f"range(len({inner}))", f"{head}.values()", f"set({inner})", f"{head}[::-1]",
                    f"{value.at(OR)} or []", f"{head}.split()"]  # fmt: skip
        options += [f"zip({inner}, {head}[1:])"] if pair else []
        for code, tier in assign_tiers([*options, f"{head}[1:]", f"{head}[:-1]"]):
            yield site.put(node, Text(code, OR), tier)
        for name in scope.visible(node):
            kinds = scope.kinds.get(name, set())
            if name != value.code and ("number" in kinds or not kinds):
                for code in (f"{head}[{name}:]", f"{head}[:{name}]"):
                    yield site.put(node, Text(code), Tier.SELDOM if kinds else Tier.RARE)


def flushes(scope: MutationContext) -> Iterator[Mutation]:
    """After a loop its last state is taken in: `if current: result.append(current)`."""
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
                    if not is_short(code):
                        continue
                    yield from _remainders(scope, node, taking)
                    yield from _flushed(scope, node, inner, code)
                    yield from after(site, node, (code,), Tier.USUAL)
                case ast.Expr(value=ast.Yield(value=ast.expr())):
                    yield from _flushed(scope, node, inner, site.segment(inner))


def _flushed(
    scope: MutationContext, loop: ast.stmt, taken: ast.AST, code: str
) -> Iterator[Mutation]:
    """A statement of a loop after it, where there is something; most likely what it takes in."""
    own = {n.id for n in ast.walk(taken) if isinstance(n, ast.Name)}
    for name in scope.visible(loop)[:FEW] if is_short(code) else ():
        tier = Tier.USUAL if name in own else Tier.SELDOM
        for test in (name, f"{name} is not None"):
            yield from after(scope.site, loop, (f"if {test}:", f"\t{code}"), tier)


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
            yield from after(scope.site, loop, (f"{function}({name})",), Tier.USUAL)
