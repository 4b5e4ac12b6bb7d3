"""Loops that go on from where they began: `yield step(x)` becomes `x = step(x)` and `yield x`.

Only where the loop makes a value of a name, and never sets that name: 2.6.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from heal_bot.repair.templates.mutation_context import LOOPS, MutationContext
from heal_bot.repair.templates.statement_insertion import before
from heal_bot.repair.templates.text_edits import Mutation, Text


def carried(scope: MutationContext) -> Iterator[Mutation]:
    """A value that a loop yields or passes on, made of a name that stays as it is."""
    site = scope.site
    for loop in site.statements:
        if not isinstance(loop, LOOPS):
            continue
        names = (node for node in ast.walk(loop) if isinstance(node, ast.Name))
        changed = {node.id for node in names if not isinstance(node.ctx, ast.Load)}
        for statement in loop.body:
            value = _passed_on(statement)
            if value is None or "\n" in site.segment(value):
                continue
            made = {n.id for n in ast.walk(value) if isinstance(n, ast.Name)}
            for name in sorted(made & set(scope.visible(loop)) - changed):
                for step in before(site, statement, (f"{name} = {site.segment(value)}",), 2.6):
                    (cut,) = site.put(value, Text(name), 2.6).cuts
                    yield replace(step, cuts=(*step.cuts, cut))


def _passed_on(statement: ast.stmt) -> ast.expr | None:
    """The call or sum that a statement yields or gives to a method; None for other ones."""
    match statement:
        case ast.Expr(value=ast.Yield(value=ast.Call() | ast.BinOp() as value)):
            return value
        case ast.Expr(
            value=ast.Call(func=ast.Attribute(), args=[ast.Call() | ast.BinOp() as value])
        ):
            return value
    return None
