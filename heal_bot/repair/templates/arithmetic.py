"""Arithmetic and bitwise operators: `a - b` becomes `a + b`, `n //= 2` becomes `n -= 2`.

The usual mistakes cost 1.2 to 1.8 (`+` and `-`, `*` and `/`, `/` and `//`, `&` and `|`), the rest
2.4 and more. Operands swap (`a - b` to `b - a`, 1.8) or drop (`a + 1` to `a`, 2.0).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from heal_bot.repair.templates.mutation_context import MutationContext
from heal_bot.repair.templates.text_edits import (
    AND,
    OR,
    Mutation,
    Text,
    binary,
    level,
    says,
)

SIGN: dict[type[ast.operator], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%",
    ast.Pow: "**", ast.LShift: "<<", ast.RShift: ">>", ast.BitAnd: "&", ast.BitOr: "|",
    ast.BitXor: "^", ast.MatMult: "@",
}  # fmt: skip
_OTHERS: dict[str, tuple[tuple[str, float], ...]] = {
    "+": (("-", 1.2), ("*", 1.8), ("//", 2.8), ("%", 2.8), ("/", 2.8), ("|", 2.8), ("**", 3.2)),
    "-": (("+", 1.2), ("*", 2.4), ("//", 2.6), ("%", 2.8), ("/", 2.6)),
    "*": (("**", 1.6), ("+", 1.6), ("/", 1.7), ("//", 1.8), ("-", 2.6), ("%", 2.8)),
    "/": (("//", 1.2), ("*", 1.6), ("%", 2.0), ("-", 2.6), ("+", 2.8)),
    "//": (("/", 1.2), ("%", 1.3), ("*", 1.8), ("-", 2.4), ("+", 2.8), (">>", 3.2)),
    "%": (("//", 1.3), ("/", 1.8), ("*", 2.6), ("-", 2.6), ("+", 2.8)),
    "**": (("*", 1.4), ("+", 2.8), ("//", 2.8)),
    "<<": ((">>", 1.2), ("*", 2.8)),
    ">>": (("<<", 1.2), ("//", 2.8)),
    "&": (("|", 1.2), ("^", 1.4), ("-", 2.4), ("and", 2.6)),
    "|": (("&", 1.2), ("^", 1.4), ("+", 2.6), ("or", 2.6)),
    "^": (("&", 1.2), ("|", 1.3), ("**", 1.8)),
    "@": (("*", 1.6),),
}
_WITH_TEXT = {"*": (("%", 1.6),), "+": (("%", 2.4),), "/": (("%", 2.0),)}
# A text that has a place for a value was meant to get one.
_CONVERTS = re.compile(r"%[-#0 +]*[\d.]*[srdiufgexXc]")
_MEANT, _LEAST = 0.6, 1.2


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)
    )


def _others(left: ast.expr, old: str) -> tuple[tuple[str, float], ...]:
    """The operators that may stand for another one, by what is on the left."""
    if not _is_text(left):
        return _OTHERS[old]
    if (
        isinstance(left, ast.Constant)
        and isinstance(left.value, str)
        and _CONVERTS.search(left.value)
    ):
        return tuple((new, max(_LEAST, cost - _MEANT)) for new, cost in _WITH_TEXT.get(old, ()))
    return _WITH_TEXT.get(old, ())


def _plain(node: ast.expr) -> bool:
    """Whether exchanging the operator alone cannot regroup the operands."""
    return not isinstance(node, ast.BinOp | ast.UnaryOp | ast.IfExp | ast.BoolOp | ast.Compare)


# What an assignment adds its value with; truth is not added up, `|=` keeps it a truth.
_SUMS = (("+=", 2.4), ("-=", 3.2), ("*=", 3.2), ("|=", 3.8))
_TRUTHS = (("|=", 2.6), ("&=", 3.0))


def operators(scope: MutationContext) -> Iterator[Mutation]:
    """Every other operator for every binary operation."""
    site = scope.site
    for node in site.each(ast.BinOp):
        if _is_text(node.right):
            continue
        old, line = SIGN[type(node.op)], site.line(node)
        for new, cost in _others(node.left, old):
            simple = _plain(node.left) and _plain(node.right)
            if simple and _weight(new) >= max(level(node), site.required(node)):
                cut = site.operator(node.left, node.right, old, new)
                if cut:
                    yield Mutation((cut,), cost, line, says(old, new, line))
            else:
                whole = binary(site.text(node.left), new, site.text(node.right))
                yield site.put(node, whole, cost)


def _weight(sign: str) -> int:
    return binary(Text("a"), sign, Text("b")).level


def augmented(scope: MutationContext) -> Iterator[Mutation]:
    """`total += x` with every other operator, and as a plain assignment."""
    site = scope.site
    for node in site.each(ast.AugAssign):
        old, line = SIGN[type(node.op)], site.line(node)
        others = [(new, cost) for new, cost in _OTHERS[old] if new not in {"and", "or"}]
        for new, cost in others:
            cut = site.operator(node.target, node.value, f"{old}=", f"{new}=")
            if cut:
                yield Mutation((cut,), cost, line, says(f"{old}=", f"{new}=", line))
        cut = site.operator(node.target, node.value, f"{old}=", "=")
        if cut:
            yield Mutation((cut,), 2.4, line, says(f"{old}=", "=", line))


def accumulations(scope: MutationContext) -> Iterator[Mutation]:
    """`total = x` becomes `total += x` or `total = total + x`'s kin `max(total, x)`, 2.4 to 3.8."""
    site = scope.site
    for node in site.statements:
        match node:
            case ast.Assign(targets=[ast.Name() | ast.Attribute() | ast.Subscript() as target]):
                line = site.line(node)
                for new, cost in _TRUTHS if _is_truth(node.value) else _SUMS:
                    cut = site.operator(target, node.value, "=", new)
                    if cut:
                        yield Mutation((cut,), cost, line, says("=", new, line))
                own, value = site.text(target), site.text(node.value)
                yield from _kept(scope, target, node.value)
                yield from _sticky(scope, node, target)
                for name in ("max", "min"):
                    both = Text(f"{name}({own.code}, {value.at(1)})")
                    yield site.put(node.value, both, 2.9)


