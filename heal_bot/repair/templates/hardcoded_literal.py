"""A literal that a parameter or an attribute was made for: `","` becomes `self.delimiter`.

The default of the parameter, of the attribute that `__init__` sets from one, or of the field of
the class equals what is written out: 1.6 for a parameter of the function, 1.9 for an attribute.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from heal_bot.repair.templates.mutation_context import MutationContext
from heal_bot.repair.templates.text_edits import Mutation, Text
from heal_bot.source import functions

_PARAMETER, _ATTRIBUTE = 1.6, 1.9
# Defaults that say nothing of what a parameter is for.
_COMMON = (True, False, None, "", 0, 1)


def written_out(scope: MutationContext) -> Iterator[Mutation]:
    """A literal becomes the name whose default it is."""
    site = scope.site
    known = [*_parameters(scope), *_attributes(scope)]
    for node in site.each(ast.Constant) if known else ():
        place = site.places[node]
        # As a pattern a name takes whatever comes.
        if isinstance(place.parent, ast.Expr | ast.arguments | ast.JoinedStr | ast.MatchValue):
            continue
        for name, value, cost in known:
            if type(value) is type(node.value) and value == node.value:
                yield site.put(node, Text(name), cost)


def _parameters(scope: MutationContext) -> Iterator[tuple[str, object, float]]:
    """Parameters of the function with their defaults."""
    function = scope.site.function
    for arg, default in functions.list_defaults(function.args) if function is not None else ():
        if isinstance(default, ast.Constant) and default.value not in _COMMON:
            yield arg.arg, default.value, _PARAMETER


def _attributes(scope: MutationContext) -> Iterator[tuple[str, object, float]]:
    """Attributes of the instance with the default that they have unless a caller says otherwise."""
    begin, own = scope.around.methods.get("__init__"), scope.site.function
    if scope.receiver() != "self" or own is None or own.name == "__init__":
        return
    given = functions.list_defaults(begin.args) if begin is not None else ()
    defaults = {arg.arg: default for arg, default in given}
    for statement in begin.body if begin is not None else ():
        match statement:
            case ast.Assign(
                targets=[ast.Attribute(value=ast.Name(id="self"), attr=attr)],
                value=ast.Name(id=name),
            ):
                default = defaults.get(name)
                if isinstance(default, ast.Constant) and default.value not in _COMMON:
                    yield f"self.{attr}", default.value, _ATTRIBUTE
    owner = scope.around.classes.get(scope.site.target.qualname.rpartition(".")[0])
    for statement in owner.body if owner is not None else ():
        match statement:
            case (
                ast.AnnAssign(target=ast.Name(id=name), value=ast.Constant(value=value))
                | ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=value))
            ) if value not in _COMMON:
                yield f"self.{name}", value, _ATTRIBUTE
