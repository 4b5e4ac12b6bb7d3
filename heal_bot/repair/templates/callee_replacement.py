"""Functions: `min(xs)` becomes `max(xs)`, `any(...)` becomes `all(...)`.

Functions taken for each other cost 1.5, callables of the same module 2.4 to 3.2 by spelling and
by whether they take as many arguments.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from difflib import SequenceMatcher

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


def swaps(scope: MutationContext) -> Iterator[Mutation]:
    """Another function for every called name."""
    site = scope.site
    for node in site.each(ast.Name):
        if not isinstance(node.ctx, ast.Load):
            continue
        place = site.places[node]
        if not (isinstance(place.parent, ast.Call) and place.field == "func"):
            group = {"str", "int", "float", "list", "dict", "tuple", "set", "bool"}
            if node.id in group:
                for name in sorted(group - {node.id}):
                    yield site.put(node, Text(name), 2.4)
            continue
        known = set(scope.around.globals())
        options = {
            name: 1.5 + 0.1 * rank
            for family in _FAMILIES
            if node.id in family
            for rank, name in enumerate(n for n in family if n != node.id)
            if name in known or not name[0].isupper()
        }
        for name, function in scope.around.functions.items():
            if name != node.id:
                alike = SequenceMatcher(None, name, node.id).ratio()
                options.setdefault(name, 2.6 - 0.8 * alike + _misfit(function, place.parent))
        for name in scope.around.imports:
            if name != node.id:
                alike = SequenceMatcher(None, name, node.id).ratio()
                options.setdefault(name, 3.4 - 0.8 * alike)
        for name, cost in options.items():
            if name != node.id:
                yield site.put(node, Text(name), cost)


def _misfit(function: Function, call: ast.Call) -> float:
    """0 when the call's positional arguments fit the function, else 1."""
    args = function.args
    most = len(args.posonlyargs) + len(args.args)
    least = most - len(args.defaults)
    fits = least <= len(call.args) + len(call.keywords) and len(call.args) <= most
    return 0.0 if fits or args.vararg else 1.0
