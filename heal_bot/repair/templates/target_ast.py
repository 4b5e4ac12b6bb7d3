"""The place of a change: a target's source parsed where it stands, with spans in bytes."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from heal_bot.core.model import Target
from heal_bot.repair.templates.change_tiers import Tier
from heal_bot.repair.templates.text_edits import Mutation, Text, TextEdit, demand, level, says
from heal_bot.source import functions, guard
from heal_bot.source.definitions import Function
from heal_bot.source.parsed_version import Version, encode_lines, line_starts

Kind = TypeVar("Kind", bound=ast.AST)
_BRACKETED = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.SetComp, ast.DictComp, ast.Constant)
_SKIPPED = {"annotation", "returns", "decorator_list", "type_params", "type_comment"}
_MARKS = (ast.expr_context, ast.operator, ast.cmpop, ast.boolop, ast.unaryop)
_COMMENT = re.compile(rb"#[^\n]*")
# What stands beside brackets that group: no name or value, which would make them those of a call.
_OPENED = re.compile(rb"[^\w\x80-\xff)\]\"']?\(")
_CLOSED = re.compile(rb"\)[^\w\x80-\xff\"']?")


@dataclass(frozen=True, slots=True)
class NodePosition:
    """Where a node hangs: its parent, the parent's field, and the statement around it."""

    parent: ast.AST
    field: str
    statement: ast.stmt


