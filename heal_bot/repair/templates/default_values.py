"""Values that may stand for one that is missing, the fitting kind first.

`{}` where the value is used as a mapping or handed to a parameter that is, `0` where it is counted
with, `""` where it is text; a default of another kind is less usual. Behaviour alone does not
tell them apart: `dict("")` and `dict({})` are equal.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from heal_bot.repair.templates.change_tiers import Tier
from heal_bot.repair.templates.mutation_context import RESULTS, MutationContext, usage, value_kind
from heal_bot.source.definitions import Function

_TAKES = {"dict": "mapping", "sum": "sequence", "sorted": "sequence", "list": "sequence",
          "reversed": "sequence", "enumerate": "sequence"}  # fmt: skip
_TYPES = {**RESULTS, "Mapping": "mapping"}


def extra(scope: MutationContext, node: ast.expr, default: str) -> Tier:
    """How unusual a default's kind is: usual where it fits or no kind shows."""
    wanted = _wanted(scope, node)
    kind = value_kind(ast.parse(default, mode="eval").body)
    return Tier.SELDOM if wanted and kind and kind not in wanted else Tier.USUAL


def _wanted(scope: MutationContext, node: ast.expr) -> set[str]:
    """The kinds that the place of an expression asks for; by its use, else by a test around it."""
    place = scope.site.places[node]
    found = {_use(place.parent, place.field, node)} - {"", "callable"}
    if isinstance(place.parent, ast.Call) and node in place.parent.args:
        found |= _taken(scope, place.parent, place.parent.args.index(node))
    return found or set(_tested(scope, node))


def _use(parent: ast.AST, field: str, node: ast.expr) -> str:
    match parent:
        case ast.Call(func=ast.Name(id=name)) if field == "args":
            return _TAKES.get(name, "")
        case ast.For() | ast.AsyncFor() | ast.comprehension() if field == "iter":
            return "sequence"
        case ast.Starred():
            return "sequence"
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return value_kind(right if left is node else left)
    return usage(parent, field)


def _taken(scope: MutationContext, call: ast.Call, at: int) -> set[str]:
    """The kinds of the parameter that receives an argument, by its uses in the function called."""
    function = _called(scope, call.func)
    if function is None:
        return set()
    names = [a.arg for a in (*function.args.posonlyargs, *function.args.args)]
    at += 1 if isinstance(call.func, ast.Attribute) and names[:1] in (["self"], ["cls"]) else 0
    if at >= len(names):
        return set()
    return {
        _use(parent, field, child)
        for parent in ast.walk(function)
        for field, value in ast.iter_fields(parent)
        for child in (value if isinstance(value, list) else [value])
        if isinstance(child, ast.Name) and child.id == names[at]
    } - {"", "callable"}


def _called(scope: MutationContext, callee: ast.expr) -> Function | None:
    match callee:
        case ast.Name(id=name):
            own = scope.site.function
            return own if own is not None and own.name == name else scope.around.functions.get(name)
        case ast.Attribute(value=ast.Name(id="self" | "cls"), attr=name):
            return scope.around.methods.get(name)
    return None


def _tested(scope: MutationContext, node: ast.expr) -> Iterator[str]:
    """The types that the conditions above an expression ask for."""
    for above in scope.above(node):
        test = above.test if isinstance(above, ast.If | ast.IfExp) else None
        for inner in ast.walk(test) if test is not None else ():
            match inner:
                case ast.Call(func=ast.Name(id="isinstance"), args=[_, ast.Name(id=name)]):
                    if name in _TYPES:
                        yield _TYPES[name]
