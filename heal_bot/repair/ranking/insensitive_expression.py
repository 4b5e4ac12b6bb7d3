"""Sums that a patch may get right or wrong without a difference: `owed + paid` for `due - paid`.

A test that asks for 300 of what is left is passed by anything over 300. Such patches agree on every
call, whatever is right, and do not support each other. To see it, what the patch computes is
made more than twice as large, and what that does is compared.
"""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from heal_bot.core.model import Attempt, Candidate
from heal_bot.repair.ranking import shared_edit_sites

_MOST = 6

# A field of a node, and the place in it where it is a list.
_Step = tuple[str, int | None]


@dataclass(frozen=True, slots=True)
class Shift:
    """A patch, by number, that computes a sum in place of another value; and with far more."""

    member: int
    shifted: Candidate


def find_shifts(fixes: Sequence[Attempt]) -> tuple[Shift, ...]:
    """The sums that patches compute, those of the first patches."""
    found: list[Shift] = []
    for number, fix in enumerate(fixes):
        # A sum of a thousand terms is too deep to be compared.
        with contextlib.suppress(RecursionError):
            if len(found) < _MOST and (shifted := _shifted(fix)) is not None:
                found.append(Shift(number, shifted))
    return tuple(found)


def _shifted(fix: Attempt) -> Candidate | None:
    """The patch with far more than the value in which it differs, when that is all it changes."""
    if len(fix.candidate.edits) != 1:
        return None
    (edit,) = fix.candidate.edits
    old, new = (
        shared_edit_sites.parse_function(edit.target.source),
        shared_edit_sites.parse_function(edit.new_source),
    )
    if old is None or new is None or not (path := _apart(old, new)):
        return None
    (*above, (name, at)) = path

    def change(tree: ast.Module) -> None:
        owner: ast.AST = tree
        for step in above:
            owner = _at(owner, step)
        size = ast.Call(ast.Name("abs", ast.Load()), [_at(owner, (name, at))], [])  # type: ignore[list-item]
        more = ast.BinOp(ast.BinOp(size, ast.Mult(), ast.Constant(2)), ast.Add(), ast.Constant(1))
        if at is None:
            setattr(owner, name, more)
        else:
            getattr(owner, name)[at] = more

    return shared_edit_sites.rewrite_edit(edit, change, "indifference", "sum", "far more")


def _apart(old: ast.AST, new: ast.AST) -> tuple[_Step, ...] | None:
    """The way to the outermost sum, old or new, outside of which two trees are equal."""
    path: list[_Step] = []
    while not isinstance(old, ast.BinOp) and not isinstance(new, ast.BinOp):
        if type(old) is not type(new):
            return None
        steps = list(_steps(old))
        if steps != list(_steps(new)):
            return None
        apart = [s for s in steps if ast.dump(_at(old, s)) != ast.dump(_at(new, s))]
        if len(apart) != 1:
            return None
        path += apart
        old, new = _at(old, apart[0]), _at(new, apart[0])
    return tuple(path) if isinstance(old, ast.expr) and isinstance(new, ast.expr) else None


def _steps(node: ast.AST) -> Iterator[_Step]:
    """The ways to the nodes right below one."""
    for name, value in ast.iter_fields(node):
        if isinstance(value, ast.AST):
            yield name, None
        elif isinstance(value, list):
            yield from ((name, at) for at, one in enumerate(value) if isinstance(one, ast.AST))


def _at(node: ast.AST, step: _Step) -> ast.AST:
    name, at = step
    found = getattr(node, name)
    below = found if at is None else found[at]
    assert isinstance(below, ast.AST)
    return below
