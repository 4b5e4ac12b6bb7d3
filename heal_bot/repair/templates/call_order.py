"""The order in which things happen to a value: `s.replace(a, b).replace(c, d)` the other way round.

Neighbours in a chain of calls change places, 1.9.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from heal_bot.repair.templates.mutation_context import MutationContext
from heal_bot.repair.templates.text_edits import Mutation, TextEdit, says

_CHAINED = 1.9


def chained(scope: MutationContext) -> Iterator[Mutation]:
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
            yield Mutation((TextEdit(begin, end, other + one),), _CHAINED, site.line(node), why)