@dataclass(slots=True)
class TargetAst:
    """A parsed target. `nodes` are in source order; expressions inside f-strings are left out,
    since their positions are not reliable before Python 3.12. `heat` is the suspicion by file line.
    """

    target: Target
    source: bytes
    tree: ast.Module
    offset: int
    heat: Mapping[int, float] | None
    starts: tuple[int, ...] = ()
    nodes: list[ast.expr] = field(default_factory=list)
    statements: list[ast.stmt] = field(default_factory=list)
    places: dict[ast.AST, NodePosition] = field(default_factory=dict)
    lit: dict[int, float | None] = field(default_factory=dict)
    before: str = ""
    after: str = ""

    @property
    def root(self) -> ast.stmt:
        """The statement the target is."""
        body = self.tree.body
        return body[0].body[0] if self.before and isinstance(body[0], ast.If) else body[0]

    @property
    def function(self) -> Function | None:
        """The function the target is, if it is one."""
        root = self.root if self.target.kind == "function" else None
        return root if isinstance(root, Function) else None

    @property
    def body(self) -> list[ast.stmt]:
        """The statements of the function itself, without its docstring."""
        return [s for s in self.function.body if s in self.places] if self.function else []

    @property
    def anchors(self) -> list[ast.stmt]:
        """The statements inside the target that define nothing: places for a further one."""
        return [s for s in self.statements if not isinstance(s, Function | ast.ClassDef)]

    def each(self, kind: type[Kind]) -> Iterator[Kind]:
        """The expressions or statements inside the target that are of a kind, in source order."""
        listed = self.statements if issubclass(kind, ast.stmt) else self.nodes
        return (node for node in listed if isinstance(node, kind))

    def own(self, text: str) -> str:
        """A changed source without what was added to parse it."""
        return text[len(self.before) : len(text) - len(self.after)]

    def line(self, node: ast.AST) -> int:
        """The line of a node in the file."""
        return int(getattr(node, "lineno", 1)) + self.offset

    def start(self, node: ast.expr | ast.stmt | ast.keyword) -> int:
        """First byte of a node (decorators included)."""
        if getattr(node, "decorator_list", None):
            return self.starts[functions.first_line(node) - 1]
        return self.starts[node.lineno - 1] + node.col_offset

    def end(self, node: ast.expr | ast.stmt | ast.keyword) -> int:
        """The byte after a node."""
        return self.starts[(node.end_lineno or 1) - 1] + (node.end_col_offset or 0)

    def segment(self, node: ast.expr | ast.stmt) -> str:
        """The exact source of a node."""
        return self.source[self.start(node) : self.end(node)].decode()

    def text(self, node: ast.expr) -> Text:
        """The source of an expression, in brackets where it would not survive a move."""
        code = self.segment(node)
        if "\n" in code and not isinstance(node, _BRACKETED) and code[:1] != "(":
            return Text(f"({code})")
        if isinstance(node, ast.Tuple | ast.GeneratorExp) and code[:1] == "(":
            return Text(code)
        return Text(code, level(node))

    def near(self, line: int) -> float | None:
        """Suspicion of the innermost statement whose head covers a file line.

        0 for the lines of a `def`; None where no failing test came by.
        """
        if not self.lit:
            for statement in (self.root, *self.statements):
                first, last = statement.lineno, functions.find_head_end(statement)
                seen = [
                    self.heat[n]
                    for n in range(first + self.offset, last + self.offset + 1)
                    if self.heat and n in self.heat
                ]
                warm = max(seen) if seen else None
                if isinstance(statement, Function | ast.ClassDef):
                    warm = 0.0
                for n in range(first, last + 1):
                    self.lit[n + self.offset] = warm
        return self.lit.get(line)

    def is_test(self, node: ast.AST, *, asserted: bool = False) -> bool:
        """Whether a node is the condition of a branch, a loop or, with `asserted`, an assertion."""
        place = self.places.get(node)
        if place is None or place.field != "test":
            return False
        return asserted or not isinstance(place.parent, ast.Assert)

    def is_called(self, node: ast.AST) -> bool:
        """Whether a node is the function of a call."""
        place = self.places[node]
        return isinstance(place.parent, ast.Call) and place.field == "func"

    def required(self, node: ast.AST) -> int:
        """The binding strength that the place of a node asks for."""
        place = self.places[node]
        return demand(place.parent, place.field)

    def put(self, node: ast.expr, new: Text, tier: Tier, why: str = "") -> Mutation:
        """The change of one expression into another, as small in the text as it can be."""
        start, end, code = self.start(node), self.end(node), new.at(self.required(node))
        place = self.places[node]
        lone = isinstance(place.parent, ast.Call) and isinstance(node, ast.GeneratorExp)
        if lone and end == self.end(place.parent):  # type: ignore[arg-type]
            code = f"({code})"
        elif self._bracketed(start, end):
            if code != new.code:
                code = new.code
            elif "\n" not in code and level(node) < self.required(node):
                start, end = start - 1, end + 1
        if not why:
            why = says(self.segment(node), code, self.line(node))
        return Mutation((TextEdit(start, end, code),), tier, self.line(node), why)

    def replace(self, node: ast.expr | ast.stmt, code: str, tier: Tier, why: str = "") -> Mutation:
        """The change of a whole node into a text that fits its place as it is."""
        line = self.line(node)
        cut = TextEdit(self.start(node), self.end(node), code)
        return Mutation((cut,), tier, line, why or says(self.segment(node), code, line))

    def _bracketed(self, start: int, end: int) -> bool:
        """Whether brackets stand around a span that group, and are those of no call."""
        around = self.source[max(0, start - 2) : start], self.source[end : end + 2]
        return bool(_OPENED.fullmatch(around[0]) and _CLOSED.fullmatch(around[1]))

    def operator(self, left: ast.expr, right: ast.expr, old: str, new: str) -> TextEdit | None:
        """The cut that replaces the operator between two operands."""
        begin = self.end(left)
        gap = self.source[begin : self.start(right)]
        bare = _COMMENT.sub(lambda m: b" " * len(m[0]), gap)
        words = [re.escape(w.encode()) for w in old.split()]
        found = re.search(rb"\s+".join(words), bare)
        return TextEdit(begin + found.start(), begin + found.end(), new) if found else None

    def whole(self, statement: ast.stmt) -> tuple[int, int] | None:
        """Byte span of the full lines a statement has for itself, newline included; else None."""
        return Version(self.source, self.starts, self.tree).lines([statement])

    def line_start(self, statement: ast.stmt) -> int:
        """First byte of the line that a statement begins on (decorators included)."""
        return self.starts[functions.first_line(statement) - 1]

    def indent(self, statement: ast.stmt) -> str:
        """The white space before a statement that begins its line."""
        begin = self.line_start(statement)
        line = self.source[begin : begin + 400].decode(errors="replace")
        return line[: len(line) - len(line.lstrip(" \t"))]

    def blocks(self) -> Iterator[list[ast.stmt]]:
        """Every list of statements inside the target."""
        for owner in (self.root, *self.statements):
            inner = (*getattr(owner, "handlers", ()), *getattr(owner, "cases", ()))
            for part in (owner, *inner):
                yield from functions.list_blocks(part)


