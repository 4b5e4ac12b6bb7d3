"""Two versions of a file compared by their trees: hunks, statements and expressions that differ.

The parts form a tree, so that a search for the smallest reversal can go down level by level, as
hierarchical delta debugging does (Misherghi and Su 2006).
"""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher

from heal_bot.source import functions, guard

# An expression in this place may need brackets that the one there now does without.
_OPERATORS = (ast.BinOp, ast.BoolOp, ast.Compare, ast.UnaryOp, ast.IfExp, ast.Lambda,
              ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)  # fmt: skip
# What stands before a parameter, and after those that are positional alone.
_MARKS = re.compile(rb"(?:\*\s*,\s*|\*{1,2}\s*)\Z")
_SLASH = re.compile(rb"\s*,\s*/")
_BLOCKS = ("body", "handlers", "orelse", "finalbody", "cases")


@dataclass(frozen=True, slots=True)
class Part:
    """Bytes of a file as it is, and what stood in their place; `parts` are the smaller ones in it.

    Without bytes of its own (`start` is -1) it is all of its parts together. One that is `atomic`
    is an expression or a simple statement: half of it put back says what nobody ever wrote.
    """

    start: int
    end: int
    before: bytes = b""
    parts: tuple[Part, ...] = ()
    atomic: bool = False

    def shifted(self, by: int) -> Part:
        """The same part in a text that begins elsewhere."""
        start, end = (-1, -1) if self.start < 0 else (self.start + by, self.end + by)
        inner = tuple(part.shifted(by) for part in self.parts)
        return replace(self, start=start, end=end, parts=inner)

    @property
    def leaves(self) -> int:
        """How many smallest parts it has."""
        return sum(part.leaves for part in self.parts) or 1

    def cuts(self) -> Iterator[Part]:
        """The parts with bytes of their own that put all of it back."""
        if self.start >= 0:
            yield self
        else:
            for part in self.parts:
                yield from part.cuts()


def compare_versions(before: str, after: str, now: str) -> tuple[Part, ...]:
    """What the change from `before` to `after` consists of, where `now` still has it.

    Nothing for a text that does not parse. Comments, docstrings and layout are no change.
    """
    try:
        change = _Change(_Side.of(before), _Side.of(after))
    except guard.SourceRejected:
        return ()
    found = tuple(change.compare_blocks(change.old.tree.body, change.new.tree.body))
    if after == now:
        return found
    moved = _Moved.between(after, now)
    return tuple(part for one in found if (part := moved.carried(one)))


@dataclass(frozen=True, slots=True)
class _Side:
    """One version of a file: its bytes, where its lines begin, its tree."""

    data: bytes
    starts: tuple[int, ...]
    tree: ast.Module

    @classmethod
    def of(cls, text: str) -> _Side:
        tree = guard.parse(text)
        for node in ast.walk(tree):
            # What a docstring says is no code.
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
                node.value.value = ""
        lines = encode_lines(text)
        return cls(b"".join(lines), line_starts(lines), tree)

    def span(self, node: ast.AST) -> tuple[int, int]:
        """Where a node stands, decorators included; parameters with the marks around them."""
        if isinstance(node, ast.arguments):
            spans = [self.span(part) for part in _parameters(node)]
            start, end = min(s for s, _ in spans), max(e for _, e in spans)
            marks = _MARKS.search(self.data[:start])
            slash = _SLASH.match(self.data[end:])
            return marks.start() if marks else start, end + (slash.end() if slash else 0)
        first, last = _first(node), getattr(node, "end_lineno", 0)
        start = self.starts[first.lineno - 1] + first.col_offset
        if first is not node:
            start -= 1  # the @ of a decorator
        return start, self.starts[last - 1] + node.end_col_offset  # type: ignore[attr-defined]

    def text(self, node: ast.AST) -> bytes:
        start, end = self.span(node)
        return self.data[start:end]

    def lines(self, nodes: Sequence[ast.AST]) -> tuple[int, int] | None:
        """The whole lines of statements that follow each other; None where they share one."""
        first, last = _first(nodes[0]).lineno, getattr(nodes[-1], "end_lineno", 0)
        start, end = self.starts[first - 1], self.starts[last]
        head = self.data[start : self.span(nodes[0])[0]]
        tail = self.data[self.span(nodes[-1])[1] : end].strip()
        return None if head.strip() or tail[:1] not in {b"", b"#"} else (start, end)


