"""An entry that only a part of a function sees: `d[k] = v; f(d)` becomes `f({**d, k: v})`.

What a caller passed keeps its entries then: 2.4 for a parameter.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from heal_bot.repair.rules.scope import Scope
from heal_bot.repair.rules.site import Site
from heal_bot.repair.rules.text import Change, Cut

_COST = 2.4


def entries(scope: Scope) -> Iterator[Change]:
    """What is put into a parameter and handed on goes into a copy for that call."""
    site, function = scope.site, scope.site.function
    if function is None:
        return
    given = {arg.arg for arg in (*function.args.posonlyargs, *function.args.args)}
    for block in site.blocks():
        for at, statement in enumerate(block[:-1]):
            match statement:
                case ast.Assign(
                    targets=[ast.Subscript(value=ast.Name(id=name), slice=key)], value=value
                ) if name in given:
                    more = f"{{**{name}, {site.segment(key)}: {site.segment(value)}}}"
                case _:
                    continue
            span, passed = site.whole(statement), _passed(site, block[at + 1 :], name)
            again = len(passed) > 1 and any(isinstance(n, ast.Call) for n in ast.walk(value))
            if span is None or not passed or again or "\n" in more:
                continue
            cuts = (Cut(*span, ""), *(Cut(site.start(n), site.end(n), more) for n in passed))
            line = site.line(statement)
            why = f"line {line} puts its entry into a copy of `{name}` for what follows"
            yield Change(cuts, _COST, line, why)


def _passed(site: Site, block: list[ast.stmt], name: str) -> list[ast.Name]:
    """The uses of a name in statements, where all of them are arguments of calls."""
    every = [
        node
        for statement in block
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and node.id == name
    ]
    # Those in an f-string have no place of their own.
    places = [site.places.get(node) for node in every]
    handed = all(
        p is not None and isinstance(p.parent, ast.Call) and p.field == "args" for p in places
    )
    return every if handed else []
