"""Boolean operators and negation: `a and b` becomes `a or b`, `if ready` becomes `if not ready`.

The operator costs 1.3, a dropped operand 2.0, a negation 1.7. `not not x` is never written: the
negation of a comparison turns its operator, that of a `not` drops it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from heal_bot.repair.templates.mutation_context import MutationContext
from heal_bot.repair.templates.target_ast import TargetAst
from heal_bot.repair.templates.text_edits import AND, NOT, OR, Mutation, Text, says


def operators(scope: MutationContext) -> Iterator[Mutation]:
    """`and` for `or` and the other way round, over all operands or between two of them."""
    site = scope.site
    for node in site.each(ast.BoolOp):
        old, new = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        line = site.line(node)
        pairs = list(zip(node.values, node.values[1:], strict=False))
        plain = not any(isinstance(v, ast.BoolOp | ast.IfExp | ast.Lambda) for v in node.values)
        if plain and site.required(node) < AND:
            cuts = [site.operator(a, b, old, new) for a, b in pairs]
            if all(cuts):
                yield Mutation(tuple(c for c in cuts if c), 1.3, line, says(old, new, line))
            if len(cuts) > 1:
                for cut in cuts:
                    if cut:
                        yield Mutation((cut,), 2.0, line, says(old, new, line))
        else:
            yield site.put(node, _joined(site, node.values, new), 1.3)


def dropped_operands(scope: MutationContext) -> Iterator[Mutation]:
    """`a and b` becomes `a` or `b`: 2.0."""
    site = scope.site
    for node in site.each(ast.BoolOp):
        word = "and" if isinstance(node.op, ast.And) else "or"
        for skipped in range(len(node.values)):
            rest = [v for i, v in enumerate(node.values) if i != skipped]
            if len(rest) == 1:
                yield site.put(node, site.text(rest[0]), 2.0)
            else:
                yield site.put(node, _joined(site, rest, word), 2.0)


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
                code = f"{site.text(left).at(7)} {opposite} {site.text(right).at(7)}"
                return Text(code, 6)
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
            case ast.If() | ast.While() | ast.IfExp() | ast.Assert() if place.field == "test":
                cost = 1.7
            case ast.BoolOp() | ast.comprehension() if place.field in {"values", "ifs"}:
                cost = 1.9
            case ast.UnaryOp(op=ast.Not()):
                outer = place.parent
                yield site.put(outer, site.text(node), 1.5)
                continue
            case ast.Return() | ast.Assign() if place.field == "value":
                if not isinstance(node, ast.Compare | ast.BoolOp | ast.Call | ast.UnaryOp):
                    continue
                cost = 2.2 if not isinstance(node, ast.Call) else 3.0
            case ast.Call(func=ast.Name(id="all" | "any" | "bool" | "sum")):
                cost = 2.6
            case ast.GeneratorExp() | ast.ListComp() if isinstance(node, ast.Compare):
                cost = 2.2
            case _:
                continue
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            continue
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            continue
        yield site.put(node, negated(site, node), cost)


def flipped_branches(scope: MutationContext) -> Iterator[Mutation]:
    """`a if c else b` becomes `b if c else a`, or one of the two alone: 1.8 to 2.4."""
    site = scope.site
    for node in site.nodes:
        if isinstance(node, ast.IfExp):
            first, second = site.text(node.body), site.text(node.orelse)
            here, there = site.put(node.body, second, 1.8), site.put(node.orelse, first, 1.8)
            line = site.line(node)
            why = f"the branches of the conditional on line {line} are exchanged"
            yield Mutation((*here.cuts, *there.cuts), 1.8, line, why)
            yield site.put(node, first, 2.4)
            yield site.put(node, second, 2.4)
