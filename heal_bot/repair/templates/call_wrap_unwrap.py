"""Missing and superfluous calls: `name` becomes `name.strip()`, `abs(x)` becomes `x`.

A method or function on a value costs 2.0 to 3.0 by how often it is forgotten and by what is known
of the value's kind; a call replaced by its argument 2.6.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from heal_bot.repair.templates.mutation_context import MutationContext, value_kind
from heal_bot.repair.templates.target_ast import TargetAst, called
from heal_bot.repair.templates.text_edits import Mutation, Text, call

_PLAIN_STRIP = 2.4
_FUNCTIONS: dict[str, tuple[tuple[str, float], ...]] = {
    "number": (("abs", 2.0), ("int", 2.2), ("round", 2.3), ("str", 2.2), ("float", 2.5),
               ("range", 2.5)),
    "text": (("int", 2.2), ("len", 2.4), ("sorted", 2.4), ("list", 2.6), ("float", 2.6),
             ("repr", 2.8), ("set", 2.8)),
    "sequence": (("sorted", 2.0), ("list", 2.1), ("len", 2.2), ("reversed", 2.3), ("set", 2.3),
                 ("tuple", 2.4), ("sum", 2.5), ("max", 2.6), ("min", 2.6), ("enumerate", 2.6),
                 ("str", 2.8)),
    "mapping": (("sorted", 2.2), ("dict", 2.2), ("list", 2.2), ("len", 2.4)),
    "set": (("sorted", 2.0), ("list", 2.1), ("len", 2.2)),
    "boolean": (("int", 2.6),),
    "": (("list", 2.6), ("str", 2.6), ("int", 2.6), ("abs", 2.6), ("len", 2.7), ("sorted", 2.7),
         ("tuple", 2.9), ("set", 2.9), ("round", 2.9), ("float", 3.0), ("reversed", 3.1),
         ("bool", 3.2), ("sum", 3.2), ("max", 3.3), ("min", 3.3), ("repr", 3.3), ("dict", 3.3),
         ("ord", 3.4), ("chr", 3.4)),
}  # fmt: skip
_METHODS: dict[str, tuple[tuple[str, float], ...]] = {
    "text": (("strip()", 2.0), ("lower()", 2.0), ("upper()", 2.4), ("rstrip()", 2.5),
             ("lstrip()", 2.6), ("split()", 2.4), ("title()", 2.7), ("capitalize()", 2.7),
             ('replace(" ", "")', 2.5), ('replace("-", "")', 2.7), ('replace(",", "")', 2.7),
             ('replace("_", " ")', 2.7), ('replace(" ", "_")', 2.7), ('replace(" ", "-")', 2.7),
             ('replace("-", "_")', 2.7), ("casefold()", 2.9), ("encode()", 3.0),
             ("decode()", 3.0)),
    "sequence": (("copy()", 2.2),),
    "mapping": (("items()", 1.9), ("copy()", 2.1), ("values()", 2.2), ("keys()", 2.6)),
    "set": (("copy()", 2.2),),
    "": (("strip()", 2.7), ("lower()", 2.7), ("copy()", 2.9), ("items()", 2.8), ("values()", 3.0),
         ("upper()", 3.1), ("split()", 3.1), ("keys()", 3.3), ("title()", 3.4),
         ("rstrip()", 3.3), ("lstrip()", 3.4), ('replace(" ", "")', 3.3),
         ('replace("-", "_")', 3.5), ('replace("_", " ")', 3.5), ("casefold()", 3.6),
         ("capitalize()", 3.5), ("decode()", 3.5), ("encode()", 3.6)),
}  # fmt: skip


def kind(scope: MutationContext, node: ast.expr) -> str:
    """The kind of value an expression seems to have, "" when unknown or in doubt."""
    if isinstance(node, ast.Name):
        kinds = scope.kinds.get(node.id, set()) - {"callable"}
        return next(iter(kinds)) if len(kinds) == 1 else ""
    return value_kind(node)


def _wrappable(site: TargetAst, node: ast.expr) -> bool:
    if isinstance(node, ast.Starred | ast.Slice | ast.Yield | ast.YieldFrom | ast.Lambda):
        return False
    if isinstance(getattr(node, "ctx", None), ast.Store | ast.Del):
        return False
    if site.is_called(node):
        return False
    if isinstance(site.places[node].parent, ast.Expr | ast.AnnAssign | ast.Delete | ast.Starred):
        return False
    return not isinstance(node, ast.Constant | ast.JoinedStr) and not _is_written(site, node)


def _is_written(site: TargetAst, node: ast.expr) -> bool:
    """Whether a statement changes the value: a change of what a call makes of it has no effect."""
    place = site.places[node]
    if place.field != "value" or not isinstance(place.parent, ast.Attribute | ast.Subscript):
        return False
    if not isinstance(place.parent.ctx, ast.Load):
        return True
    above = site.places[place.parent]
    return above.field == "func" and isinstance(site.places[above.parent].parent, ast.Expr)


def insertions(scope: MutationContext) -> Iterator[Mutation]:
    """A usual function or method around every value that is read."""
    site = scope.site
    inner, marked = _inner(scope), _marked(scope)
    for node in site.nodes:
        if not _wrappable(site, node):
            continue
        place = site.places[node]
        # A method already called on the value says enough about where another one belongs.
        chained = isinstance(place.parent, ast.Attribute)
        known = kind(scope, node)
        extra = 0.0 if isinstance(node, ast.Name | ast.Attribute | ast.Call) else 0.3
        extra += 0.3 if isinstance(node, ast.BoolOp | ast.Compare) else 0.0
        value = site.text(node)
        for name, cost in _FUNCTIONS[known] if not chained else ():
            if called(place.parent) != name:
                yield site.put(node, call(name, value), cost + extra)
        for method, cost in _METHODS.get(known, ()):
            yield site.put(node, Text(f"{value.at(16)}.{method}"), cost + extra)
        for method, cost in marked if known in {"text", ""} else ():
            if known or cost == _PLAIN_STRIP:
                doubt = 0.0 if known else 0.4
                yield site.put(node, Text(f"{value.at(16)}.{method}"), cost + extra + doubt)
        if not chained:
            for name, function in scope.around.functions.items():
                if len(function.args.args) == 1 and name != _own(scope):
                    yield site.put(node, call(name, value), 3.2 + extra)
            for name in inner:
                if name not in _callers(scope, node):
                    yield site.put(node, call(name, value), 2.3 + extra)
            receiver = scope.receiver()
            for name, function in scope.around.methods.items() if receiver else ():
                if len(function.args.args) == 2 and name != _own(scope):
                    yield site.put(node, call(f"{receiver}.{name}", value), 3.4 + extra)


def _marked(scope: MutationContext) -> list[tuple[str, float]]:
    """The marks that a function writes or splits at, taken from the edges of a text."""
    texts = (n.value for n in scope.site.each(ast.Constant))
    marks = dict.fromkeys(t for t in texts if isinstance(t, str) and 0 < len(t) < 3)
    return [
        (f"{method}({mark!r})".replace("'", '"'), cost)
        for mark in list(marks)[:2]
        if not any(c.isalnum() or c.isspace() or c in "\"'\\" for c in mark)
        for method, cost in (("strip", _PLAIN_STRIP), ("rstrip", 2.6), ("lstrip", 2.7))
    ]


def _inner(scope: MutationContext) -> list[str]:
    """Functions of one argument that the function defines for itself, and calls."""
    called = {n.func.id for n in scope.site.each(ast.Call) if isinstance(n.func, ast.Name)}
    return [
        s.name
        for s in scope.site.each(ast.FunctionDef)
        if len(s.args.args) == 1 and s.name in called
    ]


def _callers(scope: MutationContext, node: ast.expr) -> set[str]:
    """The function around a value, and what is called with it already."""
    names = {a.name for a in scope.above(node) if isinstance(a, ast.FunctionDef)}
    return names | {called(scope.site.places[node].parent)}


def _own(scope: MutationContext) -> str:
    return getattr(scope.site.root, "name", "")


def removals(scope: MutationContext) -> Iterator[Mutation]:
    """A call becomes one of its arguments, or the object whose method it calls: 2.5 to 2.8."""
    site = scope.site
    for node in site.nodes:
        match node:
            case ast.Call(func=ast.Name(), args=args):
                for argument in args:
                    if not isinstance(argument, ast.Starred):
                        yield site.put(node, site.text(argument), 2.6)
            case ast.Call(func=ast.Attribute(value=value), args=args):
                if not isinstance(site.places[node].parent, ast.Expr):
                    yield site.put(node, site.text(value), 2.5)
                for argument in args:
                    if not isinstance(argument, ast.Starred):
                        yield site.put(node, site.text(argument), 3.2)


def awaited(scope: MutationContext) -> Iterator[Mutation]:
    """`fetch()` becomes `await fetch()` in a coroutine: 2.0."""
    site = scope.site
    if not isinstance(site.function, ast.AsyncFunctionDef):
        return
    for node in site.nodes:
        if isinstance(node, ast.Call) and not isinstance(site.places[node].parent, ast.Await):
            yield site.put(node, Text(f"await {site.text(node).code}", 15), 2.0)
        if isinstance(node, ast.Await):
            yield site.put(node, site.text(node.value), 2.8)
