"""A value that may be absent, asked for its truth: `if limit:` becomes `if limit is not None:`.

0, "" and an empty container are values too. `x or y` becomes `x if x is not None else y`. 1.9 for
names and attributes, 2.1 for what `get` gives; more where the text of the module never says None.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from heal_bot.repair.templates.condition_rewrite import TESTS
from heal_bot.repair.templates.mutation_context import MutationContext
from heal_bot.repair.templates.text_edits import COMPARE, OR, TERNARY, Mutation, Text

_ASKED, _GOT, _NEVER = 1.9, 2.1, 0.5
# Kinds of values whose truth nobody asks when they mean None.
_OTHER = frozenset({"boolean", "callable"})


def check_none(scope: MutationContext) -> Iterator[Mutation]:
    """The truth of a value becomes the question whether it is there."""
    site = scope.site
    never = 0.0 if any("None" in line for line in scope.around.lines) else _NEVER
    for node in site.nodes:
        cost = _cost(scope, node, never)
        if cost is None:
            continue
        place, value = site.places[node], site.text(node)
        match place.parent:
            case ast.UnaryOp(op=ast.Not()):
                yield site.put(place.parent, Text(f"{value.at(7)} is None", COMPARE), cost)
            case ast.BoolOp(op=ast.Or(), values=[first, other]) if first is node:
                # What is asked for twice is got twice: a mapping does not mind, a queue does.
                if not is_asked(scope, place.parent) and not isinstance(node, ast.Call):
                    otherwise = site.text(other).at(TERNARY)
                    made = f"{value.at(OR)} if {value.at(7)} is not None else {otherwise}"
                    yield site.put(place.parent, Text(made, TERNARY), cost)
        if is_asked(scope, node):
            yield site.put(node, Text(f"{value.at(7)} is not None", COMPARE), cost)


def _cost(scope: MutationContext, node: ast.expr, never: float) -> float | None:
    """What it costs to ask whether a value is None; None where it cannot be meant."""
    match node:
        case ast.Name(id=name, ctx=ast.Load()):
            known = scope.kinds.get(name, set())
            return None if known & _OTHER or name in {"self", "cls"} else _ASKED + never
        case ast.Attribute(ctx=ast.Load()):
            return None if scope.site.places[node].field == "func" else _ASKED + never
        case ast.Call(func=ast.Attribute(attr="get"), args=[_], keywords=[]):
            return _GOT
    return None


def is_asked(scope: MutationContext, node: ast.expr) -> bool:
    """Whether only the truth of a value counts."""
    place = scope.site.places[node]
    match place.parent:
        case ast.BoolOp() as parent:
            return is_asked(scope, parent)
        case ast.comprehension():
            return place.field == "ifs"
    return isinstance(place.parent, TESTS) and place.field == "test"
