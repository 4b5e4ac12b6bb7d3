"""What makes two objects equal: `hash(str(self))` becomes the hash of what `__eq__` compares.

Objects that are equal have to have the same hash, so `__eq__` says what `__hash__` is made of: 1.8.
A comparison with an object of another class leaves it to that: `return NotImplemented`, 1.8.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from heal_bot.repair.templates.mutation_context import MutationContext
from heal_bot.repair.templates.statement_insertion import before
from heal_bot.repair.templates.text_edits import Mutation, Text
from heal_bot.source.definitions import Function

_COMPARISONS = frozenset({"__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"})


def hashed(scope: MutationContext) -> Iterator[Mutation]:
    """The hash is taken of what `__eq__` compares."""
    site, function = scope.site, scope.site.function
    compared = scope.around.methods.get("__eq__")
    if function is None or function.name != "__hash__" or compared is None:
        return
    own = list(dict.fromkeys(ast.unparse(node) for node in _own(compared)))
    if not own:
        return
    key = own[0] if len(own) == 1 else f"({', '.join(own)})"
    for node in site.nodes:
        match node:
            case ast.Call(func=ast.Name(id="hash"), args=[value]):
                yield site.put(value, Text(key), 1.8)


def comparable(scope: MutationContext) -> Iterator[Mutation]:
    """A comparison begins with the class of the other object, where that has crashed."""
    site, function = scope.site, scope.site.function
    owner = scope.site.target.qualname.rpartition("<locals>.")[2].rpartition(".")[0]
    if function is None or function.name not in _COMPARISONS or not owner:
        return
    args = [*function.args.posonlyargs, *function.args.args]
    crashed = len(args) == 2 and "AttributeError" in scope.evidence.kinds
    for first in site.body[:1] if crashed else ():
        test = f"if not isinstance({args[1].arg}, {owner}):"
        yield from before(site, first, (test, "\treturn NotImplemented"), 1.8)


def _own(compared: Function) -> Iterator[ast.expr]:
    """The sides of the comparisons for equality that are of `self`."""
    for node in ast.walk(compared):
        match node:
            case ast.Compare(left=left, ops=[ast.Eq()], comparators=[right]):
                for side in (left, right):
                    names = {n.id for n in ast.walk(side) if isinstance(n, ast.Name)}
                    if names == {"self"}:
                        yield side
