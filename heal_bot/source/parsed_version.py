"""One version of a file: its bytes, its tree, and where in the one the nodes of the other stand."""

from __future__ import annotations

import ast
import itertools
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from heal_bot.source import functions, guard

# A node, or what a field of one holds, read by the name of the field.
_Node = Any
# The blocks of compound statements, in the order in which they stand.
BLOCKS = ("body", "handlers", "orelse", "finalbody")


def encode_lines(text: str) -> list[bytes]:
    """The lines of a text without a byte order mark, which belongs to no part of it."""
    lines = functions.split_lines(text.removeprefix("\ufeff"))
    return [line.encode("utf-8", "surrogatepass") for line in lines]


def line_starts(lines: Sequence[bytes]) -> tuple[int, ...]:
    """The byte at which each line begins, and the end of the last."""
    return (0, *itertools.accumulate(map(len, lines)))


def splice(data: bytes, cuts: Iterable[tuple[int, int, bytes]]) -> bytes:
    """The bytes with others in the place of spans; of two at one place the first stands first."""
    ordered = sorted(cuts, key=lambda cut: cut[:2])
    for start, end, new in reversed(ordered):
        data = data[:start] + new + data[end:]
    return data


def parse_code(text: str) -> ast.Module:
    """The tree of a text, with empty docstrings: what these say is no code."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = ast.parse(guard.check_text(text))
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            node.value.value = ""
    return tree


@dataclass(frozen=True, slots=True)
class Version:
    """One version of a file: its bytes, where its lines begin, its tree."""

    data: bytes
    starts: tuple[int, ...]
    tree: ast.Module

    @classmethod
    @lru_cache(maxsize=32)
    def of(cls, text: str) -> Version:
        """A text as it is; its tree is shared, and nobody changes it."""
        text = text.removeprefix("\ufeff")
        lines = encode_lines(text)
        return cls(b"".join(lines), line_starts(lines), parse_code(text))

    def span(self, node: ast.AST) -> tuple[int, int]:
        """Where a node stands, without decorators."""
        first = self.starts[node.lineno - 1] + node.col_offset  # type: ignore[attr-defined]
        return first, self.starts[node.end_lineno - 1] + node.end_col_offset  # type: ignore[attr-defined]

    def lines(self, nodes: Sequence[ast.AST]) -> tuple[int, int] | None:
        """The whole lines of statements that follow each other; None where they share one."""
        start, end = self.starts[functions.first_line(nodes[0]) - 1], self.starts[_end(nodes[-1])]
        head = self.data[start : self.span(nodes[0])[0]]
        tail = self.data[self.span(nodes[-1])[1] : end].strip()
        alone = not head.strip() or bool(getattr(nodes[0], "decorator_list", ()))
        return (start, end) if alone and tail[:1] in {b"", b"#"} else None

    def header(self, node: _Node) -> tuple[int, int] | None:
        """The lines of a compound statement before its body; None where they share one."""
        start, end = (functions.first_line(one) - 1 for one in (node, node.body[0]))
        return (self.starts[start], self.starts[end]) if start < end else None

    def clause(self, node: _Node, name: str) -> tuple[int, int]:
        """The lines of an `else` or `finally` of a statement, or where they would be."""
        ends = [
            self.starts[_end(block[-1])]
            for block in (getattr(node, one, []) for one in BLOCKS[: BLOCKS.index(name) + 1])
            if block
        ]
        return ends[-2] if getattr(node, name) else ends[-1], ends[-1]

    def branches(self, chain: list[_Node], first: int, end: int) -> tuple[int, int]:
        """Where some branches of an `if` stand: their lines, or of the first ones up to an `if`."""
        if first:
            ends = [self.starts[_end(chain[at - 1].body[-1])] for at in (first, end)]
        else:
            begins = [self.span(chain[at])[0] for at in (first, end)]
            ends = [at + 2 * self.data.startswith(b"el", at) for at in begins]
        return ends[0], ends[1]


def _end(node: _Node) -> int:
    return int(node.end_lineno)
