"""Boolean operators and negation: `a and b` becomes `a or b`, `if ready` becomes `if not ready`.

`not not x` is never written: the negation of a comparison turns its operator, that of a `not`
drops it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import pairwise

from heal_bot.repair.templates.change_tiers import Tier
from heal_bot.repair.templates.mutation_context import MutationContext
from heal_bot.repair.templates.target_ast import TargetAst
from heal_bot.repair.templates.text_edits import AND, NOT, OR, Mutation, Text, binary, says


def operators(scope: MutationContext) -> Iterator[Mutation]:
    """`and` for `or` and the other way round, over all operands or between two of them."""
    site = scope.site
    for node in site.each(ast.BoolOp):
        old, new = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        line = site.line(node)
        pairs = list(pairwise(node.values))
        plain = not any(isinstance(v, ast.BoolOp | ast.IfExp | ast.Lambda) for v in node.values)
        if plain and site.required(node) < AND:
            cuts = [c for a, b in pairs if (c := site.operator(a, b, old, new))]
            if len(cuts) == len(pairs):
                yield Mutation(tuple(cuts), Tier.USUAL, line, says(old, new, line))
            for cut in cuts if len(pairs) > 1 else ():
                yield Mutation((cut,), Tier.SELDOM, line, says(old, new, line))
        else:
            yield site.put(node, _joined(site, node.values, new), Tier.USUAL)


def dropped_operands(scope: MutationContext) -> Iterator[Mutation]:
    """`a and b` becomes `a` or `b`."""
    site = scope.site
    for node in site.each(ast.BoolOp):
        word = "and" if isinstance(node.op, ast.And) else "or"
        for skipped in range(len(node.values)):
            rest = [v for i, v in enumerate(node.values) if i != skipped]
            left = _joined(site, rest, word) if len(rest) > 1 else site.text(rest[0])
            yield site.put(node, left, Tier.USUAL)


def _joined(site: TargetAst, operands: list[ast.expr], word: str) -> Text:
    """The operands of an `and` or an `or`."""
    own, needed = (AND, NOT) if word == "and" else (OR, AND)
    return Text(f" {word} ".join(site.text(one).at(needed) for one in operands), own)


def negated(site: TargetAst, node: ast.expr) -> Text:
    """The simplest text of `not node`."""
    match node:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return site.text(operand)
        case ast.Constant(value=bool(value)):
            return Text(str(not value))
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            opposite = _OPPOSITE.get(type(op))
            if opposite:
                return binary(site.text(left), opposite, site.text(right))
    return Text(f"not {site.text(node).at(NOT)}", NOT)


_OPPOSITE: dict[type[ast.cmpop], str] = {
    ast.Eq: "!=", ast.NotEq: "==", ast.Is: "is not", ast.IsNot: "is", ast.In: "not in",
    ast.NotIn: "in", ast.Lt: ">=", ast.GtE: "<", ast.Gt: "<=", ast.LtE: ">",
}  # fmt: skip


def negations(scope: MutationContext) -> Iterator[Mutation]:
    """A condition, an operand of `and`/`or`, or a returned truth value negated."""
    site = scope.site
    for node in site.nodes:
        place = site.places[node]
        match place.parent:
            case ast.UnaryOp(op=ast.Not()) as outer:
                yield site.put(outer, site.text(node), Tier.USUAL)
                continue
            case ast.If() | ast.While() | ast.IfExp() | ast.Assert() if place.field == "test":
                tier = Tier.USUAL
            case ast.BoolOp() | ast.comprehension() if place.field in {"values", "ifs"}:
                tier = Tier.USUAL
            case ast.Call(func=ast.Name(id="all" | "any" | "bool" | "sum")) if (
                place.field == "args"
            ):
                tier = Tier.SELDOM
            case ast.GeneratorExp() | ast.ListComp() if isinstance(node, ast.Compare):
                tier = Tier.SELDOM
            case ast.Return() | ast.Assign() if place.field == "value" and isinstance(
                node, ast.Compare | ast.BoolOp | ast.Call | ast.UnaryOp
            ):
                tier = Tier.RARE if isinstance(node, ast.Call) else Tier.SELDOM
            case _:
                continue
        match node:
            case ast.UnaryOp(op=ast.Not()) | ast.Compare(ops=[_]):
                continue
        yield site.put(node, negated(site, node), tier)


def flipped_branches(scope: MutationContext) -> Iterator[Mutation]:
    """`a if c else b` becomes `b if c else a`, or one of the two alone."""
    site = scope.site
    for node in site.each(ast.IfExp):
        first, second, line = site.text(node.body), site.text(node.orelse), site.line(node)
        here = site.put(node.body, second, Tier.USUAL)
        there = site.put(node.orelse, first, Tier.USUAL)
        why = f"the branches of the conditional on line {line} are exchanged"
        yield Mutation((*here.cuts, *there.cuts), Tier.USUAL, line, why)
        for branch in (first, second):
            yield site.put(node, branch, Tier.SELDOM)
