"""A function that calls itself without end: it gets a base case, or a smaller argument.

Only where a test failed with a RecursionError. The argument of the call costs 1.6 to 2.2, a base
case on a parameter that the call changes 1.9 to 3.0.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from heal_bot.repair.templates.guard_clauses import leaves
from heal_bot.repair.templates.mutation_context import MutationContext
from heal_bot.repair.templates.statement_insertion import before
from heal_bot.repair.templates.target_ast import last_name
from heal_bot.repair.templates.text_edits import Mutation, Text

_NUMBERS = ("{0} == 0", "{0} <= 0", "{0} < 2", "{0} <= 1", "{0} == 1", "{0} < 0")
_SEQUENCES = ("not {0}", "len({0}) < 2", "len({0}) == 1")
_OTHERS = ("{0} is None", "not isinstance({0}, list)", "not isinstance({0}, (list, tuple))",
           "not isinstance({0}, dict)", "isinstance({0}, str)")  # fmt: skip


def ends(scope: MutationContext) -> Iterator[Mutation]:
    """Smaller arguments of the calls of itself, and base cases before the first statement."""
    function = scope.site.function
    if function is None or "RecursionError" not in scope.evidence.kinds:
        return
    calls = [n for n in scope.site.each(ast.Call) if last_name(n.func) == function.name]
    for call in calls:
        yield from _smaller(scope, call)
    if calls:
        yield from _bases(scope)


def _smaller(scope: MutationContext, call: ast.Call) -> Iterator[Mutation]:
    site = scope.site
    for argument in call.args:
        if isinstance(argument, ast.Starred):
            continue
        value = site.text(argument)
        kinds = scope.kinds.get(argument.id, set()) if isinstance(argument, ast.Name) else set()
        codes = [f"{value.at(11)} - 1", f"{value.at(11)} - 2", f"{value.at(12)} // 2"]
        codes.append(f"{value.at(12)} // 10")
        if "number" not in kinds:
            codes += [f"{value.at(16)}[1:]", f"{value.at(16)}[:-1]"]
        for rank, code in enumerate(codes):
            yield site.put(argument, Text(code, 11), 1.6 + 0.1 * rank)


def _conditions(scope: MutationContext, name: str) -> list[tuple[str, ...]]:
    """What a base case may ask of a parameter, from how it is used."""
    kinds = scope.kinds.get(name, set())
    owners = (n.value for n in scope.site.each(ast.Attribute))
    if any(isinstance(owner, ast.Name) and owner.id == name for owner in owners):
        return [("{0} is None",)]
    if "number" in kinds:
        return [_NUMBERS]
    return [_SEQUENCES, _OTHERS, *([_NUMBERS] if not kinds else [])]


def _bases(scope: MutationContext) -> Iterator[Mutation]:
    site, function = scope.site, scope.site.function
    first = next(iter(site.body), None)
    if function is None or first is None:
        return
    spec = [a.arg for a in (*function.args.posonlyargs, *function.args.args)]
    names = [name for name in spec if name not in {"self", "cls"}]
    for rank, name in enumerate(names[:4]):
        ways = [(f"return {name}", 0.0), (f"return [{name}]", 0.4), *leaves(scope)[:12]]
        for group in _conditions(scope, name):
            for place, condition in enumerate(group):
                for way, more in ways:
                    lines = (f"if {condition.format(name)}:", f"\t{way}")
                    yield from before(site, first, lines, 1.9 + 0.1 * place + 0.2 * rank + more)
