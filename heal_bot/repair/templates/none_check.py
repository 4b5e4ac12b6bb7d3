"""A value that may be absent, asked for its truth: `if limit:` becomes `if limit is not None:`.

0, "" and an empty container are values too. `x or y` becomes `x if x is not None else y`. Seldom
where the text of the module never says None, but for what `get` gives.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from heal_bot.repair.templates.change_tiers import Tier
from heal_bot.repair.templates.mutation_context import MutationContext
from heal_bot.repair.templates.text_edits import BIT_OR, COMPARE, OR, TERNARY, Mutation, Text

# Kinds of values whose truth nobody asks when they mean None.
_OTHER = frozenset({"boolean", "callable"})


def check_none(scope: MutationContext) -> Iterator[Mutation]:
    """The truth of a value becomes the question whether it is there."""
    site = scope.site
    usual = Tier.USUAL if any("None" in line for line in scope.around.lines) else Tier.SELDOM
    for node in site.nodes:
        tier = _tier(scope, node, usual)
        if tier is None:
            continue
        place, value = site.places[node], site.text(node)
        match place.parent:
            case ast.UnaryOp(op=ast.Not()):
                yield site.put(place.parent, Text(f"{value.at(BIT_OR)} is None", COMPARE), tier)
            case ast.BoolOp(op=ast.Or(), values=[first, other]) if first is node:
                # What is asked for twice is got twice: a mapping does not mind, a queue does.
                if not is_asked(scope, place.parent) and not isinstance(node, ast.Call):
                    otherwise = site.text(other).at(TERNARY)
                    made = f"{value.at(OR)} if {value.at(BIT_OR)} is not None else {otherwise}"
                    yield site.put(place.parent, Text(made, TERNARY), tier)
        if is_asked(scope, node):
            yield site.put(node, Text(f"{value.at(BIT_OR)} is not None", COMPARE), tier)


def _tier(scope: MutationContext, node: ast.expr, usual: Tier) -> Tier | None:
    """How usual it is to ask whether a value is None; None where it cannot be meant."""
    match node:
        case ast.Name(id=name, ctx=ast.Load()):
            known = scope.kinds.get(name, set())
            return None if known & _OTHER or name in {"self", "cls"} else usual
        case ast.Attribute(ctx=ast.Load()):
            return None if scope.site.places[node].field == "func" else usual
        case ast.Call(func=ast.Attribute(attr="get"), args=[_], keywords=[]):
            return Tier.USUAL
    return None


def is_asked(scope: MutationContext, node: ast.expr) -> bool:
    """Whether only the truth of a value counts."""
    place = scope.site.places[node]
    match place.parent:
        case ast.BoolOp() as parent:
            return is_asked(scope, parent)
        case ast.comprehension():
            return place.field == "ifs"
    return scope.site.is_test(node, asserted=True)
