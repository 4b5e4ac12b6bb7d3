"""Arithmetic and bitwise operators: `a - b` becomes `a + b`, `n //= 2` becomes `n -= 2`.

The usual mistakes come first: `+` and `-`, `*` and `/`, `/` and `//`, `&` and `|`. Operands swap
(`a - b` to `b - a`) or drop (`a + 1` to `a`).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from heal_bot.repair.templates.change_tiers import Tier, assign_tiers
from heal_bot.repair.templates.mutation_context import MutationContext
from heal_bot.repair.templates.text_edits import (
    AND,
    ATOM,
    LAMBDA,
    OR,
    Mutation,
    Text,
    binary,
    call,
    level,
    says,
)

SIGN: dict[type[ast.operator], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%",
    ast.Pow: "**", ast.LShift: "<<", ast.RShift: ">>", ast.BitAnd: "&", ast.BitOr: "|",
    ast.BitXor: "^", ast.MatMult: "@",
}  # fmt: skip
_OTHERS: dict[str, tuple[str, ...]] = {
    "+": ("-", "*", "//", "%", "/", "|", "**"),
    "-": ("+", "*", "//", "/", "%"),
    "*": ("**", "+", "/", "//", "-", "%"),
    "/": ("//", "*", "%", "-", "+"),
    "//": ("/", "%", "*", "-", "+", ">>"),
    "%": ("//", "/", "*", "-", "+"),
    "**": ("*", "+", "//"),
    "<<": (">>", "*"),
    ">>": ("<<", "//"),
    "&": ("|", "^", "-", "and"),
    "|": ("&", "^", "+", "or"),
    "^": ("&", "|", "**"),
    "@": ("*",),
}
# A text that has a place for a value was meant to get one.
_CONVERTS = re.compile(r"%[-#0 +]*[\d.]*[srdiufgexXc]")


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)
    )


def _others(left: ast.expr, old: str) -> Iterator[tuple[str, Tier]]:
    """The operators that may stand for another one, by what is on the left."""
    if not _is_text(left):
        yield from assign_tiers(_OTHERS[old])
    elif old in {"*", "+", "/"}:
        text = left.value if isinstance(left, ast.Constant) else None
        yield "%", Tier(not (isinstance(text, str) and _CONVERTS.search(text)))


def _plain(node: ast.expr) -> bool:
    """Whether exchanging the operator alone cannot regroup the operands."""
    return not isinstance(node, ast.BinOp | ast.UnaryOp | ast.IfExp | ast.BoolOp | ast.Compare)


# What an assignment adds its value with; truth is not added up, `|=` keeps it a truth.
_SUMS = ("+=", "-=", "*=", "|=")
_TRUTHS = ("|=", "&=")


def operators(scope: MutationContext) -> Iterator[Mutation]:
    """Every other operator for every binary operation."""
    site = scope.site
    for node in site.each(ast.BinOp):
        if _is_text(node.right):
            continue
        old, line = SIGN[type(node.op)], site.line(node)
        for new, tier in _others(node.left, old):
            simple = _plain(node.left) and _plain(node.right)
            if simple and _weight(new) >= max(level(node), site.required(node)):
                cut = site.operator(node.left, node.right, old, new)
                if cut:
                    yield Mutation((cut,), tier, line, says(old, new, line))
            else:
                whole = binary(site.text(node.left), new, site.text(node.right))
                yield site.put(node, whole, tier)


def _weight(sign: str) -> int:
    return binary(Text("a"), sign, Text("b")).level


def augmented(scope: MutationContext) -> Iterator[Mutation]:
    """`total += x` with every other operator, and as a plain assignment."""
    site = scope.site
    for node in site.each(ast.AugAssign):
        old, line = SIGN[type(node.op)], site.line(node)
        others = [f"{new}=" for new in _OTHERS[old] if new not in {"and", "or"}]
        for new, tier in assign_tiers((*others[:2], "=", *others[2:])):
            cut = site.operator(node.target, node.value, f"{old}=", new)
            if cut:
                yield Mutation((cut,), tier, line, says(f"{old}=", new, line))


def accumulations(scope: MutationContext) -> Iterator[Mutation]:
    """`total = x` becomes `total += x` or `total = total + x`'s kin `max(total, x)`."""
    site = scope.site
    for node in site.statements:
        match node:
            case ast.Assign(targets=[ast.Name() | ast.Attribute() | ast.Subscript() as target]):
                line = site.line(node)
                yield from _sticky(scope, node, target)
                signs = _TRUTHS if _is_truth(node.value) else _SUMS
                for new in signs:
                    cut = site.operator(target, node.value, "=", new)
                    if cut:
                        yield Mutation((cut,), Tier(new != signs[0]), line, says("=", new, line))
                yield from _kept(scope, target, node.value)
                for name in ("max", "min"):
                    both = call(name, site.text(target), site.text(node.value))
                    yield site.put(node.value, both, Tier.SELDOM)


