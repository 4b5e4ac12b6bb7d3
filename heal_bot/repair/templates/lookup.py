"""Subscripts and mappings: `prices[name]` becomes `prices.get(name, 0)`.

`.get` costs 1.9 when a test fails with KeyError and 2.8 otherwise, another index 2.2, an item
missing or superfluous (`pair` to `pair[0]`) 2.6 to 3.2, a default for `.get` 2.2, one of another
kind than is used here 0.8 more.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from heal_bot.repair.templates.default_values import extra
from heal_bot.repair.templates.mutation_context import MutationContext
from heal_bot.repair.templates.text_edits import Mutation, Text, TextEdit, says

_MEANT = {"default", "fallback", "otherwise", "missing", "initial"}
_DEFAULTS = ("None", "0", '""', "[]", "{}", "False", "1", "set()")


def gets(scope: MutationContext) -> Iterator[Mutation]:
    """A subscript that may miss its key becomes `.get`, and `.get` gets a default."""
    site = scope.site
    missing = 1.9 if "KeyError" in scope.evidence.kinds else 2.9
    for node in site.nodes:
        match node:
            case ast.Subscript(value=value, slice=ast.expr() as key, ctx=ast.Load()):
                if isinstance(key, ast.Slice | ast.Tuple):
                    continue
                head, inner = site.text(value).at(16), site.text(key).at(1)
                yield site.put(node, Text(f"{head}.get({inner})"), missing)
                for rank, default in enumerate(_DEFAULTS[1:]):
                    code = f"{head}.get({inner}, {default})"
                    cost = missing + 0.1 + 0.1 * rank + extra(scope, node, default)
                    yield site.put(node, Text(code), cost)
                for expected in scope.evidence.constants[:3]:
                    code = f"{head}.get({inner}, {expected!r})"
                    yield site.put(node, Text(code), missing + 0.3)
                for name in scope.visible(node)[:6]:
                    meant = name in _MEANT or name in scope.unused
                    cost = missing + (0.0 if meant else 0.7)
                    yield site.put(node, Text(f"{head}.get({inner}, {name})"), cost)
                yield site.put(node, Text(f"{head}.get({inner}, {inner})"), missing + 0.4)
            case ast.Call(func=ast.Attribute(value=value, attr="get"), args=[key]):
                head, inner = site.text(value).at(16), site.text(key).at(1)
                for rank, default in enumerate(_DEFAULTS[1:]):
                    code = f"{head}.get({inner}, {default})"
                    cost = 2.1 + 0.1 * rank + extra(scope, node, default)
                    yield site.put(node, Text(code), cost)
                yield site.put(node, Text(f"{head}[{inner}]"), 2.6)
            case ast.Call(func=ast.Attribute(value=value, attr="get"), args=[key, _]):
                head, inner = site.text(value).at(16), site.text(key).at(1)
                yield site.put(node, Text(f"{head}[{inner}]"), 2.8)


def items(scope: MutationContext) -> Iterator[Mutation]:
    """An index appears, goes or turns to the other end."""
    site = scope.site
    for node in site.nodes:
        if isinstance(getattr(node, "ctx", None), ast.Store | ast.Del) or site.is_called(node):
            continue
        place = site.places[node]
        match node:
            case ast.Subscript(value=value, slice=key):
                if not isinstance(key, ast.Slice):
                    yield site.put(node, site.text(value), 2.8)
                    inner = site.text(key).at(1)
                    head = site.text(value).at(16)
                    yield site.put(node, Text(f"{head}[-{site.text(key).at(13)}]"), 2.8)
                    yield site.put(node, Text(f"{head}[:{inner}]"), 3.0)
                    yield site.put(node, Text(f"{head}[{inner}:]"), 3.0)
            case ast.Name(id=name):
                numeric = "number" in scope.kinds.get(name, set())
                # That a part of something is empty is rarely what is asked.
                asked = 0.7 if place.field == "test" else 0.0
                if numeric or (isinstance(place.parent, ast.Subscript) and place.field == "slice"):
                    continue
                for code, cost in (("[0]", 2.7), ("[1]", 2.8), ("[-1]", 2.8), ("[1:]", 2.8),
                                   ("[:-1]", 3.0), ("[::-1]", 2.9), ("[:]", 2.9)):  # fmt: skip
                    yield site.put(node, Text(f"{name}{code}"), cost + asked)
            case ast.Call() if not isinstance(place.parent, ast.Expr | ast.Subscript):
                head = site.text(node).at(16)
                for code, cost in (("[0]", 3.0), ("[1]", 3.2), ("[-1]", 3.0), ("[::-1]", 3.0)):
                    yield site.put(node, Text(f"{head}{code}"), cost)


def stores(scope: MutationContext) -> Iterator[Mutation]:
    """An assignment goes to another place of the function: `total = x` to `totals[k] = x`."""
    site = scope.site
    places: dict[str, None] = {}
    for node in site.nodes:
        if isinstance(node, ast.Subscript | ast.Attribute):
            code = site.segment(node)
            if not site.is_called(node) and len(code) < 50 and "\n" not in code and ":" not in code:
                places[code] = None
    for statement in site.statements:
        match statement:
            case ast.Assign(targets=[target]) | ast.AugAssign(target=target):
                old, line = site.segment(target), site.line(statement)
                for code in list(places)[:20]:
                    if code != old:
                        cut = TextEdit(site.start(target), site.end(target), code)
                        yield Mutation((cut,), 2.8, line, says(old, code, line))
