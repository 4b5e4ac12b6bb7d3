"""Functions: `min(xs)` becomes `max(xs)`, `any(...)` becomes `all(...)`.

Usual are functions taken for each other, and those of the module that are spelled alike and take
as many arguments.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from heal_bot.repair.templates.change_tiers import Tier, assign_tiers, is_spelled_alike
from heal_bot.repair.templates.mutation_context import MutationContext
from heal_bot.repair.templates.text_edits import Mutation, Text
from heal_bot.source.definitions import Function

_FAMILIES = (
    ("min", "max", "sum", "len"),
    ("any", "all"),
    ("sorted", "reversed", "list"),
    ("list", "tuple", "set", "sorted", "dict"),
    ("set", "frozenset"),
    ("int", "float", "round", "str", "bool"),
    ("str", "repr", "int"),
    ("abs", "round", "int"),
    ("ord", "chr"),
    ("enumerate", "zip", "range"),
    ("isinstance", "issubclass"),
    ("map", "filter"),
    ("getattr", "hasattr"),
    ("deque", "list"),
    ("dict", "OrderedDict", "defaultdict", "Counter"),
)
_TYPES = {"str", "int", "float", "list", "dict", "tuple", "set", "bool"}


def swaps(scope: MutationContext) -> Iterator[Mutation]:
    """Another function for every called name."""
    site, known = scope.site, set(scope.around.globals())
    for node in site.each(ast.Name):
        if not isinstance(node.ctx, ast.Load):
            continue
        call = site.places[node].parent
        if not (isinstance(call, ast.Call) and call.func is node):
            for name in sorted(_TYPES - {node.id}) if node.id in _TYPES else ():
                yield site.put(node, Text(name), Tier.SELDOM)
            continue
        options = {
            name: tier
            for family in _FAMILIES
            if node.id in family
            for name, tier in assign_tiers(n for n in family if n != node.id)
            if name in known or not name[0].isupper()
        }
        for name, function in scope.around.functions.items():
            alike = Tier.USUAL if is_spelled_alike(name, node.id) else Tier.SELDOM
            options.setdefault(name, alike if _fits(function, call) else Tier.RARE)
        for name in scope.around.imports:
            alike = Tier.SELDOM if is_spelled_alike(name, node.id) else Tier.RARE
            options.setdefault(name, alike)
        options.pop(node.id, None)
        for name, tier in options.items():
            yield site.put(node, Text(name), tier)


def _fits(function: Function, call: ast.Call) -> bool:
    """Whether a function takes as many arguments as a call gives."""
    args = function.args
    most = len(args.posonlyargs) + len(args.args)
    least = most - len(args.defaults)
    fits = least <= len(call.args) + len(call.keywords) and len(call.args) <= most
    return fits or args.vararg is not None
