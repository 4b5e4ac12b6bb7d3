"""Conditions widened and narrowed: `if items:` becomes `if items and items[0] > low:`.

The predicate comes from the function itself, its parameters and its siblings.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from heal_bot.repair.templates.change_tiers import Tier, combine_tiers
from heal_bot.repair.templates.mutation_context import MutationContext
from heal_bot.repair.templates.text_edits import (
    AND,
    ATOM,
    COMPARE,
    FEW,
    NOT,
    OR,
    Mutation,
    Text,
    is_short,
)


def predicates(scope: MutationContext, node: ast.AST) -> list[tuple[Text, Tier]]:
    """Truth values in scope at a node, the likely first."""
    found: dict[str, tuple[Text, Tier]] = {}

    def add(code: str, level: int, tier: Tier = Tier.SELDOM) -> None:
        found.setdefault(code, (Text(code, level), tier))

    names = scope.visible(node)[:FEW]
    for name in names:
        add(name, ATOM, Tier.USUAL)
        add(f"not {name}", NOT, Tier.USUAL)
    for other in scope.site.each(ast.Compare):
        if is_short(scope.site.segment(other)):
            add(scope.site.segment(other), COMPARE, Tier.USUAL)
    for name in names:
        add(f"{name} is not None", COMPARE, Tier.USUAL)
        add(f"{name} is None", COMPARE, Tier.USUAL)
    for name in names:
        if "number" in (kinds := scope.kinds.get(name, set())) or not kinds:
            for sign in ("> 0", "< 0", "== 0", ">= 0", "== 1", "% 2 == 0"):
                add(f"{name} {sign}", COMPARE)
    for one in names:
        for other_name in names:
            if one == other_name:
                continue
            if scope.clash(one, other_name) < Tier.RARE:
                numbers = "number" in scope.kinds.get(one, set())
                for sign in ("==", "!=", "<", "<=", ">", ">=") if numbers else ("==", "!=", "<"):
                    add(f"{one} {sign} {other_name}", COMPARE)
            if not scope.kinds.get(other_name, set()) & {"number", "boolean"}:
                add(f"{one} in {other_name}", COMPARE)
                add(f"{one} not in {other_name}", COMPARE)
    for kind in _classes(scope):
        for name in names:
            add(f"isinstance({name}, {kind})", ATOM)
            add(f"not isinstance({name}, {kind})", NOT)
    for code in _values(scope):
        for name in names:
            if "number" not in scope.kinds.get(name, set()):
                add(f"{name} == {code}", COMPARE)
    for kind in ("int", "str", "list", "dict", "float", "bool", "(list, tuple)"):
        for name in names:
            add(f"isinstance({name}, {kind})", ATOM)
            add(f"not isinstance({name}, {kind})", NOT)
    for called, function in scope.around.functions.items():
        if len(function.args.args) - len(function.args.defaults) == 1:
            for name in names:
                add(f"{called}({name})", ATOM)
                add(f"not {called}({name})", NOT)
    return list(found.values())


def _values(scope: MutationContext) -> list[str]:
    """Short texts that the function compares with or that tests expect, as source."""
    own = [n.value for n in scope.site.each(ast.Constant)]
    texts = [t for t in [*own, *scope.evidence.constants] if isinstance(t, str) and is_short(t)]
    return [repr(text) for text in dict.fromkeys(texts)][:FEW]


def _classes(scope: MutationContext) -> list[str]:
    """Classes of the module, and those that its functions ask `isinstance` for."""
    found = dict.fromkeys(scope.around.classes)
    for function in scope.around.siblings:
        for node in ast.walk(function):
            match node:
                case ast.Call(func=ast.Name(id="isinstance"), args=[_, kind]):
                    code = scope.around.segment(kind)
                    if is_short(code):
                        found[code] = None
    return list(found)[:FEW]


def extended(scope: MutationContext) -> Iterator[Mutation]:
    """A further predicate for every condition, before it when a crash has to be kept away."""
    site = scope.site
    crash = bool(scope.evidence.kinds - {"AssertionError"})
    for node in site.nodes:
        if not site.is_test(node, asserted=True):
            continue
        old = site.text(node)
        for predicate, tier in predicates(scope, node):
            if predicate.code == old.code:
                continue
            pairs = (predicate, old), (old, predicate)
            # A crash on a missing value asks for a wider guard rather than for another one.
            wide = "or" if predicate.code.startswith("not ") else ""
            for (left, right), late in zip(pairs if crash else pairs[::-1], Tier, strict=False):
                for word in ("or", "and"):
                    doubt = Tier(crash and word != wide)
                    joined = _joined(left, word, right)
                    yield site.put(node, joined, combine_tiers(tier, late, doubt))


def _joined(left: Text, word: str, right: Text) -> Text:
    own = OR if word == "or" else AND
    return Text(f"{left.at(own)} {word} {right.at(own)}", own)
