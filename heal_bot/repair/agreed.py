"""Places that several patches change and nothing else: what they have in common, and without it."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Callable, Sequence

from heal_bot.model import Attempt, Candidate, Edit, Target
from heal_bot.source import functions

_SIZE = 20_000

Changed = Callable[[ast.Module, ast.Module], int | None]


def places(fixes: Sequence[Attempt], changed: Changed) -> list[tuple[Target, int, frozenset[int]]]:
    """(target, number of the place, numbers of the patches), those of most patches first.

    `changed` names the place in which two versions of a function differ, when that is all.
    """
    found: dict[tuple[Target, int], set[int]] = {}
    for number, fix in enumerate(fixes):
        for edit in fix.candidate.edits if len(fix.candidate.edits) == 1 else ():
            old, new = _parsed(edit.target.source), _parsed(edit.new_source)
            at = changed(old, new) if old is not None and new is not None else None
            if at is not None:
                found.setdefault((edit.target, at), set()).add(number)
    ranked = sorted(found.items(), key=lambda item: (-len(item[1]), min(item[1])))
    return [(target, at, frozenset(members)) for (target, at), members in ranked]


def rewritten(
    target: Target, change: Callable[[ast.Module], None], proposer: str, family: str, why: str
) -> Candidate:
    """The target with `change` made to its tree."""
    tree = ast.parse(textwrap.dedent(target.source))
    change(tree)
    text = textwrap.indent(ast.unparse(tree), functions.indentation(target.source)) + "\n"
    return Candidate((Edit(target, text),), proposer, family, why)


def _parsed(source: str) -> ast.Module | None:
    if len(source) > _SIZE:
        return None
    try:
        return ast.parse(textwrap.dedent(source))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
