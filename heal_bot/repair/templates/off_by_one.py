"""Off by one: `range(n)` becomes `range(n + 1)`, `items[i]` becomes `items[i - 1]`.

Usual in bounds of `range`, slices, subscripts and comparisons, seldom elsewhere. Sums are folded:
`n - 1` plus one is `n`, never `n - 1 + 1`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from heal_bot.repair.templates.change_tiers import Tier
from heal_bot.repair.templates.mutation_context import MutationContext, value_kind
from heal_bot.repair.templates.target_ast import TargetAst
from heal_bot.repair.templates.text_edits import AWAIT, UNARY, Mutation, Text, binary

_NEVER = (
    ast.List, ast.Dict, ast.Set, ast.Tuple, ast.ListComp, ast.SetComp, ast.DictComp,
    ast.GeneratorExp, ast.Lambda, ast.JoinedStr, ast.Compare, ast.BoolOp, ast.Starred,
    ast.Yield, ast.YieldFrom, ast.Slice, ast.NamedExpr, ast.IfExp,
)  # fmt: skip


def shifted(site: TargetAst, node: ast.expr, step: int) -> Text:
    """The text of `node + step` with constants folded."""
    match node:
        case ast.Constant(value=int(value)) if not isinstance(value, bool):
            return _number(value + step)
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(value))):
            return _number(step - value)
        case ast.BinOp(
            left=left, op=ast.Add() | ast.Sub() as op, right=ast.Constant(value=int(value))
        ):
            total = step + (value if isinstance(op, ast.Add) else -value)
            if total == 0:
                return site.text(left)
            return binary(site.text(left), "+" if total > 0 else "-", Text(str(abs(total))))
    return binary(site.text(node), "+" if step > 0 else "-", Text(str(abs(step))))


def _number(value: int) -> Text:
    return Text(str(value), AWAIT if value >= 0 else UNARY)


def _is_number(scope: MutationContext, node: ast.expr) -> bool | None:
    """Whether an expression is a number: yes, no, or not known."""
    match node:
        case ast.Constant(value=value):
            return isinstance(value, int | float) and not isinstance(value, bool)
        case ast.Name(id=name):
            kinds = scope.kinds.get(name, set())
            return True if "number" in kinds else None if not kinds else False
        case ast.UnaryOp(op=ast.USub()):
            return True
        case ast.UnaryOp(op=ast.Not()):
            return False
        case ast.BinOp(left=left, op=ast.Add() | ast.Mult(), right=right):
            sides = {_is_number(scope, left), _is_number(scope, right)}
            return False if False in sides else True if True in sides else None
    kind = value_kind(node)
    return True if kind == "number" else False if kind else None


def _tier(scope: MutationContext, node: ast.expr) -> Tier | None:
    """How usual a step of one is in the place of a node; None where it makes no sense."""
    place, known = scope.site.places[node], _is_number(scope, node)
    if place.field == "func":
        return None
    match place.parent:
        case ast.Call(func=ast.Name(id="range")) | ast.Slice():
            return Tier.USUAL
        case ast.Tuple() if isinstance(scope.site.places[place.parent].parent, ast.Subscript):
            around = scope.site.places[place.parent]
            stored = isinstance(getattr(around.parent, "ctx", None), ast.Store)
            return (
                Tier.SELDOM if stored and isinstance(around.statement, ast.Assign) else Tier.USUAL
            )
        case _ if known is False:
            return None
        case ast.Subscript() | ast.Compare() if place.field != "value":
            return Tier.USUAL
        case ast.BinOp(op=ast.Add() | ast.Sub()):
            # The sum around it takes the step; inside it the same result would come twice.
            return None
        case ast.Call(func=ast.Name(id=name)) if name in _functions_around(scope, node):
            return Tier.USUAL
        case (
            ast.Return() | ast.Assign() | ast.AugAssign() | ast.AnnAssign() | ast.Call()
            | ast.BinOp() | ast.IfExp() | ast.keyword() | ast.Tuple() | ast.List()
        ):  # fmt: skip
            return Tier.SELDOM if known else Tier.RARE
    return None


def _functions_around(scope: MutationContext, node: ast.expr) -> set[str]:
    """Names of the functions a node is in: a call of one of them is a recursion."""
    return {getattr(above, "name", "") for above in scope.above(node)}


def steps(scope: MutationContext) -> Iterator[Mutation]:
    """One more and one less wherever a number stands."""
    site = scope.site
    for node in site.nodes:
        if isinstance(node, _NEVER) or isinstance(getattr(node, "ctx", None), ast.Store | ast.Del):
            continue
        tier = _tier(scope, node)
        if tier is None or isinstance(node, ast.Constant):
            continue
        for step in (1, -1):
            yield site.put(node, shifted(site, node, step), tier)
