"""Two versions of a file compared by their trees: hunks, statements and expressions that differ.

The parts form a tree, so that a search for the smallest reversal can go down level by level, as
hierarchical delta debugging does (Misherghi and Su 2006).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Any

from heal_bot.source import guard
from heal_bot.source.parsed_version import (
    BLOCKS,
    Version,
    encode_lines,
    line_starts,
    parse_code,
)

# A node, or what a field of one holds, read by the name of the field.
_Node = Any
_Key = str | int | slice
_START = re.compile(rb"[ \t\f]*(?:\w+|@)?")


@dataclass(frozen=True, slots=True)
class Part:
    """Bytes of a file as it is, and what stood in their place; `parts` are the smaller ones in it.

    Without bytes of its own (`start` is -1) it is all of its parts together. One that is `atomic`
    is a simple statement, a header or an expression: half of it says what nobody ever wrote.
    """

    start: int
    end: int
    before: bytes = b""
    parts: tuple[Part, ...] = ()
    atomic: bool = False

    @property
    def leaves(self) -> int:
        """How many statements, headers and expressions it puts back."""
        return 1 if self.atomic else sum(part.leaves for part in self.parts) or 1

    def walk(self) -> Iterator[Part]:
        """The part and all in it."""
        yield self
        for inner in self.parts:
            yield from inner.walk()

    def statements(self) -> Iterator[Part]:
        """The part and those in it, but not the expressions of a statement."""
        yield self
        for inner in () if self.atomic else self.parts:
            yield from inner.statements()

    def holds(self, other: Part) -> bool:
        """Whether another part puts back less, inside of what this one does."""
        inside = self.start <= other.start and other.end <= self.end
        return inside and len(other.before) < len(self.before)

    def shifted(self, by: int) -> Part:
        """The same part in a text that begins elsewhere."""
        start, end = (-1, -1) if self.start < 0 else (self.start + by, self.end + by)
        inner = tuple(part.shifted(by) for part in self.parts)
        return replace(self, start=start, end=end, parts=inner)

    def cuts(self) -> Iterator[Part]:
        """The parts with bytes of their own that put all of it back."""
        if self.start >= 0:
            yield self
        else:
            for part in self.parts:
                yield from part.cuts()


@lru_cache(maxsize=64)
def compare_versions(before: str, after: str, now: str) -> tuple[Part, ...]:
    """What the change from `before` to `after` consists of, where `now` still has it.

    Each part that is put back alone gives the tree it says, or is left out. Nothing for a text that
    does not parse here. Comments, docstrings and layout are no change.
    """
    try:
        found = tuple(_TreeChange(Version.of(before), Version.of(after)).compare_top())
    except (guard.SourceRejected, SyntaxError, ValueError, RecursionError):
        return ()
    if after == now:
        return found
    moved = _Moved.between(after, now)
    return tuple(part for one in found if (part := moved.carried(one)))


def align(
    old: Sequence[Hashable], new: Sequence[Hashable]
) -> Iterator[tuple[str, int, int, int, int]]:
    """The opcodes of two sequences; what both begin and end with is not searched for."""
    most = min(len(old), len(new))
    head = next((n for n in range(most) if old[n] != new[n]), most)
    tail = next((n for n in range(most - head) if old[-1 - n] != new[-1 - n]), most - head)
    ends = len(old) - tail, len(new) - tail
    if head:
        yield "equal", 0, head, 0, head
    for tag, a, b, c, d in SequenceMatcher(
        None, old[head : ends[0]], new[head : ends[1]]
    ).get_opcodes():
        yield tag, a + head, b + head, c + head, d + head
    if tail:
        yield "equal", ends[0], len(old), ends[1], len(new)


@dataclass(frozen=True, slots=True)
class _TreeChange:
    """A file before and after a commit."""

    old: Version
    new: Version

    def compare_top(self) -> Iterator[Part]:
        """The hunks of the module."""
        yield from self.compare_blocks(self.old.tree.body, self.new.tree.body)

    def compare_blocks(self, old: list[_Node], new: list[_Node]) -> Iterator[Part]:
        """What differs between two blocks of statements: hunks of them."""
        for tag, *where in align([*map(ast.dump, old)], [*map(ast.dump, new)]):
            if tag != "equal":
                yield from self._hunk(old, new, *where)

    def _hunk(
        self, old: list[_Node], new: list[_Node], a: int, b: int, c: int, d: int
    ) -> list[Part]:
        """Statements in the place of others: as one, and pair by pair where they correspond."""
        inner: list[Part] = []
        for tag, i, j, k, m in align(
            [*map(name_statement, old[a:b])], [*map(name_statement, new[c:d])]
        ):
            if tag != "equal":
                inner += self._rewritten(old, new, a + i, a + j, c + k, c + m)
                continue
            for one, at in zip(range(a + i, a + j), range(c + k, c + m), strict=True):
                inner += self._statement(old, new, one, at)
        if b - a == d - c == 1 and inner:
            return inner
        whole = self._rewritten(old, new, a, b, c, d)
        if len(inner) > 1:
            return [replace(p, parts=tuple(inner), atomic=False) for p in whole] or inner
        return whole or inner

    def _statement(self, old: list[_Node], new: list[_Node], a: int, c: int) -> list[Part]:
        """A statement in the place of another of its kind: whole, and what differs inside."""
        one, other = old[a], new[c]
        if ast.dump(one) == ast.dump(other):
            return []
        whole = self._rewritten(old, new, a, a + 1, c, c + 1)
        inner = self._branches(one, new, c) or self._inside(one, other)
        if whole and inner:
            return [replace(whole[0], parts=tuple(inner), atomic=False)]
        if whole:
            return [replace(whole[0], parts=tuple(self._expressions(one, other)))]
        return inner

    def _branches(self, one: _Node, block: list[_Node], at: int) -> list[Part]:
        """The branches that one `if` has and the other has not, and what differs in the rest.

        None where one of them has an `else` and the other does not.
        """
        old, new = ([*_list_branches(node)] for node in (one, block[at]))
        if len(old) == len(new) or bool(old[-1].orelse) != bool(new[-1].orelse):
            return []
        found: list[Part] = []
        tests = ([ast.dump(node.test) for node in nodes] for nodes in (old, new))
        for tag, a, b, c, d in align(*tests):
            if tag == "equal":
                for left, right in zip(old[a:b], new[c:d], strict=True):
                    found += self.compare_blocks(left.body, right.body)
            elif not a and (b == len(old) or d == len(new)):
                return []
            else:
                there, here = self.old.branches(old, a, b), self.new.branches(new, c, d)
                chain = _join_branches([*new[:c], *old[a:b], *new[d:]], new[-1].orelse)
                swap = (block, slice(at, at + 1), chain)
                found += self._sound(here, self.old.data[slice(*there)], [swap])
        return [*found, *self.compare_blocks(old[-1].orelse, new[-1].orelse)]

    def _inside(self, one: _Node, other: _Node) -> list[Part]:
        """The header and the blocks of a compound statement, and its `else` and `finally`."""
        blocks = [name for name in BLOCKS if isinstance(getattr(other, name, None), list)]
        clauses = [n for n in blocks if bool(getattr(one, n)) != bool(getattr(other, n))]
        if not blocks or "handlers" in clauses:
            return []
        rest = [name for name in other._fields if name not in blocks]
        here, there = self.new.header(other), self.old.header(one)
        found: list[Part] = []
        if any(_dump(getattr(one, n)) != _dump(getattr(other, n)) for n in rest):
            if not here or not there:
                return []
            swaps = [(other, name, getattr(one, name)) for name in rest]
            header = self._sound(here, self.old.data[slice(*there)], swaps)
            inner = [p for name in rest for p in self._values(one, other, name)]
            found += [replace(part, parts=tuple(inner)) for part in header]
        for name in blocks:
            block = getattr(one, name)
            if name in clauses:
                there, here = self.old.clause(one, name), self.new.clause(other, name)
                found += self._sound(here, self.old.data[slice(*there)], [(other, name, block)])
            else:
                found += self.compare_blocks(block, getattr(other, name))
        return found

    def _rewritten(
        self, old: list[_Node], new: list[_Node], a: int, b: int, c: int, d: int
    ) -> list[Part]:
        """The new statements as whole lines, to become the old ones; none where they share one."""
        there = self.old.lines(old[a:b]) if a < b else (0, 0)
        if c < d:
            here = self.new.lines(new[c:d])
        elif new:
            beside = self.new.lines(new[c - 1 : c] or new[:1])
            here = beside and ((beside[1],) * 2 if c else (beside[0],) * 2)
        else:
            return []
        if not there or not here:
            return []
        text = self.old.data[slice(*there)]
        if c < d and a < b:
            # An `elif` is another statement than an `if` in an `else`, and so is another depth.
            starts = _START.match(text), _START.match(self.new.data[slice(*here)])
            if old[a].col_offset != new[c].col_offset or (
                isinstance(old[a], ast.If) and starts[0][0] != starts[1][0]  # type: ignore[index]
            ):
                return []
        return self._sound(here, text, [(new, slice(c, d), old[a:b])])

    def _expressions(self, one: _Node, other: _Node) -> Iterator[Part]:
        """The expressions in which two nodes of a kind differ, each with those in it."""
        if type(one) is type(other) and not isinstance(one, ast.JoinedStr):
            for name in other._fields:
                yield from self._values(one, other, name)

    def _values(self, one: _Node, other: _Node, name: str) -> Iterator[Part]:
        """The same of one field, whose value is a node or a list of them."""
        old, new = getattr(one, name, None), getattr(other, name, None)
        pairs: list[tuple[_Node, _Node, _Node, _Node]] = [(old, new, other, name)]
        if isinstance(old, list) and isinstance(new, list):
            if len(old) != len(new):
                return
            pairs = [(x, y, new, n) for n, (x, y) in enumerate(zip(old, new, strict=True))]
        for left, right, holder, key in pairs:
            if not isinstance(right, ast.AST) or _dump(left) == _dump(right):
                continue
            inner = tuple(self._expressions(left, right))
            if isinstance(left, ast.expr) and isinstance(right, ast.expr):
                text = self.old.data[slice(*self.old.span(left))]
                swap = [(holder, key, left)]
                span = self.new.span(right)
                found = self._sound(span, text, swap) or self._sound(span, b"(%b)" % text, swap)
                yield from (replace(part, parts=inner) for part in found)
            else:
                yield from inner

    def _sound(
        self,
        here: tuple[int, int],
        text: bytes,
        swaps: Sequence[tuple[_Node, _Key, _Node]],
    ) -> list[Part]:
        """The part, if the file with it has the tree in which the nodes themselves are swapped."""
        if text and not text.endswith(b"\n") and self.new.data[here[0] : here[1]].endswith(b"\n"):
            text += b"\n"
        if here[0] == here[1] == len(self.new.data) and not self.new.data.endswith(b"\n"):
            text = b"\n" + text
        undo = [_put(*swap) for swap in swaps]
        wanted = ast.dump(self.new.tree)
        for back in undo:
            back()
        data = self.new.data[: here[0]] + text + self.new.data[here[1] :]
        try:
            same = ast.dump(parse_code(data.decode("utf-8", "surrogatepass"))) == wanted
        except (guard.SourceRejected, SyntaxError, ValueError):
            same = False
        return [Part(*here, text, (), atomic=True)] if same else []


def _list_branches(node: _Node) -> Iterator[_Node]:
    """An `if`, and each that stands in its `else` alone; any other statement alone."""
    yield node
    inner = node.orelse if isinstance(node, ast.If) else []
    if len(inner) == 1 and isinstance(inner[0], ast.If):
        yield from _list_branches(inner[0])


def _join_branches(chain: Sequence[_Node], last: list[_Node]) -> list[_Node]:
    """The `if` of some branches, with what its `else` has."""
    for node in reversed(chain):
        last = [ast.If(node.test, node.body, last)]
    return last


def _put(holder: _Node, key: _Key, value: _Node) -> Callable[[], None]:
    """Set a field, an item or a slice of nodes; what sets it back."""
    if isinstance(key, str):
        kept = getattr(holder, key)
        setattr(holder, key, value)
        return lambda: setattr(holder, key, kept)
    kept = holder[key]
    holder[key] = value
    back = slice(key.start, key.start + len(value)) if isinstance(key, slice) else key
    return lambda: holder.__setitem__(back, kept)


def _dump(value: _Node) -> _Node:
    if isinstance(value, list):
        return [_dump(item) for item in value]
    return ast.dump(value) if isinstance(value, ast.AST) else value


def name_statement(node: ast.AST) -> str:
    """What two versions of a statement have in common: its kind, and the name it defines."""
    name = getattr(node, "name", "")
    if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
        name = ast.unparse(node.targets[0] if isinstance(node, ast.Assign) else node.target)
    return f"{type(node).__name__} {name}"


@dataclass(frozen=True, slots=True)
class _Moved:
    """Where the lines of a commit's version stand now: (first byte, its end, first byte now)."""

    blocks: tuple[tuple[int, int, int], ...]

    @classmethod
    def between(cls, after: str, now: str) -> _Moved:
        old, new = encode_lines(after), encode_lines(now)
        first, then = line_starts(old), line_starts(new)
        same = (where for tag, *where in align(old, new) if tag == "equal")
        return cls(tuple((first[a], first[b], then[c]) for a, b, c, _ in same))

    def carried(self, part: Part) -> Part | None:
        """The part where it stands now; what was changed since is left out."""
        inner = tuple(p for one in part.parts if (p := self.carried(one)))
        for first, last, there in self.blocks if part.start >= 0 else ():
            if first <= part.start and part.end <= last:
                start, end = (there - first + at for at in (part.start, part.end))
                return replace(part, start=start, end=end, parts=inner)
        if part.atomic or not inner:
            return None
        return inner[0] if len(inner) == 1 else Part(-1, -1, b"", inner)
