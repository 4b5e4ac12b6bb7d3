"""Mutable default arguments: `def f(items=[])` gets `None`, and each call a list of its own."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from heal_bot.repair.templates.change_tiers import Tier
from heal_bot.repair.templates.mutation_context import MutationContext
from heal_bot.repair.templates.statement_insertion import before
from heal_bot.repair.templates.text_edits import Mutation, TextEdit
from heal_bot.source import functions

_MADE = {"list", "dict", "set", "defaultdict", "deque", "Counter", "OrderedDict"}


def defaults(scope: MutationContext) -> Iterator[Mutation]:
    """A default that is made once becomes None, and is made in each call that needs it."""
    site, function = scope.site, scope.site.function
    first = next(iter(site.body), None)
    if function is None or first is None:
        return
    for arg, default in functions.list_defaults(function.args):
        name = arg.arg
        if not _mutable(default):
            continue
        made = site.segment(default)
        if "\n" in made:
            continue
        lines = (f"if {name} is None:", f"\t{name} = {made}")
        for put in before(site, first, lines, Tier.USUAL):
            signature = TextEdit(site.start(default), site.end(default), "None")
            why = f"each call without `{name}` makes its own `{made}`"
            yield Mutation((signature, *put.cuts), put.tier, put.line, why)


def _mutable(value: ast.expr) -> bool:
    match value:
        case ast.List() | ast.Dict() | ast.Set() | ast.ListComp() | ast.DictComp() | ast.SetComp():
            return True
        case ast.Call(func=ast.Name(id=name)):
            return name in _MADE
        case ast.BinOp(left=ast.List(), op=ast.Mult()):
            return True
    return False
