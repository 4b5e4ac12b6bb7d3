"""Ingredients: an expression of the function, its class or its siblings stands in for another.

`return self.total` becomes `return self.total - self.discount` because a sibling says so. Of a
sibling's statements those are usual that are about an attribute that this method uses too.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from heal_bot.repair.templates.change_tiers import Tier, assign_tiers, combine_tiers
from heal_bot.repair.templates.module_context import BUILTINS
from heal_bot.repair.templates.mutation_context import MutationContext
from heal_bot.repair.templates.return_value import expressions
from heal_bot.repair.templates.statement_insertion import after, before
from heal_bot.repair.templates.target_ast import TargetAst
from heal_bot.repair.templates.text_edits import (
    AWAIT,
    MANY,
    PRODUCT,
    UNARY,
    Mutation,
    Text,
    binary,
    call,
    is_short,
    level,
)

_VALUES = (ast.Attribute, ast.Call, ast.Compare, ast.BinOp, ast.BoolOp)
_SIMPLE = (ast.Assign, ast.AugAssign, ast.Expr, ast.Raise)


def _replaceable(site: TargetAst, node: ast.expr) -> bool:
    if isinstance(getattr(node, "ctx", None), ast.Store | ast.Del):
        return False
    if isinstance(node, ast.Starred | ast.Slice | ast.Yield | ast.YieldFrom):
        return False
    place = site.places[node]
    if isinstance(place.parent, ast.Call | ast.Attribute) and place.field in {"func", "value"}:
        return False
    return not isinstance(place.parent, ast.Expr | ast.JoinedStr)


def own(scope: MutationContext) -> Iterator[Mutation]:
    """Every expression of the function in the place of every other."""
    site = scope.site
    texts = expressions(scope)
    for node in site.nodes:
        if _replaceable(site, node):
            for text, tier in assign_tiers(texts):
                yield site.put(node, text, tier)


def borrowed(scope: MutationContext) -> tuple[list[Text], list[str]]:
    """Expressions and simple statements of sibling functions whose names all exist here."""
    around = scope.around
    codes: dict[str, Text] = {}
    statements: dict[str, None] = {}
    everywhere = {*around.globals(), *BUILTINS, "self", "cls"}
    here = {name for name, _, _ in scope.bindings} | everywhere
    for function in (*around.enclosing, scope.site.root):
        here |= _bound(function)
    for sibling in around.siblings:
        for node in ast.walk(sibling):
            if not isinstance(node, _VALUES + _SIMPLE) or node.lineno == sibling.lineno:
                continue
            names = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
            code = around.segment(node)
            if not names or not names <= here or not is_short(code):
                continue
            if isinstance(node, _SIMPLE):
                statements[code] = None
            elif not isinstance(getattr(node, "ctx", None), ast.Store):
                codes[code] = Text(code, level(node))
    return list(codes.values())[:MANY], list(statements)[:MANY]


def _bound(function: ast.AST) -> set[str]:
    """The names that are bound anywhere in a function: by it, and by functions inside it."""
    found: set[str] = set()
    for node in ast.walk(function):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                found.add(name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                found.add(name)
    return found


def siblings(scope: MutationContext) -> Iterator[Mutation]:
    """Expressions and statements of siblings in the place of others, or beside them."""
    site = scope.site
    if site.function is None:
        return
    texts, statements = borrowed(scope)
    for node in site.nodes:
        if _replaceable(site, node):
            for text in texts:
                yield site.put(node, text, Tier.SELDOM)
    used = _attributes(site.nodes)
    shared = {code for code in statements if used & _attributes(ast.walk(ast.parse(code)))}
    for anchor in site.statements:
        for code in statements:
            for put in (before, after):
                yield from put(site, anchor, (code,), Tier(code not in shared))


def _attributes(nodes: Iterable[ast.AST]) -> set[str]:
    """The attributes of `self` among the nodes."""
    return {
        node.attr
        for node in nodes
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "self"
    }


def sums(scope: MutationContext) -> Iterator[Mutation]:
    """A term is added or taken away, or a factor: `n` to `n - k`."""
    site = scope.site
    for node in site.nodes:
        if not _replaceable(site, node) or isinstance(node, ast.Compare | ast.BoolOp | ast.Lambda):
            continue
        if isinstance(node, ast.Constant) and not isinstance(node.value, int):
            continue
        value = site.text(node)
        for code in ("-", "2 * "):
            yield site.put(node, Text(f"{code}{value.at(UNARY)}", PRODUCT), Tier.USUAL)
        for name in scope.visible(node):
            if isinstance(node, ast.Name) and node.id == name:
                continue
            other, number = Text(name), "number" in scope.kinds.get(name, set())
            near = Tier(not number)
            far = combine_tiers(near, Tier.SELDOM)
            for sign in ("+", "-"):
                yield site.put(node, binary(value, sign, other), near)
            yield site.put(node, binary(value, "*", other), far)
            for word in ("max", "min"):
                yield site.put(node, call(word, value, other), far)
            if not number:
                yield site.put(node, binary(other, "+", value), far)
            if isinstance(node, ast.Name | ast.Attribute):
                yield site.put(node, binary(value, "or", other), far)
        for constant in ("0", "1"):
            for word in ("max", "min"):
                yield site.put(node, call(word, value, Text(constant)), Tier.SELDOM)
        for sign in ("** 2", "// 2", "/ 2", "* 100", "% 2", "/ 100"):
            yield site.put(node, Text(f"{value.at(AWAIT)} {sign}", PRODUCT), Tier.SELDOM)
