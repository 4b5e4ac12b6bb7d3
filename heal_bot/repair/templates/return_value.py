"""Returned values: `return None` becomes `return result`.

What other paths return is usual, and a name in scope; seldom a constant or another expression of
the function. Where a constant says yes or no, whether a count is 0 or more is usual too.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from heal_bot.repair.templates.change_tiers import Tier, combine_tiers
from heal_bot.repair.templates.mutation_context import MutationContext, value_kind
from heal_bot.repair.templates.text_edits import (
    FEW,
    LAMBDA,
    MANY,
    OR,
    Mutation,
    Text,
    TextEdit,
    is_short,
    says,
)

_EMPTY = {"sequence": "[]", "text": '""', "mapping": "{}", "number": "0", "boolean": "False"}
_NOT_ALONE = (
    ast.Name, ast.Constant, ast.Starred, ast.Slice, ast.Lambda, ast.Yield, ast.YieldFrom,
    ast.NamedExpr,
)  # fmt: skip


def expressions(scope: MutationContext) -> list[Text]:
    """Distinct expressions of a function worth using elsewhere, shortest first."""
    found: dict[str, Text] = {}
    for node in scope.site.nodes:
        if isinstance(node, _NOT_ALONE):
            continue
        stored = isinstance(getattr(node, "ctx", None), ast.Store | ast.Del)
        if stored or scope.site.is_called(node):
            continue
        code = scope.site.segment(node)
        if is_short(code):
            found[code] = scope.site.text(node)
    return sorted(found.values(), key=lambda text: len(text.code))[:MANY]


def returns(scope: MutationContext) -> Iterator[Mutation]:
    """Another value for every `return`."""
    site = scope.site
    paths = list(site.each(ast.Return))
    kinds = {value_kind(p.value) for p in paths if p.value is not None} - {""}
    counts = {s.target.id for s in site.each(ast.AugAssign) if isinstance(s.target, ast.Name)}
    for path in paths:
        names = scope.visible(path)
        others = (p.value for p in paths if p is not path and p.value is not None)
        empty = (_EMPTY[kind] for kind in sorted(kinds & _EMPTY.keys()))
        usual = (*(site.text(other).at(LAMBDA) for other in others), *empty, *names)
        options = dict.fromkeys(usual, Tier.USUAL)
        for name in names if kinds == {"boolean"} else ():
            plain = Tier(name not in counts or not isinstance(path.value, ast.Constant))
            number = combine_tiers(plain, Tier("number" not in scope.kinds.get(name, set())))
            options.setdefault(f"{name} == 0", number)
            options.setdefault(f"not {name}", plain)
            options.setdefault(f"{name} > 0", number)
        seldom = ("None", "True", "False", "0", "1", "-1", "[]", '""', "{}", "()", "[[]]")
        told = map(repr, scope.evidence.constants[:FEW])
        for code in (*seldom, *told, *(text.at(LAMBDA) for text in expressions(scope))):
            options.setdefault(code, Tier.SELDOM)
        for name in names:
            if "sequence" in (known := scope.kinds.get(name, set())) or not known:
                options.setdefault(f"not {name}", Tier.SELDOM)
                options.setdefault(f"len({name})", Tier.RARE)
                options.setdefault(f"sum({name})", Tier.RARE)
        for code, tier in options.items():
            yield _returning(scope, path, code, tier)
        if path.value is not None and isinstance(path.value, ast.Name | ast.Attribute | ast.Call):
            value = site.text(path.value)
            for code in (f"len({value.code})", f"[{value.code}]", f"({value.code},)"):
                yield site.put(path.value, Text(code), Tier.SELDOM)
            for code in ("[]", "None", "0", '""', "{}"):
                yield site.put(path.value, Text(f"{value.at(OR)} or {code}", OR), Tier.SELDOM)


def _returning(scope: MutationContext, path: ast.Return, code: str, tier: Tier) -> Mutation:
    site = scope.site
    if path.value is not None:
        return site.put(path.value, Text(code), tier)
    end, line = site.end(path), site.line(path)
    return Mutation(
        (TextEdit(end, end, f" {code}"),), tier, line, says("return", f"return {code}", line)
    )
