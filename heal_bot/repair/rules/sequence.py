"""The order in which things happen to a value: `s.replace(a, b).replace(c, d)` the other way round.

Neighbours in a chain of calls change places, 1.9. The first and the last of values that nothing
sorted become the least and the greatest, all of them in a function at once: `xs[0]` and `xs[-1]`
to `min(xs)` and `max(xs)`, 2.2.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from heal_bot.repair.rules.scope import Scope
from heal_bot.repair.rules.text import Change, Cut, says

_CHAINED, _ENDS = 1.9, 2.2


def chained(scope: Scope) -> Iterator[Change]:
    """Two methods that are called one after the other."""
    site = scope.site
    for node in site.nodes:
        match node:
            case ast.Call(
                func=ast.Attribute(value=ast.Call(func=ast.Attribute(value=first)) as inner)
            ):
                begin, middle, end = site.end(first), site.end(inner), site.end(node)
            case _:
                continue
        one = site.source[begin:middle].decode()
        other = site.source[middle:end].decode()
        if one != other and "\n" not in one + other and one[:1] == other[:1] == ".":
            why = says(one + other, other + one, site.line(node))
            yield Change((Cut(begin, end, other + one),), _CHAINED, site.line(node), why)


def ends(scope: Scope) -> Iterator[Change]:
    """The ends of a list become its extremes."""
    site = scope.site
    found: dict[str, list[Cut]] = {}
    lines: dict[str, int] = {}
    for node in site.nodes:
        match node:
            case ast.Subscript(
                value=ast.Name(id=name), slice=ast.Constant(value=0), ctx=ast.Load()
            ):
                function = "min"
            case ast.Subscript(
                value=ast.Name(id=name),
                slice=ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=1)),
                ctx=ast.Load(),
            ):
                function = "max"
            case _:
                continue
        cut = Cut(site.start(node), site.end(node), f"{function}({name})")
        found.setdefault(name, []).append(cut)
        lines.setdefault(name, site.line(node))
    for name, cuts in found.items():
        why = f"the ends of `{name}` become its extremes"
        yield Change(tuple(cuts), _ENDS, lines[name], why)
