"""Seeded single mutations of functions: operators, constants, statements, arguments, guards."""

from __future__ import annotations

import ast
import copy
import random
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from heal_bot.locate.places import Places
from heal_bot.ports import Tree
from heal_bot.source import functions

_OPERATORS = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv, ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult, ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE,
    ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """A function with one fault; `text` is the whole file with it."""

    path: str
    qualname: str
    kind: str
    first_line: int
    last_line: int
    source: str
    text: str

    @property
    def name(self) -> str:
        """Where and what."""
        return f"{self.path}::{self.qualname} {self.kind}"

    def fits(self, other: Mutant) -> bool:
        """Whether both can be planted in the same file, this one first."""
        return self.last_line < other.first_line

    def apply(self, folder: Path) -> None:
        """Plant it; when two go into one file, the later one first."""
        file = folder / self.path
        lines = list(functions.lines(file.read_text(encoding="utf-8")))
        lines[self.first_line - 1 : self.last_line] = [self.source]
        file.write_text("".join(lines), encoding="utf-8")


def mutants(tree: Tree, seed: int) -> Iterator[Mutant]:
    """Mutants of the project's functions in seeded order, kinds taking turns, without end marks."""
    rng = random.Random(seed)
    places = Places(tree)
    targets = [
        entry.target
        for path in places.project()
        for entry in places.entries(path)
        if entry.target.kind == "function"
    ]
    kinds = list(_KINDS)
    seen: set[tuple[str, str]] = set()
    for turn in range(4_000):
        kind, target = kinds[turn % len(kinds)], rng.choice(targets)
        source = _mutated(target.source, _KINDS[kind], rng)
        if source is None or (target.path, source) in seen:
            continue
        seen.add((target.path, source))
        lines = list(functions.lines(tree.read(target.path).decode()))
        lines[target.first_line - 1 : target.last_line] = [source]
        where = (target.path, target.qualname, kind, target.first_line, target.last_line)
        yield Mutant(*where, source, "".join(lines))


def _mutated(source: str, change: Callable, rng: random.Random) -> str | None:
    indent = functions.indentation(source)
    tree = ast.parse(textwrap.dedent(source))
    inner = copy.deepcopy(tree.body[0])
    nested = {
        id(n)
        for f in ast.walk(inner)
        if f is not inner and isinstance(f, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        for n in ast.walk(f)
    }
    body = [n for statement in inner.body for n in ast.walk(statement) if id(n) not in nested]
    rng.shuffle(body)
    if any(change(node, rng) for node in body):
        text = ast.unparse(ast.fix_missing_locations(inner))
        if text != ast.unparse(tree.body[0]):
            return textwrap.indent(text, indent) + "\n"
    return None


def _operator(node: ast.AST, rng: random.Random) -> bool:
    if isinstance(node, ast.BinOp | ast.AugAssign | ast.BoolOp) and type(node.op) in _OPERATORS:
        node.op = _OPERATORS[type(node.op)]()
        return True
    if isinstance(node, ast.Compare) and type(node.ops[0]) in _OPERATORS:
        node.ops[0] = _OPERATORS[type(node.ops[0])]()
        return True
    return False


def _constant(node: ast.AST, rng: random.Random) -> bool:
    if not isinstance(node, ast.Constant) or node.value is None or node.value is ...:
        return False
    if isinstance(node.value, bool):
        node.value = not node.value
    elif isinstance(node.value, int | float):
        node.value += rng.choice((1, -1))
    elif isinstance(node.value, str) and 0 < len(node.value) < 30:
        node.value += "x"
    else:
        return False
    return True


def _deleted(node: ast.AST, rng: random.Random) -> bool:
    for part in ("body", "orelse"):
        statements = getattr(node, part, None)
        if isinstance(statements, list):
            for at, one in enumerate(statements):
                call = isinstance(one, ast.Expr) and isinstance(one.value, ast.Call)
                if call or isinstance(one, ast.AugAssign | ast.Raise | ast.Continue):
                    statements[at] = ast.Pass()
                    return True
    return False


def _swapped(node: ast.AST, rng: random.Random) -> bool:
    if isinstance(node, ast.Call) and len(node.args) >= 2:
        node.args[0], node.args[1] = node.args[1], node.args[0]
        return True
    return False


def _attribute(node: ast.AST, rng: random.Random) -> bool:
    pairs = ("lower upper", "append extend", "keys values", "startswith endswith", "lstrip rstrip",
             "left right", "prev next", "min max", "find rfind", "ljust rjust", "head tail",
             "key value", "strip rstrip", "split rsplit", "add discard", "get pop")  # fmt: skip
    if isinstance(node, ast.Attribute):
        for pair in pairs:
            one, other = pair.split()
            if node.attr in (one, other):
                node.attr = other if node.attr == one else one
                return True
    return False


def _guard(node: ast.AST, rng: random.Random) -> bool:
    if isinstance(node, ast.If) and not node.orelse:
        node.test = ast.Constant(rng.random() < 0.3)
        return True
    return False


_KINDS = {
    "operator": _operator,
    "constant": _constant,
    "deleted": _deleted,
    "swapped": _swapped,
    "attribute": _attribute,
    "guard": _guard,
}
