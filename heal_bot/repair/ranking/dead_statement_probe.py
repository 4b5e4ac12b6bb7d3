"""Patches that agree in doing nothing: a statement goes on, and what it did is gone.

`text = re.sub("%s+" * mark, mark, text)` crashes; with `"%s+"`, with `mark` or with `len(mark)` for
the pattern nothing is ever replaced. Such patches agree whatever is right, so they do not support
each other. To see it, the statement is left out, and what that does is compared.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from heal_bot.core.model import Attempt, Candidate, Edit, Target
from heal_bot.repair.ranking import shared_edit_sites

_MOST = 3
_SIMPLE = ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Expr


@dataclass(frozen=True, slots=True)
class Omission:
    """A statement with the patches, by number, that change nothing else; and without it."""

    members: frozenset[int]
    without: Candidate


def find_omissions(fixes: Sequence[Attempt]) -> tuple[Omission, ...]:
    """The statements that several patches change, those of most patches first."""
    several = [
        place for place in shared_edit_sites.find_places(fixes, _changed) if len(place[2]) > 1
    ]
    found = ((members, _left_out(target, at)) for target, at, members in several[:_MOST])
    return tuple(Omission(members, without) for members, without in found if without is not None)


def _changed(old: ast.Module, new: ast.Module) -> int | None:
    """The number of the simple statement that differs, when that is all."""
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


def _left_out(target: Target, at: int) -> Candidate | None:
    """The target without a statement."""

    def change(tree: ast.Module) -> None:
        _statements(tree)[at].leave_out()

    return shared_edit_sites.rewrite_edit(
        Edit(target, target.source), change, "inertness", "statement", "left out"
    )
