"""A local value that is used but never filled: `seen = set()`, tested, and nothing ever added.

So is what a loop takes from until it is empty: `while todo: at = todo.pop()`.

Such a value has no purpose as the code stands. A `pass` gives way to what fills it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import islice

from heal_bot.repair.templates.change_tiers import Tier, assign_tiers
from heal_bot.repair.templates.mutation_context import MutationContext
from heal_bot.repair.templates.statement_insertion import after, before
from heal_bot.repair.templates.target_ast import TargetAst
from heal_bot.repair.templates.text_edits import FEW, Mutation

_FILLING = {"append", "add", "extend", "update", "insert", "setdefault", "appendleft", "push"}
_TAKING = {"pop", "popleft"}


def fills(scope: MutationContext) -> Iterator[Mutation]:
    """Every statement's place, those in loops first, for every value visible there."""
    site = scope.site
    anchors = sorted(site.anchors, key=lambda anchor: not _is_looped(scope, anchor))
    for name, code in islice(_unfilled(scope), FEW):
        beside = _beside(site, name)
        for anchor in anchors:
            visible = scope.visible(anchor)
            if name not in visible:
                continue
            values = [value for value in visible if value != name][:FEW]
            values.sort(key=lambda value: value not in beside)
            for value, tier in assign_tiers(values):
                if isinstance(anchor, ast.Pass):
                    yield site.replace(anchor, code.format(value), tier)
                    continue
                for put in (after, before):
                    yield from put(site, anchor, (code.format(value),), tier)
    yield from _frozen(scope)


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
            if " += " in code and _is_looked_back_at(site, name):
                yield name, f"{name} = {{}}"
        elif _is_filling(value) and name not in read:
            yield name, f"{name}({{}})"
    yield from _worklists(site)


def _assigned(site: TargetAst) -> Iterator[tuple[str, ast.expr]]:
    """The names that statements set, with their values, also side by side: `out, last = [], 0`."""
    for statement in site.statements:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                yield name, value
            case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)):
                pairs = zip(names, values, strict=False)
                yield from ((n.id, value) for n, value in pairs if isinstance(n, ast.Name))


def _is_looked_back_at(site: TargetAst, name: str) -> bool:
    """Whether a loop compares or counts with a name that is set before it."""
    for loop in site.statements:
        if isinstance(loop, ast.For | ast.AsyncFor | ast.While):
            inside = list(ast.walk(loop))
            set_there = any(isinstance(n, ast.Name) and n.id == name
                            and not isinstance(n.ctx, ast.Load) for n in inside)  # fmt: skip
            if not set_there and any(name in _sides(node) for node in inside):
                return True
    return False


def _beside(site: TargetAst, code: str) -> set[str]:
    """The names that a name or attribute is compared with, subtracted from or added to."""
    return {
        name
        for node in site.nodes
        if code in (sides := _sides(node))
        for name in sides
        if name.isidentifier() and name != code
    }


def _sides(node: ast.AST) -> tuple[str, ...]:
    match node:
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub(), right=right):
            return _code(left), _code(right)
        case ast.Compare(left=left, comparators=[right]):
            return _code(left), _code(right)
    return ()


def _code(node: ast.expr) -> str:
    """A name, or an attribute of one; '' for anything else."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=ast.Name(id=name), attr=attr):
            return f"{name}.{attr}"
    return ""


def _frozen(scope: MutationContext) -> Iterator[Mutation]:
    """What an instance begins with, is counted with and is never set again: `self.last = now`."""
    site = scope.site
    for code in _begun(scope):
        names = sorted(_beside(site, code))
        for anchor in site.anchors:
            for name in (n for n in names if n in scope.visible(anchor)):
                for put in (after, before):
                    yield from put(site, anchor, (f"{code} = {name}",), Tier.USUAL)


def _begun(scope: MutationContext) -> list[str]:
    """The attributes that `__init__` sets to a constant and nothing in the module sets again."""
    begin, receiver = scope.around.methods.get("__init__"), scope.receiver()
    trees = [scope.site.root, *scope.around.functions.values(), *scope.around.classes.values()]
    written = [
        node.attr
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load)
    ]
    return [
        ast.unparse(target)
        for statement in (begin.body if begin is not None else ())
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Constant)
        for target in statement.targets
        if isinstance(target, ast.Attribute)
        and ast.unparse(target.value) == receiver
        and written.count(target.attr) == 1
    ]


def _worklists(site: TargetAst) -> Iterator[tuple[str, str]]:
    """What a `while` loop takes from until it is empty, and that gets nothing in the loop."""
    for loop in site.each(ast.While):
        asked = {n.id for n in ast.walk(loop.test) if isinstance(n, ast.Name)}
        used = [n for n in ast.walk(loop) if isinstance(n, ast.Attribute)]
        for name in sorted(asked):
            own = [n for n in used if isinstance(n.value, ast.Name) and n.value.id == name]
            if any(n.attr in _TAKING for n in own) and not any(map(_is_filling, own)):
                yield name, f"{name}.append({{}})"


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
