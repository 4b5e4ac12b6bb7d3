"""Attributes that were never set: `__init__` gets `self.items = []`, or calls that of its base.

Only where a test failed with an AttributeError. `super().__init__(...)` costs 1.4, a parameter of
the attribute's name 1.6, a first value 2.0 to 2.6.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from heal_bot.repair.templates.mutation_context import MutationContext
from heal_bot.repair.templates.statement_insertion import after, before
from heal_bot.repair.templates.text_edits import Mutation

_ABSENT = re.compile(r"has no attribute '(\w{1,80})'")
_FIRST = ("0", "[]", "{}", "None", "set()", "False", '""')


def attributes(scope: MutationContext) -> Iterator[Mutation]:
    """First values for the attributes of an instance, and of a function defined inside."""
    function = scope.site.function
    missing = {a for m in scope.evidence.messages for a in _ABSENT.findall(m[:2000])}
    if function is None or not missing:
        return
    inner = {n.name for n in scope.site.each(ast.FunctionDef)}
    read = {
        (n.value.id, n.attr)
        for n in scope.site.each(ast.Attribute)
        if isinstance(n.value, ast.Name)
    }
    pairs = sorted((owner, name) for owner, name in read if owner in inner and name in missing)
    receiver = scope.receiver() if function.name == "__init__" else None
    if receiver:
        yield from _from_base(scope)
        pairs += [(receiver, name) for name in sorted(missing)]
    for owner, name in pairs:
        for code, cost in _values(scope, name):
            for anchor in function.body:
                yield from after(scope.site, anchor, (f"{owner}.{name} = {code}",), cost)


def _values(scope: MutationContext, name: str) -> Iterator[tuple[str, float]]:
    function = scope.site.function
    for rank, code in enumerate(_FIRST):
        yield code, 2.0 + 0.1 * rank
    for value in scope.visible(function)[:6] if function is not None else ():
        yield value, 1.6 if value in {name, name.strip("_")} else 2.6


def _from_base(scope: MutationContext) -> Iterator[Mutation]:
    """The first statement calls the base's `__init__`, with ever more of the own parameters."""
    site, function = scope.site, scope.site.function
    owner = scope.around.classes.get(scope.site.target.qualname.rpartition(".")[0])
    first = next(iter(site.body), None)
    if function is None or first is None or owner is None or not owner.bases:
        return
    if "super()" in scope.site.segment(function):
        return
    named = [a.arg for a in (*function.args.posonlyargs, *function.args.args)][1:]
    taken = _parameters(scope, owner)
    given = [name for name in named if name in taken]
    calls = [given, *(named[:count] for count in range(len(named) + 1))]
    for rank, arguments in enumerate(calls):
        line = f"super().__init__({', '.join(arguments)})"
        yield from before(scope.site, first, (line,), 1.4 + 0.1 * rank)


def _parameters(scope: MutationContext, owner: ast.ClassDef) -> set[str]:
    """The parameters of the `__init__` of the bases that stand in the same module."""
    bases = (
        scope.around.classes.get(base.id) for base in owner.bases if isinstance(base, ast.Name)
    )
    functions = (n for base in bases if base for n in base.body if isinstance(n, ast.FunctionDef))
    return {a.arg for f in functions if f.name == "__init__" for a in f.args.args}
