"""Expression text with its binding strength, and cuts: what a change replaces in a source."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass

from heal_bot.core.text import one_line
from heal_bot.repair.templates.change_tiers import Tier
from heal_bot.source.parsed_version import splice

# How strongly expressions bind, as the grammar of Python has it: a comma needs brackets everywhere.
(
    COMMA, LAMBDA, TERNARY, OR, AND, NOT, COMPARE, BIT_OR, BIT_XOR, BIT_AND, SHIFT, SUM, PRODUCT,
    UNARY, POWER, AWAIT, ATOM,
) = range(17)  # fmt: skip
_BINARY: dict[type[ast.operator], int] = {
    ast.BitOr: BIT_OR,
    ast.BitXor: BIT_XOR,
    ast.BitAnd: BIT_AND,
    ast.LShift: SHIFT,
    ast.RShift: SHIFT,
    ast.Add: SUM,
    ast.Sub: SUM,
    ast.Pow: POWER,
}


def level(node: ast.AST) -> int:
    """How strongly an expression binds: COMMA needs brackets everywhere, ATOM nowhere."""
    match node:
        case ast.Yield() | ast.YieldFrom() | ast.NamedExpr() | ast.Starred():
            return COMMA
        case ast.Tuple():
            return COMMA
        case ast.Lambda():
            return LAMBDA
        case ast.IfExp():
            return TERNARY
        case ast.BoolOp(op=op):
            return AND if isinstance(op, ast.And) else OR
        case ast.UnaryOp(op=unary):
            return NOT if isinstance(unary, ast.Not) else UNARY
        case ast.Compare():
            return COMPARE
        case ast.BinOp(op=binary):
            return _BINARY.get(type(binary), PRODUCT)
        case ast.Await():
            return AWAIT
        case ast.Constant(value=value) if isinstance(value, int | float | complex):
            return AWAIT if not isinstance(value, bool) else ATOM
    return ATOM


def demand(parent: ast.AST, field: str) -> int:
    """The least binding strength that a child needs in this place to go without brackets."""
    match parent:
        case ast.BoolOp(op=op):
            return NOT if isinstance(op, ast.And) else AND
        case ast.UnaryOp(op=unary):
            return NOT if isinstance(unary, ast.Not) else UNARY
        case ast.Compare():
            return BIT_OR
        case ast.BinOp(op=binary):
            own = _BINARY.get(type(binary), PRODUCT)
            if own == POWER:
                return AWAIT if field == "left" else UNARY
            return own if field == "left" else own + 1
        case ast.IfExp():
            return TERNARY if field == "orelse" else OR
        case ast.Attribute() | ast.Await():
            return ATOM
        case ast.Call(func=_) if field == "func":
            return ATOM
        case ast.Subscript() if field == "value":
            return ATOM
        case ast.Starred():
            return BIT_OR
        case ast.comprehension():
            return OR
    return LAMBDA


# Of names or forms for one place so many are tried, of expressions from elsewhere so many.
FEW, MANY = 6, 40
# The longest code that is written again elsewhere, and that is quoted whole.
_SHORT = 80


def is_short(code: str) -> bool:
    """Whether code is on one line and short enough to be written again elsewhere."""
    return "\n" not in code and len(code) <= _SHORT


def quote(code: str) -> str:
    """Code to be told, on one line and cut where it is long."""
    return f"`{one_line(code, _SHORT)}`"


@dataclass(frozen=True, slots=True)
class Text:
    """Source of an expression and how strongly its outermost operator binds."""

    code: str
    level: int = ATOM

    def at(self, needed: int) -> str:
        """The code for a place that needs this strength, in brackets when it binds less."""
        return self.code if self.level >= needed else f"({self.code})"


def binary(left: Text, operator: str, right: Text) -> Text:
    """`left operator right`, with the brackets that the operands need."""
    own = {"+": SUM, "-": SUM, "or": OR, "and": AND, "**": POWER}.get(operator, PRODUCT)
    if operator in {"<", "<=", "==", "!=", ">", ">=", "in", "not in", "is", "is not"}:
        own = COMPARE
    # A comparison beside another one is a chain.
    beside = own + 1 if own == COMPARE else own
    return Text(f"{left.at(beside)} {operator} {right.at(own + 1)}", own)


def call(name: str, *arguments: Text) -> Text:
    """`name(arguments)`."""
    return Text(f"{name}({', '.join(a.at(LAMBDA) for a in arguments)})")


@dataclass(frozen=True, slots=True)
class TextEdit:
    """Bytes `start` to `end` of a source, and the text that replaces them."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Mutation:
    """Cuts that belong together; `line` counts in the file, `why` tells.

    `imports` are lines that the module needs for it.
    """

    cuts: tuple[TextEdit, ...]
    tier: Tier
    line: int
    why: str
    imports: tuple[str, ...] = ()


def applied(source: bytes, cuts: Iterable[TextEdit]) -> bytes:
    """The source with all cuts replaced; cuts must not overlap."""
    return splice(source, ((cut.start, cut.end, cut.text.encode()) for cut in cuts))


def says(old: str, new: str, line: int) -> str:
    """`old` becomes `new` on line n, or what is removed, or inserted."""
    if not new.strip():
        return f"{quote(old)} is removed on line {line}"
    if not old.strip():
        return f"{quote(new)} is inserted on line {line}"
    return f"{quote(old)} becomes {quote(new)} on line {line}"
