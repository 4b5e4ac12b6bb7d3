"""Comparison operators: `if low < high` becomes `if low <= high`.

The neighbour on the same side (`<` and `<=`, `==` and `!=`, `in` and `not in`) costs 1.0, the
opposite 1.5, any other ordering 2.2. One cut replaces the operator alone.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from heal_bot.repair.templates.mutation_context import MutationContext
from heal_bot.repair.templates.text_edits import Mutation, TextEdit, says

_SIGN: dict[type[ast.cmpop], str] = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
    ast.Is: "is", ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in",
}  # fmt: skip
_OTHERS: dict[str, tuple[tuple[str, float], ...]] = {
    "<": (("<=", 1.0), (">", 1.4), (">=", 1.7), ("!=", 2.2), ("==", 2.4)),
    "<=": (("<", 1.0), (">=", 1.4), (">", 1.7), ("==", 2.3), ("!=", 2.4)),
    ">": ((">=", 1.0), ("<", 1.4), ("<=", 1.7), ("!=", 2.2), ("==", 2.4)),
    ">=": ((">", 1.0), ("<=", 1.4), ("<", 1.7), ("==", 2.3), ("!=", 2.4)),
    "==": (("!=", 1.2), ("<=", 1.8), (">=", 1.8), ("<", 2.3), (">", 2.3), ("in", 2.5), ("is", 3)),
    "!=": (("==", 1.2), ("<", 2.0), (">", 2.0), ("<=", 2.4), (">=", 2.4), ("not in", 2.5)),
    "is": (("is not", 1.2), ("==", 1.8)),
    "is not": (("is", 1.2), ("!=", 1.8)),
    "in": (("not in", 1.2), ("==", 2.4)),
    "not in": (("in", 1.2), ("!=", 2.4)),
}


def comparisons(scope: MutationContext) -> Iterator[Mutation]:
    """Every other operator for every comparison."""
    site = scope.site
    for node in site.each(ast.Compare):
        operands = [node.left, *node.comparators]
        for left, op, right in zip(operands, node.ops, node.comparators, strict=False):
            old = _SIGN[type(op)]
            for new, cost in _OTHERS[old]:
                cut = site.operator(left, right, old, new)
                if cut:
                    yield Mutation((cut,), cost, site.line(node), says(old, new, site.line(node)))


def thresholds(scope: MutationContext) -> Iterator[Mutation]:
    """Operator and number together: `len(x) == 0` becomes `len(x) <= 1`, 2.4."""
    site = scope.site
    for node in site.nodes:
        match node:
            case ast.Compare(
                left=left, ops=[op], comparators=[ast.Constant(value=int(v)) as right]
            ):
                if isinstance(v, bool):
                    continue
                old, line = _SIGN[type(op)], site.line(node)
                for new in {"==": ("<=", ">="), "<": ("<=",), ">": (">=",)}.get(old, ("<", ">")):
                    cut = site.operator(left, right, old, new)
                    for number in (v + 1, v - 1):
                        if cut and number >= 0:
                            where = TextEdit(site.start(right), site.end(right), str(number))
                            why = says(f"{old} {v}", f"{new} {number}", line)
                            yield Mutation((cut, where), 2.4, line, why)
