"""Places that several patches change and nothing else: what they have in common, and without it."""

from __future__ import annotations

import ast
import contextlib
import textwrap
from collections.abc import Callable, Sequence

from heal_bot.core.model import Attempt, Candidate, Edit, Target
from heal_bot.source import functions

_SIZE = 20_000

Changed = Callable[[ast.Module, ast.Module], int | None]


def find_places(
    fixes: Sequence[Attempt], changed: Changed
) -> list[tuple[Target, int, frozenset[int]]]:
    """(target, number of the place, numbers of the patches), those of most patches first.

    `changed` names the place in which two versions of a function differ, when that is all.
    """
    found: dict[tuple[Target, int], set[int]] = {}
    for number, fix in enumerate(fixes):
        for edit in fix.candidate.edits if len(fix.candidate.edits) == 1 else ():
            old, new = parse_function(edit.target.source), parse_function(edit.new_source)
            at = None
            # A sum of a thousand terms is too deep to be compared.
            with contextlib.suppress(RecursionError):
                at = changed(old, new) if old is not None and new is not None else None
            if at is not None:
                found.setdefault((edit.target, at), set()).add(number)
    ranked = sorted(found.items(), key=lambda item: (-len(item[1]), min(item[1])))
    return [(target, at, frozenset(members)) for (target, at), members in ranked]


def rewrite_edit(
    edit: Edit, change: Callable[[ast.Module], None], proposer: str, family: str, why: str
) -> Candidate | None:
    """An edit with `change` made to the tree of its new source; None where that is too deep."""
    try:
        tree = ast.parse(textwrap.dedent(edit.new_source))
        change(tree)
        code = ast.unparse(tree)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    text = textwrap.indent(code, functions.find_indentation(edit.new_source)) + "\n"
    return Candidate((Edit(edit.target, text, edit.imports),), proposer, family, why)


def parse_function(source: str) -> ast.Module | None:
    """The tree of a function's source; None where it is long or no Python of ours."""
    if len(source) > _SIZE:
        return None
    try:
        return ast.parse(textwrap.dedent(source))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