def _sticky(scope: MutationContext, node: ast.Assign, target: ast.expr) -> Iterator[Mutation]:
    """A flag stays set: `self.changed = k not in d` to `self.changed = self.changed or …`."""
    made = scope.site.function is not None and scope.site.function.name == "__init__"
    begins = made if isinstance(target, ast.Attribute) else scope.begins(node)
    if begins or not _is_truth(node.value):
        return
    had, new = scope.site.text(target), scope.site.text(node.value)
    for word, own in (("or", OR), ("and", AND)):
        both = Text(f"{had.at(own)} {word} {new.at(own)}", own)
        yield scope.site.put(node.value, both, Tier.USUAL)


def _is_truth(value: ast.expr) -> bool:
    """Whether an expression says whether something holds."""
    if isinstance(value, ast.BoolOp):
        return all(map(_is_truth, value.values))
    negated = isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.Not)
    return negated or isinstance(value, ast.Compare)


def _kept(scope: MutationContext, target: ast.expr, value: ast.expr) -> Iterator[Mutation]:
    """What a key holds already counts too: `d[k] = n` to `d[k] = d.get(k, 0) + n`."""
    site = scope.site
    match target:
        case ast.Subscript(value=head, slice=ast.Name() | ast.Attribute() | ast.Constant() as key):
            if isinstance(value, ast.Dict | ast.Set | ast.Compare | ast.BoolOp):
                return
            text = isinstance(value, ast.Constant) and isinstance(value.value, str)
            empty = {ast.List: "[]", ast.JoinedStr: '""'}.get(type(value), '""' if text else "0")
            had = Text(f"{site.text(head).at(ATOM)}.get({site.segment(key)}, {empty})")
            yield site.put(value, binary(had, "+", site.text(value)), Tier.USUAL)
            yield from _gathered(scope, target, value)


def _gathered(scope: MutationContext, target: ast.Subscript, value: ast.expr) -> Iterator[Mutation]:
    """A key keeps all its values: `d[k] = v` to `d.setdefault(k, []).append(v)`."""
    site, statement = scope.site, scope.site.places[value].statement
    if isinstance(statement, ast.Assign) and "\n" not in site.segment(statement):
        head, key = site.text(target.value).at(ATOM), site.segment(target.slice)
        for empty, taking in (("[]", "append"), ("set()", "add")):
            made = f"{head}.setdefault({key}, {empty}).{taking}({site.text(value).at(LAMBDA)})"
            yield site.replace(statement, made, Tier.USUAL)


def operands(scope: MutationContext) -> Iterator[Mutation]:
    """Operands exchanged (only where order matters), or one of them dropped."""
    site = scope.site
    for node in site.each(ast.BinOp):
        left, right = site.text(node.left), site.text(node.right)
        sign = SIGN[type(node.op)]
        if sign in {"-", "/", "//", "%", "**", "<<", ">>"} or (
            sign == "+" and not _numeric(node.left) and not _numeric(node.right)
        ):
            yield site.put(node, binary(right, sign, left), Tier(sign == "+"))
        yield site.put(node, left, Tier.USUAL)
        yield site.put(node, right, Tier.SELDOM)


def _numeric(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, int | float)
