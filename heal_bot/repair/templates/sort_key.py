"""Sort keys: `key=lambda d: d.name` becomes `key=lambda d: (d.price, d.name)`.

What the key leaves open is settled by another attribute of the same class, another item, or the
value itself: 2.4 after the key, 2.5 before it, 0.2 more where it counts downwards.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from heal_bot.repair.templates.mutation_context import MutationContext
from heal_bot.repair.templates.target_ast import last_name
from heal_bot.repair.templates.text_edits import UNARY, Mutation, Text
from heal_bot.source.definitions import Function

_SORTS = {"sorted", "sort", "min", "max", "nsmallest", "nlargest"}
_MOST = 6


def ties(scope: MutationContext) -> Iterator[Mutation]:
    """A further key for every key of a sort, and the key first that a plain function makes."""
    site = scope.site
    for node in site.each(ast.Call):
        if last_name(node.func) not in _SORTS:
            continue
        for key in (k.value for k in node.keywords if k.arg == "key"):
            match key:
                case ast.Lambda(args=ast.arguments(args=[ast.arg(arg=name)]), body=body):
                    yield from _joined(scope, name, body)
                case ast.Name() | ast.Attribute():
                    if not any(isinstance(n, ast.Name) and n.id == "one" for n in ast.walk(key)):
                        code = f"lambda one: ({site.segment(key)}(one), one)"
                        yield site.put(key, Text(code, 1), 2.6)


def _joined(scope: MutationContext, name: str, body: ast.expr) -> Iterator[Mutation]:
    site = scope.site
    parts = body.elts if isinstance(body, ast.Tuple) else [body]
    if any(isinstance(part, ast.Starred) for part in parts):
        return
    known = [site.segment(part) for part in parts]
    for rank, other in enumerate(_others(scope, name, parts)):
        if other in {part.lstrip("-") for part in known}:
            continue
        for sign, more in (("", 0.0), ("-", 0.2)) if other != name else (("", 0.0),):
            new = f"{sign}{other}"
            cost = 2.4 + 0.05 * rank + more
            yield site.put(body, Text(f"({', '.join([*known, new])})"), cost)
            yield site.put(body, Text(f"({', '.join([new, *known])})"), cost + 0.1)
            if len(parts) == 1 and not isinstance(body, ast.UnaryOp):
                down = f"-{site.text(body).at(UNARY)}"
                yield site.put(body, Text(f"({down}, {new})"), cost + 0.2)


def _others(scope: MutationContext, name: str, parts: list[ast.expr]) -> list[str]:
    """What else there is of a value to sort by, likely first: attributes, items, itself."""
    attributes: dict[str, None] = {}
    items: dict[str, None] = {}
    for node in (n for part in parts for n in ast.walk(part)):
        match node:
            case ast.Attribute(value=ast.Name(id=found), attr=attr) if found == name:
                for owner in scope.around.classes.values():
                    fields = _fields(owner)
                    attributes.update(dict.fromkeys(fields) if attr in fields else {})
            case ast.Subscript(value=ast.Name(id=found), slice=ast.Constant(value=int(at))) if (
                found == name
            ):
                items.update(dict.fromkeys(f"{name}[{n}]" for n in (1 - at, 0, 1, 2) if n >= 0))
    return [*(f"{name}.{attr}" for attr in list(attributes)[:_MOST]), *items, name]


def _fields(owner: ast.ClassDef) -> list[str]:
    """The attributes that a class declares, or sets in `__init__`."""
    found: dict[str, None] = {}
    for node in owner.body:
        match node:
            case ast.AnnAssign(target=ast.Name(id=name)):
                found[name] = None
            case ast.FunctionDef(name="__init__"):
                found.update(_set(node))
    return list(found)


def _set(begin: Function) -> dict[str, None]:
    return {
        node.attr: None
        for node in ast.walk(begin)
        if isinstance(node, ast.Attribute)
        and isinstance(node.ctx, ast.Store)
        and isinstance(node.value, ast.Name)
        and node.value.id == "self"
    }