def called(node: ast.AST) -> str:
    """The plain name that a node calls; '' for any other node."""
    match node:
        case ast.Call(func=ast.Name(id=name)):
            return name
    return ""


def last_name(node: ast.expr) -> str:
    """A name, or the attribute at the end of an expression; '' for anything else."""
    return getattr(node, "id", getattr(node, "attr", ""))


def survey(target: Target, text: str, heat: Mapping[int, float] | None) -> TargetAst:
    """Parse a target's source where it stands (an indented one under an added `if` line).

    Only functions have lines that tests execute; elsewhere `heat` does not count. Raises
    SourceRejected for a source beyond the caps, or one that is not Python.
    """
    prefix, suffix, tree = _parsed(target, text)
    lines = encode_lines(prefix + text + suffix)
    offset = target.first_line - 1 - prefix.count("\n")
    known = heat if target.kind == "function" else None
    raw, starts = b"".join(lines), line_starts(lines)
    site = TargetAst(target, raw, tree, offset, known, starts, before=prefix, after=suffix)
    _collect(site)
    if target.kind == "default":
        _only_default(site)
    return site


def _parsed(target: Target, text: str) -> tuple[str, str, ast.Module]:
    """What has to stand before and after a source to make it whole, and its tree.

    A default argument's lines are any part of a `def`'s head.
    """
    inner = text[: len(text) - len(text.lstrip(" \t"))]
    prefix = "if 1:\n" if inner else ""
    if target.kind != "default":
        return prefix, "", guard.parse(prefix + text)
    for before in (prefix, "def _(\n"):
        for after in ("", f"\n{inner} pass\n", "\n**_): pass\n", "\n): pass\n"):
            try:
                tree = guard.parse(before + text + after)
            except guard.SourceRejected:
                continue
            body = tree.body[0]
            root = body.body[0] if isinstance(body, ast.If) else body
            if isinstance(root, Function):
                return before, after, tree
    raise guard.SourceRejected("the lines of the default argument are no part of a `def`")


def _only_default(site: TargetAst) -> None:
    """Leave the nodes of the default argument alone in the site."""
    name = site.target.qualname.rpartition(".")[2]
    kept: set[ast.AST] = set()
    function = next(n for n in ast.walk(site.root) if isinstance(n, Function))
    for arg, default in functions.list_defaults(function.args):
        if arg.arg == name:
            kept.update(ast.walk(default))
    site.nodes[:] = [n for n in site.nodes if n in kept]
    site.statements.clear()


def _collect(site: TargetAst) -> None:
    """Fill `nodes`, `statements` and `places`, in source order, without recursion."""
    stack: list[ast.AST] = [site.root]
    site.places[site.root] = NodePosition(site.tree, "body", site.root)
    while stack:
        node = stack.pop()
        if isinstance(node, ast.stmt) and node is not site.root:
            site.statements.append(node)
        elif isinstance(node, ast.expr):
            site.nodes.append(node)
        owner = node if isinstance(node, ast.stmt) else site.places[node].statement
        children: list[ast.AST] = []
        for name, value in ast.iter_fields(node):
            if name in _SKIPPED or (isinstance(node, ast.JoinedStr)):
                continue
            for child in value if isinstance(value, list) else [value]:
                if not isinstance(child, ast.AST) or isinstance(child, _MARKS):
                    continue
                if not _is_docstring(node, child):
                    site.places[child] = NodePosition(node, name, owner)
                    children.append(child)
        stack.extend(reversed(children))


def _is_docstring(parent: ast.AST, child: ast.AST) -> bool:
    return (
        isinstance(parent, Function | ast.ClassDef)
        and child is parent.body[0]
        and ast.get_docstring(parent, clean=False) is not None
    )
