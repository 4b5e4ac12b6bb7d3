"""What edits take and bring, statement by statement, and which of them make the same change."""

from __future__ import annotations

import ast
from collections import Counter
from functools import lru_cache

from heal_bot.core.model import Edit
from heal_bot.source import guard

_ACTS = ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Delete | ast.Expr
Outline = tuple[tuple[str, ...], tuple[str, ...]]


def outline_change(edit: Edit) -> Outline:
    """The statements and conditions that an edit takes and brings, with numbers for their names.

    Nothing of an edit that only gives things other names, or of what cannot be read by itself.
    """
    try:
        old, new = (Counter(_list_code(text)) for text in (edit.target.source, edit.new_source))
        gone, come = (
            tuple(sorted(map(_number_names, counts.elements())))
            for counts in (old - new, new - old)
        )
    except (guard.SourceRejected, SyntaxError, ValueError, RecursionError):
        return (), ()
    return ((), ()) if gone == come else (gone, come)


def has_effect(edit: Edit) -> bool:
    """Whether an edit brings a statement that sets, deletes or calls, and does not end there."""
    return any(isinstance(ast.parse(code).body[0], _ACTS) for code in outline_change(edit)[1])


@lru_cache(maxsize=8)
def _list_code(source: str) -> tuple[str, ...]:
    """The simple statements of a source, and its `if`s and loops without what is in them."""
    found = []
    for node in ast.walk(guard.parse_part(source)):
        if isinstance(node, ast.If | ast.While | ast.For | ast.AsyncFor):
            node.body, node.orelse = [ast.Pass()], []
            found.append(ast.unparse(node))
        elif isinstance(node, ast.stmt) and not hasattr(node, "body"):
            found.append(ast.unparse(node))
    return tuple(found)


def _number_names(code: str) -> str:
    """Code in which variables and attributes are numbers; what is called keeps its name."""
    tree = ast.parse(code)
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    numbers: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and id(node) not in called:
            node.id = numbers.setdefault(node.id, f"_{len(numbers)}")
        elif isinstance(node, ast.Attribute) and id(node) not in called:
            node.attr = numbers.setdefault(node.attr, f"_{len(numbers)}")
    return ast.unparse(tree)
