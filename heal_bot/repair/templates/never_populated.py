"""A local value that is used but never filled: `seen = set()`, tested, and nothing ever added.

Such a value has no purpose as the code stands. A `pass` gives way to what fills it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import islice

from heal_bot.repair.templates.change_tiers import assign_tiers
from heal_bot.repair.templates.mutation_context import MutationContext
from heal_bot.repair.templates.statement_insertion import after, before
from heal_bot.repair.templates.target_ast import TargetAst
from heal_bot.repair.templates.text_edits import FEW, Mutation

_FILLING = {"append", "add", "extend", "update", "insert", "setdefault", "appendleft", "push"}


def fills(scope: MutationContext) -> Iterator[Mutation]:
    """Every statement's place, those in loops first, for every value visible there."""
    site = scope.site
    anchors = sorted(site.anchors, key=lambda anchor: not _is_looped(scope, anchor))
    for name, code in islice(_unfilled(scope), FEW):
        for anchor in anchors:
            visible = scope.visible(anchor)
            values = [value for value in visible if value != name][:FEW] if name in visible else []
            for value, tier in assign_tiers(values):
                if isinstance(anchor, ast.Pass):
                    yield site.replace(anchor, code.format(value), tier)
                    continue
                for put in (after, before):
                    yield from put(site, anchor, (code.format(value),), tier)


def _is_looped(scope: MutationContext, node: ast.stmt) -> bool:
    return any(isinstance(a, ast.For | ast.While) for a in scope.above(node))


def _unfilled(scope: MutationContext) -> Iterator[tuple[str, str]]:
    """Names with the statement that would fill them, those of the functions around included."""
    yield from _outer(scope)
    site = scope.site
    filled: set[str] = set()
    stored: dict[str, int] = {}
    read: set[str] = set()
    for node in site.each(ast.Name):
        parent = site.places[node].parent
        if not isinstance(node.ctx, ast.Load):
            stored[node.id] = stored.get(node.id, 0) + 1
        elif _is_filling(parent):
            filled.add(node.id)
        else:
            read.add(node.id)
    for name, value in _assigned(site):
        code = _filling(name, value)
        if code and name in read - filled and stored[name] == 1:
            yield name, code
        elif _is_filling(value) and name not in read:
            yield name, f"{name}({{}})"


def _assigned(site: TargetAst) -> Iterator[tuple[str, ast.expr]]:
    """The names that statements set, with their values, also side by side: `out, last = [], 0`."""
    for statement in site.statements:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                yield name, value
            case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)):
                pairs = zip(names, values, strict=False)
                yield from ((n.id, value) for n, value in pairs if isinstance(n, ast.Name))


def _outer(scope: MutationContext) -> Iterator[tuple[str, str]]:
    """Containers that a function around the target makes, that the target reads and nobody fills.

    A plain value is left out: to rebind it takes a `nonlocal` besides.
    """
    read = {node.id for node in scope.site.each(ast.Name)}
    for function in scope.around.enclosing:
        nodes = list(ast.walk(function))
        filled = {
            node.value.id
            for node in nodes
            if isinstance(node, ast.Attribute | ast.Subscript)
            and isinstance(node.value, ast.Name)
            and _is_filling(node)
        }
        for node in nodes:
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    code = _filling(name, value)
                    if name in read - filled and code.startswith(f"{name}."):
                        yield name, code


def _is_filling(node: ast.AST) -> bool:
    """Whether a node puts something into a value: `name.add(x)`, `name[key] = x`.

    So does a method that is kept to be called: `add = name.add`.
    """
    if isinstance(node, ast.Subscript):
        return not isinstance(node.ctx, ast.Load)
    return isinstance(node, ast.Attribute) and node.attr in _FILLING


def _filling(name: str, value: ast.expr) -> str:
    """The statement that fills what begins empty; '' for anything else."""
    match value:
        case ast.List(elts=[]) | ast.Call(func=ast.Name(id="list" | "deque"), args=[]):
            return f"{name}.append({{}})"
        case ast.Call(func=ast.Name(id="set"), args=[]):
            return f"{name}.add({{}})"
        case ast.Constant(value=None | "" | False):
            return f"{name} = {{}}"
        case ast.Constant(value=0 | 1 as number) if number is not True:
            return f"{name} += {{}}"
    return ""
