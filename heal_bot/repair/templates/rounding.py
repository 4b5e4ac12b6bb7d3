"""Rounding: `count // size` becomes `-(-count // size)`, the same division rounded up (2.0).

Also from `int(count / size)` and `round(count / size)`. The form with two signs needs no import
and is exact for integers of any size, which `math.ceil(count / size)` is not.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from heal_bot.repair.templates.mutation_context import MutationContext
from heal_bot.repair.templates.text_edits import PRODUCT, UNARY, Mutation, Text


def upwards(scope: MutationContext) -> Iterator[Mutation]:
    """Every rounded division, rounded up instead."""
    site = scope.site
    for node in site.nodes:
        match node:
            case ast.BinOp(left=above, op=ast.FloorDiv(), right=below):
                cost = 2.0
            case ast.Call(
                func=ast.Name(id="int" | "round"),
                args=[ast.BinOp(left=above, op=ast.Div() | ast.FloorDiv(), right=below)],
                keywords=[],
            ):
                cost = 2.2
            case _:
                continue
        quotient = f"-{site.text(above).at(UNARY)} // {site.text(below).at(PRODUCT + 1)}"
        yield site.put(node, Text(f"-({quotient})", UNARY), cost)
