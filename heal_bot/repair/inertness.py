"""Patches that agree in doing nothing: a statement goes on, and what it did is gone.

`text = re.sub("%s+" * mark, mark, text)` crashes; with `"%s+"`, with `mark` or with `len(mark)` for
the pattern nothing is ever replaced. Such patches agree whatever is right, so they do not support
each other. To see it, the statement is left out, and what that does is compared.
"""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

from heal_bot.model import Attempt, Candidate, Edit, Target

_MOST = 3
_SIZE = 20_000
_SIMPLE = ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Expr


@dataclass(frozen=True, slots=True)
class Omission:
    """A statement with the patches, by number, that change nothing else; and without it."""

    members: frozenset[int]
    without: Candidate


def omissions(fixes: Sequence[Attempt]) -> tuple[Omission, ...]:
    """The statements that several patches change, those of most patches first."""
    found: dict[tuple[Target, int], set[int]] = {}
    for number, fix in enumerate(fixes):
        for edit in fix.candidate.edits if len(fix.candidate.edits) == 1 else ():
            at = _changed(edit)
            if at is not None:
                found.setdefault((edit.target, at), set()).add(number)
    several = [(place, members) for place, members in found.items() if len(members) > 1]
    several.sort(key=lambda one: (-len(one[1]), min(one[1])))
    return tuple(
        Omission(frozenset(members), _left_out(target, at))
        for (target, at), members in several[:_MOST]
    )


def _changed(edit: Edit) -> int | None:
    """The number of the simple statement that an edit changes, when that is all it does."""
    old, new = _parsed(edit.target.source), _parsed(edit.new_source)
    if old is None or new is None:
        return None
    before, after = _statements(old), _statements(new)
    if len(before) != len(after):
        return None
    apart = [
        at
        for at, (one, other) in enumerate(zip(before, after, strict=True))
        if ast.dump(one.node) != ast.dump(other.node)
    ]
    if len(apart) != 1:
        return None
    (at,) = apart
    before[at].leave_out()
    after[at].leave_out()
    return at if ast.dump(old) == ast.dump(new) else None


@dataclass(frozen=True, slots=True)
class _Place:
    """A statement in the block it stands in."""

    block: list[ast.stmt]
    at: int

    @property
    def node(self) -> ast.stmt:
        return self.block[self.at]

    def leave_out(self) -> None:
        self.block[self.at] = ast.Pass()


def _statements(tree: ast.Module) -> list[_Place]:
    return [
        _Place(block, at)
        for node in ast.walk(tree)
        for name in ("body", "orelse", "finalbody")
        if isinstance(block := getattr(node, name, None), list)
        for at, statement in enumerate(block)
        if isinstance(statement, _SIMPLE)
    ]


def _left_out(target: Target, at: int) -> Candidate:
    """The target without a statement."""
    tree = ast.parse(textwrap.dedent(target.source))
    _statements(tree)[at].leave_out()
    source = target.source
    indent = source[: len(source) - len(source.lstrip(" \t"))]
    text = textwrap.indent(ast.unparse(tree), indent) + "\n"
    return Candidate((Edit(target, text),), "inertness", "statement", "left out")


def _parsed(source: str) -> ast.Module | None:
    if len(source) > _SIZE:
        return None
    try:
        return ast.parse(textwrap.dedent(source))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
