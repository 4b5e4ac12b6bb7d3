"""A copy that shares what it holds: `dict(defaults)` becomes `copy.deepcopy(defaults)`.

1.9 for a copy, which was meant to be apart; one of a list of lists also becomes one of each (2.3).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace

from heal_bot.repair.templates.mutation_context import MutationContext
from heal_bot.repair.templates.target_ast import called
from heal_bot.repair.templates.text_edits import Mutation, Text

_DEEP, _EACH = 1.9, 2.3
_MODULE = re.compile(r"import (?:\w+, )*copy\b(?! as)")
_COPIES = frozenset({"dict", "list"})


def deepened(scope: MutationContext) -> Iterator[Mutation]:
    """A copy of a container becomes one of all that it holds."""
    site = scope.site
    name, imports = _way(scope)
    for node in site.nodes:
        copied = _copied(node)
        if copied is None or isinstance(getattr(node, "ctx", None), ast.Store | ast.Del):
            continue
        value = site.text(copied).at(1)
        yield replace(site.put(node, Text(f"{name}({value})"), _DEEP), imports=imports)
        if not isinstance(node, ast.Dict) and called(node) != "dict":
            each = f"[list(row) for row in {site.text(copied).at(3)}]"
            yield site.put(node, Text(each), _EACH)


def _way(scope: MutationContext) -> tuple[str, tuple[str, ...]]:
    """How `deepcopy` is called in this module, and what imports it where nothing does."""
    if "deepcopy" in scope.around.imports:
        return "deepcopy", ()
    bound = {name for name, _, _ in scope.bindings}
    if "copy" not in bound and any(map(_MODULE.match, scope.around.lines)):
        return "copy.deepcopy", ()
    return "deepcopy", ("from copy import deepcopy",)


def _copied(node: ast.expr) -> ast.expr | None:
    """What an expression makes a copy of; None where it makes none."""
    match node:
        case ast.Call(func=ast.Name(id=name), args=[ast.Name() | ast.Attribute() as value],
                      keywords=[]) if name in _COPIES:  # fmt: skip
            return value
        case ast.Call(func=ast.Attribute(value=ast.Name(id="copy"), attr="copy"), args=[value]):
            return value
        case ast.Call(func=ast.Attribute(value=value, attr="copy"), args=[], keywords=[]):
            return value
        case ast.Subscript(value=value, slice=ast.Slice(lower=None, upper=None, step=None)):
            return value
        case ast.List(elts=[ast.Starred(value=value)]):
            return value
        case ast.Dict(keys=[None], values=[value]):
            return value
    return None