def _sticky(scope: MutationContext, node: ast.Assign, target: ast.expr) -> Iterator[Mutation]:
    """A flag stays set: `self.changed = k not in d` to `self.changed = self.changed or …`, 2.4."""
    made = scope.site.function is not None and scope.site.function.name == "__init__"
    begins = made if isinstance(target, ast.Attribute) else scope.begins(node)
    if begins or not _is_truth(node.value):
        return
    had, new = scope.site.text(target), scope.site.text(node.value)
    for word, own, cost in (("or", OR, 2.4), ("and", AND, 2.6)):
        both = Text(f"{had.at(own)} {word} {new.at(own)}", own)
        yield scope.site.put(node.value, both, cost)


def _is_truth(value: ast.expr) -> bool:
    """Whether an expression says whether something holds."""
    if isinstance(value, ast.BoolOp):
        return all(map(_is_truth, value.values))
    negated = isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.Not)
    return negated or isinstance(value, ast.Compare)


def _kept(scope: MutationContext, target: ast.expr, value: ast.expr) -> Iterator[Mutation]:
    """What a key holds already counts too: `d[k] = n` to `d[k] = d.get(k, 0) + n`, 2.5."""
    site = scope.site
    match target:
        case ast.Subscript(value=head, slice=ast.Name() | ast.Attribute() | ast.Constant() as key):
            if isinstance(value, ast.Dict | ast.Set | ast.Compare | ast.BoolOp):
                return
            text = isinstance(value, ast.Constant) and isinstance(value.value, str)
            empty = {ast.List: "[]", ast.JoinedStr: '""'}.get(type(value), '""' if text else "0")
            had = Text(f"{site.text(head).at(16)}.get({site.segment(key)}, {empty})")
            yield site.put(value, binary(had, "+", site.text(value)), 2.5)
            yield from _gathered(scope, target, value)


def _gathered(scope: MutationContext, target: ast.Subscript, value: ast.expr) -> Iterator[Mutation]:
    """A key keeps all its values: `d[k] = v` to `d.setdefault(k, []).append(v)`, 2.6."""
    site, statement = scope.site, scope.site.places[value].statement
    if isinstance(statement, ast.Assign) and "\n" not in site.segment(statement):
        head, key = site.text(target.value).at(16), site.segment(target.slice)
        for empty, taking in (("[]", "append"), ("set()", "add")):
            made = f"{head}.setdefault({key}, {empty}).{taking}({site.text(value).at(1)})"
            yield site.replace(statement, made, 2.6)


def operands(scope: MutationContext) -> Iterator[Mutation]:
    """Operands exchanged (only where order matters), or one of them dropped."""
    site = scope.site
    for node in site.each(ast.BinOp):
        left, right = site.text(node.left), site.text(node.right)
        sign = SIGN[type(node.op)]
        if sign in {"-", "/", "//", "%", "**", "<<", ">>"} or (
            sign == "+" and not _numeric(node.left) and not _numeric(node.right)
        ):
            cost = 1.8 if sign != "+" else 2.4
            yield site.put(node, binary(right, sign, left), cost)
        yield site.put(node, left, 2.0)
        yield site.put(node, right, 2.6)


def _numeric(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, int | float)
