"""Generators and awaits: `yield inner` becomes `yield from inner`, 1.6; `return x` to `yield x`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from heal_bot.repair.templates.mutation_context import MutationContext
from heal_bot.repair.templates.text_edits import Mutation, Text, TextEdit, call, says


def delegations(scope: MutationContext) -> Iterator[Mutation]:
    """`yield` for `yield from`, the other way round, and a yielded call's recursion."""
    site = scope.site
    own = getattr(site.root, "name", "")
    for node in site.nodes:
        line = site.line(node)
        match node:
            case ast.Yield(value=ast.expr() as value):
                cut = TextEdit(site.start(node), site.start(node) + 5, "yield from")
                yield Mutation((cut,), 1.6, line, says("yield", "yield from", line))
                yield site.put(value, call(own, site.text(value)), 2.8)
            case ast.YieldFrom():
                begin = site.start(node)
                length = site.source[begin:].index(b"from") + 4
                cut = TextEdit(begin, begin + length, "yield")
                yield Mutation((cut,), 1.6, line, says("yield from", "yield", line))
            case ast.Call() if isinstance(site.places[node].parent, ast.Expr):
                begin = site.start(node)
                cut = TextEdit(begin, begin, "yield from ")
                yield Mutation((cut,), 2.4, line, says("", "yield from", line))


def returns(scope: MutationContext) -> Iterator[Mutation]:
    """`return x` becomes `yield x`, and `yield` of a name becomes one of its copy: 2.4."""
    site = scope.site
    for node in site.statements:
        if isinstance(node, ast.Return) and node.value is not None:
            line, begin = site.line(node), site.start(node)
            for word in ("yield", "yield from"):
                cut = TextEdit(begin, begin + 6, word)
                yield Mutation((cut,), 2.8, line, says("return", word, line))
    for value in site.nodes:
        match value:
            case ast.Yield(value=ast.Name(id=name) as inner):
                for code in (f"list({name})", f"{name}[:]", f"tuple({name})"):
                    yield site.put(inner, Text(code), 2.6)
