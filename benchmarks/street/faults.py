"""Faults as people make them: one small slip in a function, made anew from its seed."""

from __future__ import annotations

import ast
import random
from collections.abc import Iterator

from benchmarks._cases import read_cases
from benchmarks._mutants import Change, Edit, Mutant, Placed, Text, variants
from benchmarks.street.recipes import Planted
from heal_bot.core.model import Target
from heal_bot.repair.templates.arithmetic import SIGN
from heal_bot.source import functions

_ATOMS = ast.Name | ast.Constant | ast.Call | ast.Attribute | ast.Subscript
_TABLE = read_cases("faults")
_COMPARED, _SIGNS = (
    {getattr(ast, name): pairs for name, pairs in _TABLE[part].items()}
    for part in ("compared", "signs")
)


class ConflictError(Exception):
    """Later commits change what the fault changes."""


def mutant(text: str, planted: Planted) -> Mutant:
    """The fault of a recipe in a file; ConflictError where the function or the place is not there.

    The function is the one of that name and number, the change the first of its kind and seed.
    """
    for target in targets(planted.path, text):
        if (target.qualname, target.nth) == (planted.qualname, planted.nth):
            source = faulty(target, planted.kind, planted.seed)
            if source:
                return Mutant(
                    target.path, target.qualname, target.nth, planted.kind,
                    target.first_line, target.last_line, source,
                )  # fmt: skip
    raise ConflictError(f"no such fault in {planted.path}")


def targets(path: str, text: str) -> tuple[Target, ...]:
    """The functions of a file."""
    return tuple(
        target for target in functions.index_targets(path, text) if target.kind == "function"
    )


def faulty(target: Target, kind: str, seed: int) -> str:
    """A function with a fault of that kind; '' where it has no place for one."""
    return next(filter(None, variants(target, KINDS[kind], random.Random(seed))), "")


def _cut(text: Text, parts: list[Placed], at: int) -> list[Edit]:
    """Without one of several parts between commas."""
    if at:
        return [(text.end(parts[at - 1]), text.end(parts[at]), "")]
    after = text.start(parts[1]) if len(parts) > 1 else text.end(parts[0])
    return [(text.start(parts[0]), after, "")]


def _instead(text: Text, node: Placed, other: Placed) -> list[Edit]:
    """One of its own parts in a node's place."""
    new = text.of(other)
    return [(text.start(node), text.end(node), new if isinstance(other, _ATOMS) else f"({new})")]


def _term(node: ast.AST, text: Text, rng: random.Random) -> list[Edit]:
    """One operand of an expression, or one element of a display, is dropped."""
    if isinstance(node, ast.BinOp) and not isinstance(node.op, ast.Mod):
        return _instead(text, node, rng.choice((node.left, node.right)))
    if isinstance(node, ast.Tuple | ast.List | ast.Set) and len(node.elts) > 1:
        if not isinstance(node, ast.Set) and not isinstance(node.ctx, ast.Load):
            return []
        return _cut(text, list(node.elts), rng.randrange(len(node.elts)))
    return []


def _argument(node: ast.AST, text: Text, rng: random.Random) -> list[Edit]:
    """The last argument, or one that is given by name, is dropped."""
    if not isinstance(node, ast.Call):
        return []
    parts: list[Placed] = sorted([*node.args, *node.keywords], key=text.start)
    named = [n for n, part in enumerate(parts) if isinstance(part, ast.keyword)]
    if not named and len(parts) < 2:
        return []
    return _cut(text, parts, rng.choice(named or [len(parts) - 1]))


def _comparison(node: ast.AST, text: Text, rng: random.Random) -> list[Edit]:
    if not isinstance(node, ast.Compare) or type(node.ops[0]) not in _COMPARED:
        return []
    old, new = rng.choice(_COMPARED[type(node.ops[0])]).split()
    return text.between(node.left, node.comparators[0], old, new)


