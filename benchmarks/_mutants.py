"""Seeded single mutations of functions: operators, constants, statements, arguments, guards.

A mutation replaces a few characters and leaves the rest of the function as its authors wrote it.
"""

from __future__ import annotations

import ast
import random
import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks._cases import read_cases
from heal_bot.core.model import Target
from heal_bot.fault_localization.target_index import Places
from heal_bot.ports import Tree
from heal_bot.source import functions

# A function's part as (first byte, byte after the last, new text).
Edit = tuple[int, int, str]
# The nodes that have a place in the text.
Placed = ast.expr | ast.stmt | ast.keyword | ast.arg
_TABLE = read_cases("faults")
_OPERATORS: dict[type[ast.AST], str] = {
    getattr(ast, name): pair for name, pair in _TABLE["operators"].items()
}
_RENAMED = {
    one: other for pair in _TABLE["attributes"] for one, other in (pair.split(), pair.split()[::-1])
}


@dataclass(frozen=True)
class Mutant:
    """A function with one fault."""

    path: str
    qualname: str
    nth: int
    kind: str
    first_line: int
    last_line: int
    source: str

    @property
    def name(self) -> str:
        """Where and what."""
        return f"{self.path}::{self.qualname} {self.kind}"

    @property
    def grows(self) -> int:
        """How many lines the file has more with it."""
        return len(functions.split_lines(self.source)) - (self.last_line - self.first_line + 1)

    def apart(self, other: Mutant) -> bool:
        """Whether both can be planted together, each in a function of its own."""
        return (
            self.path != other.path
            or self.last_line < other.first_line
            or other.last_line < self.first_line
        )


def plant(planted: Collection[Mutant], folder: Path) -> None:
    """Write the faults into a checkout, later ones of a file first."""
    for mutant in sorted(planted, key=lambda m: -m.first_line):
        file = folder / mutant.path
        lines = list(functions.split_lines(file.read_text(encoding="utf-8")))
        lines[mutant.first_line - 1 : mutant.last_line] = [mutant.source]
        file.write_text("".join(lines), encoding="utf-8")


def mutants(
    tree: Tree, wanted: Collection[tuple[str, str, int]], seed: int, turns: int = 3_000
) -> Iterator[Mutant]:
    """Mutants of the functions named by path, qualname and number, in seeded order.

    Kinds take turns; a function takes part at most three times for each kind.
    """
    rng = random.Random(seed)
    places = Places(tree)
    targets = [
        entry.target
        for path in places.project()
        for entry in places.entries(path)
        if entry.target.kind == "function"
        and (path, entry.target.qualname, entry.target.nth) in wanted
    ]
    seen: set[tuple[str, str]] = set()
    for turn in range(turns if targets else 0):
        kind, target = list(_KINDS)[turn % len(_KINDS)], rng.choice(targets)
        source = _mutated(target, _KINDS[kind], rng)
        if source is not None and (target.path, source) not in seen:
            seen.add((target.path, source))
            yield Mutant(
                target.path, target.qualname, target.nth, kind,
                target.first_line, target.last_line, source,
            )  # fmt: skip


def _parsed(source: str) -> ast.Module:
    return ast.parse(f"if 1:\n{source}" if functions.find_indentation(source) else f"\n{source}")


def _mutated(target: Target, change: Change, rng: random.Random) -> str | None:
    return next(variants(target, change, rng), None) or None


def variants(target: Target, change: Change, rng: random.Random) -> Iterator[str]:
    """A function with one change, place by place in seeded order; '' where no fault came of it."""
    tree = _parsed(target.source)
    top = tree.body[0]
    function = top.body[0] if isinstance(top, ast.If) else top
    whole = b"\n" + target.source.encode()
    nodes = [node for node in _own(function) if hasattr(node, "lineno") or hasattr(node, "body")]
    rng.shuffle(nodes)
    for node in nodes:
        edits, text = change(node, Text(whole, function), rng), whole
        if not edits:
            continue
        for start, end, new in sorted(edits, reverse=True):
            text = text[:start] + new.encode() + text[end:]
        source = text[1:].decode()
        try:
            changed = ast.dump(_parsed(source)) != ast.dump(tree)
        except SyntaxError:
            changed = False
        yield source if changed else ""


