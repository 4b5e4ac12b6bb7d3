"""Subscripts: `prices[name]` becomes `prices.get(name, 0)`, `total = x` `totals[k] = x`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from heal_bot.repair.templates.change_tiers import Tier, assign_tiers, combine_tiers
from heal_bot.repair.templates.default_values import extra
from heal_bot.repair.templates.mutation_context import MutationContext
from heal_bot.repair.templates.text_edits import (
    ATOM,
    FEW,
    LAMBDA,
    MANY,
    Mutation,
    Text,
    TextEdit,
    is_short,
    says,
)

_MEANT = {"default", "fallback", "otherwise", "missing", "initial"}
_DEFAULTS = ("0", '""', "[]", "{}", "False", "1", "set()")


def gets(scope: MutationContext) -> Iterator[Mutation]:
    """A subscript that may miss its key becomes `.get`, and `.get` gets a default."""
    site = scope.site
    missing = Tier.USUAL if "KeyError" in scope.evidence.kinds else Tier.SELDOM
    for node in site.nodes:
        match node:
            case ast.Subscript(value=value, slice=ast.expr() as key, ctx=ast.Load()):
                if isinstance(key, ast.Slice | ast.Tuple):
                    continue
                head, inner = site.text(value).at(ATOM), site.text(key).at(LAMBDA)
                yield site.put(node, Text(f"{head}.get({inner})"), missing)
                for default, tier in _defaults(scope, node, inner):
                    code = f"{head}.get({inner}, {default})"
                    yield site.put(node, Text(code), combine_tiers(missing, tier))
            case ast.Call(func=ast.Attribute(value=value, attr="get"), args=[key] | [key, _]):
                head, inner = site.text(value).at(ATOM), site.text(key).at(LAMBDA)
                for default, tier in _usual(scope, node) if node.args == [key] else ():
                    yield site.put(node, Text(f"{head}.get({inner}, {default})"), tier)
                yield site.put(node, Text(f"{head}[{inner}]"), Tier.SELDOM)


def _defaults(scope: MutationContext, node: ast.expr, key: str) -> Iterator[tuple[str, Tier]]:
    """What a key that is missing may stand for: a name, a constant of the tests, the key."""
    names = scope.visible(node)[:FEW]
    meant = [name for name in names if name in _MEANT or name in scope.unused]
    yield from ((name, Tier.USUAL) for name in meant)
    yield from _usual(scope, node)
    for expected in scope.evidence.constants[:FEW]:
        yield repr(expected), Tier.USUAL
    yield key, Tier.USUAL
    yield from ((name, Tier.SELDOM) for name in names if name not in meant)


def _usual(scope: MutationContext, node: ast.expr) -> Iterator[tuple[str, Tier]]:
    """Defaults for a key, those of the kind that its place asks for first."""
    yield from assign_tiers(sorted(_DEFAULTS, key=lambda default: extra(scope, node, default)))


def stores(scope: MutationContext) -> Iterator[Mutation]:
    """An assignment goes to another place of the function: `total = x` to `totals[k] = x`."""
    site = scope.site
    places: dict[str, None] = {}
    for node in site.nodes:
        if isinstance(node, ast.Subscript | ast.Attribute):
            code = site.segment(node)
            if not site.is_called(node) and is_short(code) and ":" not in code:
                places[code] = None
    for statement in site.statements:
        match statement:
            case ast.Assign(targets=[target]) | ast.AugAssign(target=target):
                old, line = site.segment(target), site.line(statement)
                for code in list(places)[:MANY]:
                    if code != old:
                        cut = TextEdit(site.start(target), site.end(target), code)
                        yield Mutation((cut,), Tier.USUAL, line, says(old, code, line))