def _off_by_one(node: ast.AST, text: Text, rng: random.Random) -> list[Edit]:
    """A whole number is one too large or too small, or `+ 1` is missing or too many."""
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return [(text.start(node), text.end(node), str(node.value + rng.choice((1, -1))))]
    if isinstance(node, ast.Slice):
        ends = [end for end in (node.lower, node.upper) if end is not None]
        return [(text.end(end), text.end(end), rng.choice((" + 1", " - 1"))) for end in ends[-1:]]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.args:
        counted: list[ast.expr] = node.args[-1:] if node.func.id == "range" else [node]
        ends = counted if node.func.id in {"len", "range"} else []
        return [(text.end(end), text.end(end), rng.choice((" + 1", " - 1"))) for end in ends]
    return []


def _name(node: ast.AST, text: Text, rng: random.Random) -> list[Edit]:
    """Another name of the function, or another attribute of the same object, is taken."""
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        bound = _bound(text.function, node.lineno)
        others = sorted(bound - {node.id, "self", "cls"}) if node.id in bound else []
    elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        owner = node.value.id
        same = {n.attr for n in ast.walk(text.function)
                if isinstance(n, ast.Attribute) and isinstance(n.value, ast.Name)
                and n.value.id == owner}  # fmt: skip
        others = sorted(same - {node.attr}) if owner in {"self", "cls"} else []
    else:
        return []
    name = node.id if isinstance(node, ast.Name) else node.attr
    if not others or name in {"self", "cls"}:
        return []
    return [(text.end(node) - len(name.encode()), text.end(node), rng.choice(others))]


def _bound(function: ast.AST, line: int) -> set[str]:
    """The parameters, and the names that are bound above a line."""
    found = {node.arg for node in ast.walk(function) if isinstance(node, ast.arg)}
    return found | {
        node.id
        for node in ast.walk(function)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.lineno < line
    }


def _branch(node: ast.AST, text: Text, rng: random.Random) -> list[Edit]:
    """An `else`, a guard or one part of a condition is dropped."""
    if isinstance(node, ast.BoolOp):
        return _cut_condition(text, node, rng.randrange(len(node.values)))
    if not isinstance(node, ast.If):
        return []
    if node.orelse:
        return [(text.end(node.body[-1]), text.end(node), "")]
    return [(text.start(node), text.end(node), "pass")]


def _cut_condition(text: Text, node: ast.BoolOp, at: int) -> list[Edit]:
    """The other parts of a condition of two, or all but the last."""
    if len(node.values) == 2:
        return _instead(text, node, node.values[1 - at])
    return [(text.end(node.values[-2]), text.end(node), "")]


def _constant(node: ast.AST, text: Text, rng: random.Random) -> list[Edit]:
    """Another constant of the function, or one that is a little different."""
    if not isinstance(node, ast.Constant):
        return []
    value = node.value
    if isinstance(value, bool):
        new: object = not value
    elif isinstance(value, int | float):
        new = value * 10 if value not in (0, 1) else 1 - value
    elif isinstance(value, str) and 0 < len(value) < 40:
        new = rng.choice(_strings(text.function, value) or [value[:-1]])
    else:
        return []
    return [(text.start(node), text.end(node), repr(new))]


def _strings(function: ast.AST, value: str) -> list[str]:
    """The other short strings of a function."""
    found = {
        node.value
        for node in ast.walk(function)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) < 40
    }
    return sorted(found - {value})


def _call(node: ast.AST, text: Text, rng: random.Random) -> list[Edit]:
    """A call is missing: what it is called on, or its only argument, stands alone."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        return [(text.start(node), text.end(node), "pass")]
    if not isinstance(node, ast.Call) or node.keywords or len(node.args) > 1:
        return []
    if isinstance(node.func, ast.Attribute) and not node.args:
        return _instead(text, node, node.func.value)
    if isinstance(node.func, ast.Name) and node.args:
        return _instead(text, node, node.args[0])
    return []


def _swapped(node: ast.AST, text: Text, rng: random.Random) -> list[Edit]:
    """Two neighbouring arguments, or the two sides of an operator for which that matters."""
    if isinstance(node, ast.Call) and len(node.args) > 1:
        at = rng.randrange(len(node.args) - 1)
        one, other = node.args[at : at + 2]
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub | ast.Div | ast.FloorDiv):
        one, other = node.left, node.right
    else:
        return []
    return [(text.start(one), text.end(one), text.of(other)),
            (text.start(other), text.end(other), text.of(one))]  # fmt: skip


def _junction(node: ast.AST, text: Text, rng: random.Random) -> list[Edit]:
    """`and` for `or`."""
    if not isinstance(node, ast.BoolOp):
        return []
    old, new = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
    pairs = zip(node.values, node.values[1:], strict=False)
    return [edit for left, right in pairs for edit in text.between(left, right, old, new)]


def _negation(node: ast.AST, text: Text, rng: random.Random) -> list[Edit]:
    """A `not` is missing, or too many."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return _instead(text, node, node.operand)
    if isinstance(node, ast.If | ast.While | ast.IfExp) and isinstance(node.test, _ATOMS):
        return [(text.start(node.test), text.start(node.test), "not ")]
    return []


