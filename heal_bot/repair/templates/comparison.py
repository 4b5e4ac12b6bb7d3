"""Comparison operators: `if low < high` becomes `if low <= high`.

The neighbour on the same side (`<` and `<=`, `==` and `!=`, `in` and `not in`) comes first, then
the opposite, then any other ordering. One cut replaces the operator alone.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from heal_bot.repair.templates.change_tiers import assign_tiers
from heal_bot.repair.templates.mutation_context import MutationContext
from heal_bot.repair.templates.text_edits import Mutation, says

_SIGN: dict[type[ast.cmpop], str] = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
    ast.Is: "is", ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in",
}  # fmt: skip
_OTHERS: dict[str, tuple[str, ...]] = {
    "<": ("<=", ">", ">=", "!=", "=="),
    "<=": ("<", ">=", ">", "==", "!="),
    ">": (">=", "<", "<=", "!=", "=="),
    ">=": (">", "<=", "<", "==", "!="),
    "==": ("!=", "<=", ">=", "<", ">", "in", "is"),
    "!=": ("==", "<", ">", "<=", ">=", "not in"),
    "is": ("is not", "=="),
    "is not": ("is", "!="),
    "in": ("not in", "=="),
    "not in": ("in", "!="),
}


def comparisons(scope: MutationContext) -> Iterator[Mutation]:
    """Every other operator for every comparison."""
    site = scope.site
    for node in site.each(ast.Compare):
        operands = [node.left, *node.comparators]
        for left, op, right in zip(operands, node.ops, node.comparators, strict=False):
            old = _SIGN[type(op)]
            for new, tier in assign_tiers(_OTHERS[old]):
                cut = site.operator(left, right, old, new)
                if cut:
                    yield Mutation((cut,), tier, site.line(node), says(old, new, site.line(node)))
