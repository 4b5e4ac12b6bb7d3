"""Sets that a change has the code go through: their order differs from process to process."""

from __future__ import annotations

import ast

from heal_bot.repair.templates.target_ast import TargetAst, called
from heal_bot.repair.templates.text_edits import Mutation, TextEdit, applied

# Half of the orders of two texts pass by accident, and a confirmation tries few seeds.
_SCATTERED = 2.5
# What comes out the same in whatever order it is given the values.
_FREE = frozenset({"sorted", "sum", "min", "max", "len", "any", "all", "set", "frozenset"})
_SETS = frozenset({"set", "frozenset"})
# What keeps the order of what it is given, beside loops and comprehensions.
_KEEPING = frozenset({"list", "tuple", "iter", "next", "enumerate", "zip", "map", "filter", "join"})


def set_order_cost(site: TargetAst, change: Mutation) -> float:
    """What a change costs after which the order of a set counts more often than before."""
    if not any("set(" in text for cut in change.cuts for text in (cut.text, _old(site, cut))):
        return 0.0
    try:
        after = ast.parse(applied(site.source, change.cuts))
    except SyntaxError:
        return 0.0
    return _SCATTERED if _ordered(after) > _ordered(site.tree) else 0.0


def _old(site: TargetAst, cut: TextEdit) -> str:
    return site.source[cut.start : cut.end].decode(errors="replace")


def _ordered(tree: ast.Module) -> int:
    """How many new sets a source goes through in their order."""
    nodes = list(ast.walk(tree))
    free = {id(a) for n in nodes if isinstance(n, ast.Call) and called(n) in _FREE for a in n.args}
    kept = [node for node in nodes if id(node) not in free]
    return sum(_is_set(value) for node in kept for value in _gone_through(node))


def _gone_through(node: ast.AST) -> list[ast.expr]:
    """What a node takes value after value."""
    match node:
        case ast.For(iter=values) | ast.AsyncFor(iter=values):
            return [values]
        case ast.ListComp() | ast.GeneratorExp() | ast.DictComp():
            return [part.iter for part in node.generators]
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) if name in _KEEPING:
            return list(node.args)
        case ast.Starred(value=value):
            return [value]
    return []


def _is_set(node: ast.expr) -> bool:
    return called(node) in _SETS