def _early(node: ast.AST, text: Text, rng: random.Random) -> list[Edit]:
    """A loop ends after its first turn, or where it should go on; a result is given too early."""
    if isinstance(node, ast.Continue):
        return [(text.start(node), text.end(node), "break")]
    if not isinstance(node, ast.For | ast.While):
        return []
    last = node.body[-1]
    if isinstance(last, ast.Return | ast.Break | ast.Continue | ast.Raise):
        return []
    ends = list(_after(text.function, node))
    leave = text.of(ends[0]) if ends and isinstance(ends[0], ast.Return) else "break"
    return [(text.end(last), text.end(last), f"\n{_indent(text, last)}{leave}")]


def _after(function: ast.AST, node: ast.stmt) -> Iterator[ast.stmt]:
    """The statement behind one in its block."""
    for block in _blocks(function):
        if node in block:
            yield from block[block.index(node) + 1 :]


def _blocks(function: ast.AST) -> Iterator[list[ast.stmt]]:
    """The blocks of statements in a function."""
    for holder in ast.walk(function):
        for name in ("body", "orelse"):
            block = getattr(holder, name, None)
            if isinstance(block, list):
                yield block


def _indent(text: Text, node: ast.stmt) -> str:
    """The white space before a statement."""
    start = text.start(node)
    return text.text[text.text.rfind(b"\n", 0, start) + 1 : start].decode()


def _default(node: ast.AST, text: Text, rng: random.Random) -> list[Edit]:
    """A parameter's default is another one, or that of a look-up is missing."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and len(node.args) == 2:
        return _cut(text, list(node.args), 1) if node.func.attr in {"get", "pop"} else []
    given = getattr(text.function, "args", None)
    if not isinstance(given, ast.arguments):
        return []
    values = [v for v in (*given.defaults, *given.kw_defaults) if isinstance(v, ast.Constant)]
    if not values:
        return []
    value = rng.choice(values)
    if value.value is None:
        return [(text.start(value), text.end(value), rng.choice(("False", "True", "0", "''")))]
    return _constant(value, text, rng)


def _operator(node: ast.AST, text: Text, rng: random.Random) -> list[Edit]:
    """Another operator of arithmetic, or another one that updates."""
    if isinstance(node, ast.BinOp) and type(node.op) in _SIGNS:
        new = rng.choice(_SIGNS[type(node.op)])
        return text.between(node.left, node.right, SIGN[type(node.op)], new)
    if isinstance(node, ast.AugAssign) and type(node.op) in _SIGNS:
        new = rng.choice((f"{_SIGNS[type(node.op)][0]}=", "="))
        return text.between(node.target, node.value, f"{SIGN[type(node.op)]}=", new)
    return []


def _lost(node: ast.AST, text: Text, rng: random.Random) -> list[Edit]:
    """A simple statement is gone, where it is not all that its block has."""
    if not isinstance(node, ast.Assign | ast.AugAssign | ast.Expr | ast.Raise | ast.Continue):
        return []
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return []
    block = next((block for block in _blocks(text.function) if node in block), [])
    if len(block) < 2:
        return []
    return [(text.start(node) - len(_indent(text, node).encode()) - 1, text.end(node), "")]


KINDS: dict[str, Change] = {
    "term": _term, "argument": _argument, "comparison": _comparison, "off-by-one": _off_by_one,
    "name": _name, "branch": _branch, "constant": _constant, "call": _call, "swapped": _swapped,
    "junction": _junction, "negation": _negation, "early": _early, "default": _default,
    "operator": _operator, "lost": _lost,
}  # fmt: skip