def _own(function: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function's statements; not of nested ones, docstrings and f-strings.

    The positions of nodes in f-strings are only right from Python 3.12 on.
    """
    left = list(getattr(function, "body", []))
    while left:
        node = left.pop()
        nested = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.JoinedStr
        text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if not isinstance(node, nested) and not text:
            yield node
            left.extend(ast.iter_child_nodes(node))


class Text:
    """Byte positions of the nodes of a function."""

    def __init__(self, text: bytes, function: ast.AST) -> None:
        self.text, self.function = text, function
        self.starts = [0]
        for line in text.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))

    def start(self, node: Placed) -> int:
        """The first byte of a node."""
        return self.starts[node.lineno - 1] + node.col_offset

    def end(self, node: Placed) -> int:
        """The byte after the last of a node."""
        return self.starts[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)

    def of(self, node: Placed) -> str:
        """The text of a node."""
        return self.text[self.start(node) : self.end(node)].decode()

    def between(self, left: Placed, right: Placed, old: str, new: str) -> list[Edit]:
        """Replace an operator between two operands."""
        start, end = self.end(left), self.start(right)
        pattern = r"\s+".join(map(re.escape, old.split("_")))
        gap = re.sub(
            rf"(?<![\w<>=!*/]){pattern}(?![\w<>!*/])" if old[0].isalpha() else pattern,
            new.replace("_", " "),
            self.text[start:end].decode(),
            count=1,
        )
        return [(start, end, gap)]


# What a kind does at a node; nothing where it does not apply.
Change = Callable[[ast.AST, Text, random.Random], list[Edit]]


def _operator(node: ast.AST, text: Text, rng: random.Random) -> list[Edit]:
    gaps: list[tuple[ast.expr, ast.expr]]
    op: ast.AST
    if isinstance(node, ast.BoolOp):
        gaps = list(zip(node.values, node.values[1:], strict=False))
        op = node.op
    elif isinstance(node, ast.BinOp):
        gaps, op = [(node.left, node.right)], node.op
    elif isinstance(node, ast.AugAssign):
        gaps, op = [(node.target, node.value)], node.op
    elif isinstance(node, ast.Compare):
        gaps, op = [(node.left, node.comparators[0])], node.ops[0]
    else:
        return []
    if type(op) not in _OPERATORS:
        return []
    old, new = _OPERATORS[type(op)].split()
    return [edit for left, right in gaps for edit in text.between(left, right, old, new)]


def _constant(node: ast.AST, text: Text, rng: random.Random) -> list[Edit]:
    if not isinstance(node, ast.Constant) or node.value is None or node.value is ...:
        return []
    value = node.value
    if isinstance(value, bool):
        value = not value
    elif isinstance(value, int | float):
        value += rng.choice((1, -1))
    elif isinstance(value, str) and 0 < len(value) < 30:
        value += "x"
    else:
        return []
    return [(text.start(node), text.end(node), repr(value))]


def _deleted(node: ast.AST, text: Text, rng: random.Random) -> list[Edit]:
    calls = isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
    leaves = ast.Expr if calls else ast.AugAssign | ast.Raise | ast.Continue
    if isinstance(node, leaves):
        return [(text.start(node), text.end(node), "pass")]
    return []


def _swapped(node: ast.AST, text: Text, rng: random.Random) -> list[Edit]:
    if not isinstance(node, ast.Call) or len(node.args) < 2:
        return []
    one, other = node.args[:2]
    return [
        (text.start(one), text.end(one), text.of(other)),
        (text.start(other), text.end(other), text.of(one)),
    ]


def _attribute(node: ast.AST, text: Text, rng: random.Random) -> list[Edit]:
    if not isinstance(node, ast.Attribute) or node.attr not in _RENAMED:
        return []
    return [(text.end(node) - len(node.attr), text.end(node), _RENAMED[node.attr])]


def _guard(node: ast.AST, text: Text, rng: random.Random) -> list[Edit]:
    if not isinstance(node, ast.If) or node.orelse:
        return []
    return [(text.start(node.test), text.end(node.test), str(rng.random() < 0.3))]


_KINDS = {
    "operator": _operator,
    "constant": _constant,
    "deleted": _deleted,
    "swapped": _swapped,
    "attribute": _attribute,
    "guard": _guard,
}
