"""Missing and superfluous calls: `name` becomes `name.strip()`, `abs(x)` becomes `x`.

How usual a method or function on a value is, depends on how often it is forgotten and on what is
known of the value's kind.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from heal_bot.repair.templates.change_tiers import Tier, assign_tiers, combine_tiers
from heal_bot.repair.templates.mutation_context import MutationContext, value_kind
from heal_bot.repair.templates.target_ast import TargetAst, called
from heal_bot.repair.templates.text_edits import ATOM, AWAIT, Mutation, Text, call

# What is called on a value of each kind, likeliest first.
_FUNCTIONS: dict[str, tuple[str, ...]] = {
    "number": ("abs", "int", "str", "round", "float", "range"),
    "text": ("int", "len", "sorted", "list", "float", "repr", "set"),
    "sequence": ("sorted", "list", "len", "reversed", "set", "tuple", "sum", "max", "min",
                 "enumerate", "str"),
    "mapping": ("sorted", "dict", "list", "len"),
    "set": ("sorted", "list", "len"),
    "boolean": ("int",),
    "": ("list", "str", "int", "abs", "len", "sorted", "tuple", "set", "round", "float", "reversed",
         "bool", "sum", "max", "min", "repr", "dict", "ord", "chr"),
}  # fmt: skip
_METHODS: dict[str, tuple[str, ...]] = {
    "text": ("strip()", "lower()", "upper()", "split()", "rstrip()", 'replace(" ", "")', "lstrip()",
             "title()", "capitalize()", 'replace("-", "")', 'replace(",", "")', 'replace("_", " ")',
             'replace(" ", "_")', 'replace(" ", "-")', 'replace("-", "_")', "casefold()",
             "encode()", "decode()"),
    "sequence": ("copy()",),
    "mapping": ("items()", "copy()", "values()", "keys()"),
    "set": ("copy()",),
    "": ("strip()", "lower()", "items()", "copy()", "values()", "upper()", "split()", "keys()",
         "rstrip()", 'replace(" ", "")', "title()", "lstrip()", 'replace("-", "_")',
         'replace("_", " ")', "capitalize()", "decode()", "casefold()", "encode()"),
}  # fmt: skip


def kind(scope: MutationContext, node: ast.expr) -> str:
    """The kind of value an expression seems to have, "" when unknown or in doubt."""
    if isinstance(node, ast.Name):
        kinds = scope.kinds.get(node.id, set()) - {"callable"}
        return next(iter(kinds)) if len(kinds) == 1 else ""
    return value_kind(node)


def _wrappable(site: TargetAst, node: ast.expr) -> bool:
    if isinstance(node, ast.Starred | ast.Slice | ast.Yield | ast.YieldFrom | ast.Lambda):
        return False
    if isinstance(getattr(node, "ctx", None), ast.Store | ast.Del):
        return False
    if site.is_called(node):
        return False
    if isinstance(site.places[node].parent, ast.Expr | ast.AnnAssign | ast.Delete | ast.Starred):
        return False
    return not isinstance(node, ast.Constant | ast.JoinedStr) and not _is_written(site, node)


def _is_written(site: TargetAst, node: ast.expr) -> bool:
    """Whether a statement changes the value: a change of what a call makes of it has no effect."""
    place = site.places[node]
    if place.field != "value" or not isinstance(place.parent, ast.Attribute | ast.Subscript):
        return False
    if not isinstance(place.parent.ctx, ast.Load):
        return True
    above = site.places[place.parent]
    return above.field == "func" and isinstance(site.places[above.parent].parent, ast.Expr)


def insertions(scope: MutationContext) -> Iterator[Mutation]:
    """A usual function or method around every value that is read."""
    site = scope.site
    inner, marked, receiver = _inner(scope), _marked(scope), scope.receiver()
    own = getattr(site.root, "name", "")
    for node in site.nodes:
        if not _wrappable(site, node):
            continue
        place = site.places[node]
        # A method already called on the value says enough about where another one belongs.
        chained = isinstance(place.parent, ast.Attribute)
        known = kind(scope, node)
        least = Tier.USUAL if known else Tier.SELDOM
        extra = Tier.SELDOM if isinstance(node, ast.BoolOp | ast.Compare) else Tier.USUAL
        value = site.text(node)
        for name, tier in assign_tiers(_FUNCTIONS[known] if not chained else ()):
            if called(place.parent) != name:
                yield site.put(
                    node, _wrap(name, node, value), combine_tiers(max(tier, least), extra)
                )
        for method, tier in assign_tiers(_METHODS.get(known, ())):
            code = Text(f"{value.at(ATOM)}.{method}")
            yield site.put(node, code, combine_tiers(max(tier, least), extra))
        for method in marked if known in {"text", ""} else ():
            if known or method.startswith("strip"):
                code = Text(f"{value.at(ATOM)}.{method}")
                yield site.put(node, code, combine_tiers(Tier.SELDOM, extra))
        if chained:
            continue
        for name in inner:
            if name not in _callers(scope, node):
                yield site.put(node, _wrap(name, node, value), extra)
        for name, function in scope.around.functions.items():
            if len(function.args.args) == 1 and name != own:
                yield site.put(node, _wrap(name, node, value), Tier.RARE)
        for name, function in scope.around.methods.items() if receiver else ():
            if len(function.args.args) == 2 and name != own:
                yield site.put(node, _wrap(f"{receiver}.{name}", node, value), Tier.RARE)


def _wrap(name: str, node: ast.expr, value: Text) -> Text:
    """A call of an expression, whose brackets a generator already has."""
    whole = isinstance(node, ast.GeneratorExp) and value.code.startswith("(")
    return Text(f"{name}{value.code}") if whole else call(name, value)


def _marked(scope: MutationContext) -> list[str]:
    """Methods that take off the marks a function writes or splits at."""
    texts = (n.value for n in scope.site.each(ast.Constant))
    marks = dict.fromkeys(t for t in texts if isinstance(t, str) and 0 < len(t) < 3)
    return [
        f"{method}({mark!r})".replace("'", '"')
        for method in ("strip", "rstrip", "lstrip")
        for mark in list(marks)[:2]
        if not any(c.isalnum() or c.isspace() or c in "\"'\\" for c in mark)
    ]


def _inner(scope: MutationContext) -> list[str]:
    """Functions of one argument that the function defines for itself, and calls."""
    called = {n.func.id for n in scope.site.each(ast.Call) if isinstance(n.func, ast.Name)}
    return [
        s.name
        for s in scope.site.each(ast.FunctionDef)
        if len(s.args.args) == 1 and s.name in called
    ]


def _callers(scope: MutationContext, node: ast.expr) -> set[str]:
    """The function around a value, and what is called with it already."""
    names = {a.name for a in scope.above(node) if isinstance(a, ast.FunctionDef)}
    return names | {called(scope.site.places[node].parent)}


def removals(scope: MutationContext) -> Iterator[Mutation]:
    """A call becomes one of its arguments, or the object whose method it calls."""
    site = scope.site
    for node in site.each(ast.Call):
        match node.func:
            case ast.Name():
                tier = Tier.USUAL
            case ast.Attribute(value=value):
                tier = Tier.SELDOM
                if not isinstance(site.places[node].parent, ast.Expr):
                    yield site.put(node, site.text(value), Tier.USUAL)
            case _:
                continue
        for argument in node.args:
            if not isinstance(argument, ast.Starred):
                yield site.put(node, site.text(argument), tier)


def awaited(scope: MutationContext) -> Iterator[Mutation]:
    """`fetch()` becomes `await fetch()` in a coroutine."""
    site = scope.site
    if not isinstance(site.function, ast.AsyncFunctionDef):
        return
    for node in site.nodes:
        if isinstance(node, ast.Call) and not isinstance(site.places[node].parent, ast.Await):
            yield site.put(node, Text(f"await {site.text(node).code}", AWAIT), Tier.USUAL)
        if isinstance(node, ast.Await):
            yield site.put(node, site.text(node.value), Tier.SELDOM)