def line_starts(lines: Sequence[bytes]) -> tuple[int, ...]:
    """The byte at which each line begins, and the end of the last."""
    return (0, *itertools.accumulate(map(len, lines)))


def encode_lines(text: str) -> list[bytes]:
    """The lines of a text without a byte order mark, which belongs to no part of it."""
    lines = functions.lines(text.removeprefix("\ufeff"))
    return [line.encode("utf-8", "surrogatepass") for line in lines]


def _first(node: ast.AST) -> ast.expr:
    """What of a node comes first: a decorator, or itself."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return decorators[0] if decorators else node  # type: ignore[return-value]


@dataclass(frozen=True, slots=True)
class _Change:
    """A file before and after a commit."""

    old: _Side
    new: _Side

    def compare_blocks(self, old: Sequence[ast.AST], new: Sequence[ast.AST]) -> Iterator[Part]:
        """What differs between two blocks of statements: hunks of them."""
        dumps = [*map(ast.dump, old)], [*map(ast.dump, new)]
        matcher = SequenceMatcher(None, *dumps, autojunk=False)
        for tag, a, b, c, d in matcher.get_opcodes():
            if tag != "equal":
                yield from self._hunk(old, new, (a, b, c, d))

    def _hunk(
        self, old: Sequence[ast.AST], new: Sequence[ast.AST], where: tuple[int, int, int, int]
    ) -> Iterator[Part]:
        """Statements in the place of others: as one, and pair by pair where they correspond."""
        a, b, c, d = where
        inner: list[Part] = []
        keys = [*map(_name, old[a:b])], [*map(_name, new[c:d])]
        for tag, i, j, k, m in SequenceMatcher(None, *keys, autojunk=False).get_opcodes():
            if tag == "equal":
                for one, other in zip(old[a + i : a + j], new[c + k : c + m], strict=True):
                    inner.extend(self.compare(one, other))
                continue
            inner.extend(self._rewritten(old, new, (a + i, a + j, c + k, c + m)))
        whole = self._rewritten(old, new, where)
        if len(inner) < 2:
            yield from inner or whole
        else:
            yield from (Part(p.start, p.end, p.before, tuple(inner)) for p in whole)
            if not whole:
                yield Part(-1, -1, b"", tuple(inner))

    def _rewritten(
        self, old: Sequence[ast.AST], new: Sequence[ast.AST], where: tuple[int, int, int, int]
    ) -> list[Part]:
        """The new statements as whole lines, to become the old ones; none where they share one."""
        a, b, c, d = where
        there = self.old.lines(old[a:b]) if a < b else (0, 0)
        if c < d:
            here = self.new.lines(new[c:d])
        else:
            beside = self.new.lines(new[c - 1 : c]) if c else self.new.lines(new[:1])
            here = beside and ((beside[1],) * 2 if c else (beside[0],) * 2)
        if not there or not here or not new:
            return []
        depth = {_first(node).col_offset for node in (*old[a:b], *new)}
        decorated = {bool(getattr(node, "decorator_list", ())) for node in (*old[a:b], *new)}
        if len(depth) > 1 and decorated == {False}:
            return []
        text = self.old.data[slice(*there)]
        return [Part(*here, text if not text or text.endswith(b"\n") else text + b"\n")]

    def compare(self, old: ast.AST, new: ast.AST, parent: ast.AST | None = None) -> Iterator[Part]:
        """What differs between two nodes of one kind: the smallest parts, and what holds several.

        A part that holds but one other puts back the same, and is left out.
        """
        if ast.dump(old) == ast.dump(new):
            return
        inner = None if type(old) is not type(new) else self._inner(old, new)
        if inner is not None and len(inner) == 1:
            yield inner[0]
        elif _has_place(old) and _has_place(new):
            text = self.old.text(old)
            if parent is not None and _needs_brackets(old, new, parent):
                text = b"(" + text + b")"
            atomic = not any(hasattr(new, name) for name in _BLOCKS) or isinstance(new, ast.expr)
            yield Part(*self.new.span(new), text, tuple(inner or ()), atomic)
        elif inner:
            yield Part(-1, -1, b"", tuple(inner))

    def _inner(self, old: ast.AST, new: ast.AST) -> list[Part] | None:
        """The parts inside two nodes; None where they differ in what has no place of its own."""
        if isinstance(old, ast.JoinedStr):
            return None
        found: list[Part] = []
        for name in new._fields:
            one, other = getattr(old, name, None), getattr(new, name, None)
            if name in _BLOCKS and isinstance(one, list) and isinstance(other, list):
                if bool(one) != bool(other):
                    return None
                found.extend(self.compare_blocks(one, other))
                continue
            pairs = [(one, other)]
            if isinstance(one, list) and isinstance(other, list):
                if len(one) != len(other):
                    return None
                pairs = list(zip(one, other, strict=True))
            for left, right in pairs:
                if not isinstance(left, ast.AST) or not isinstance(right, ast.AST):
                    if left != right:
                        return None
                    continue
                below = list(self.compare(left, right, new))
                if not below and ast.dump(left) != ast.dump(right):
                    return None
                found.extend(below)
        return found


def _has_place(node: ast.AST) -> bool:
    """Whether a node has bytes of its own; operators and contexts have none."""
    return hasattr(node, "end_lineno") or (
        isinstance(node, ast.arguments) and bool(_parameters(node))
    )


def _parameters(node: ast.arguments) -> list[ast.AST]:
    """The parameters of a function and their defaults."""
    lone = (node.vararg, node.kwarg)
    found = [
        *node.posonlyargs,
        *node.args,
        *node.kwonlyargs,
        *lone,
        *node.defaults,
        *node.kw_defaults,
    ]
    return [part for part in found if part is not None]


def _name(node: ast.AST) -> str:
    """What two versions of a statement have in common: its kind, and the name it defines."""
    name = getattr(node, "name", "")
    if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
        name = ast.unparse(node.targets[0] if isinstance(node, ast.Assign) else node.target)
    return f"{type(node).__name__} {name}"


def _needs_brackets(old: ast.AST, new: ast.AST, parent: ast.AST) -> bool:
    """Whether an expression means something else in that place without brackets."""
    if not isinstance(old, _OPERATORS):
        return False

    class Put(ast.NodeTransformer):
        def visit(self, node: ast.AST) -> ast.AST:
            return old if node is new else node

    try:
        there = ast.unparse(Put().generic_visit(_shallow(parent)))
        return f"({ast.unparse(old)})" in there
    except (ValueError, RecursionError, AttributeError):
        return False


def _shallow(node: ast.AST) -> ast.AST:
    """The same node with lists of its own, so that what is put into it changes no other."""
    copied = type(node)()
    for name, value in ast.iter_fields(node):
        setattr(copied, name, list(value) if isinstance(value, list) else value)
    return ast.copy_location(copied, node)


@dataclass(frozen=True, slots=True)
class _Moved:
    """Where the lines of a commit's version stand now: (first byte, its end, first byte now)."""

    blocks: tuple[tuple[int, int, int], ...]

    @classmethod
    def between(cls, after: str, now: str) -> _Moved:
        old, new = encode_lines(after), encode_lines(now)
        starts = (
            (0, *itertools.accumulate(map(len, old))),
            (0, *itertools.accumulate(map(len, new))),
        )
        found = SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks()
        return cls(tuple((starts[0][a], starts[0][a + n], starts[1][b]) for a, b, n in found))

    def carried(self, part: Part) -> Part | None:
        """The part where it stands now; what was changed since is left out."""
        inner = tuple(p for one in part.parts if (p := self.carried(one)))
        if part.start >= 0:
            for first, last, there in self.blocks:
                if first <= part.start and part.end <= last:
                    start, end = (there - first + at for at in (part.start, part.end))
                    return replace(part, start=start, end=end, parts=inner)
        if len(inner) == 1:
            return inner[0]
        return Part(-1, -1, b"", inner) if inner else None
