"""Returned values: `return None` becomes `return result`.

A constant of the kind that other paths return costs 2.0, a name in scope 2.3, an expression of
the function 2.9, an empty container 2.6; whether a count is 0 or more costs 2.2 in the place of a
constant.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from heal_bot.repair.templates.mutation_context import MutationContext, value_kind
from heal_bot.repair.templates.text_edits import Mutation, Text, TextEdit, says

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
        if len(code) <= 60 and "\n" not in code:
            found[code] = scope.site.text(node)
    return sorted(found.values(), key=lambda text: len(text.code))[:40]


def returns(scope: MutationContext) -> Iterator[Mutation]:
    """Another value for every `return`."""
    site = scope.site
    paths = list(site.each(ast.Return))
    kinds = {value_kind(p.value) for p in paths if p.value is not None} - {""}
    counts = {s.target.id for s in site.each(ast.AugAssign) if isinstance(s.target, ast.Name)}
    for path in paths:
        options: dict[str, float] = {}
        for other in paths:
            if other is not path and other.value is not None:
                options.setdefault(site.text(other.value).at(1), 2.2)
        for name in scope.visible(path):
            options.setdefault(name, 2.4)
        for found in sorted(kinds):
            if found in _EMPTY:
                options.setdefault(_EMPTY[found], 2.2)
        for value in scope.evidence.constants[:8]:
            options.setdefault(repr(value), 3.0)
        for code in ("None", "True", "False", "0", "1", "-1", "[]", '""', "{}", "()", "[[]]"):
            options.setdefault(code, 2.8)
        for text in expressions(scope):
            options.setdefault(text.at(1), 3.2)
        for name in scope.visible(path):
            kind = scope.kinds.get(name, set())
            if "sequence" in kind or not kind:
                options.setdefault(f"len({name})", 3.4)
                options.setdefault(f"not {name}", 3.2)
                options.setdefault(f"sum({name})", 3.8)
            if kinds == {"boolean"}:
                counted = name in counts and isinstance(path.value, ast.Constant)
                near = 0.5 if counted else 0.0
                far = 0.0 if "number" in kind else 0.7
                options.setdefault(f"not {name}", 2.8 - near)
                options.setdefault(f"{name} == 0", 2.7 + far - near)
                options.setdefault(f"{name} > 0", 3.0 + far - near)
        for code, cost in options.items():
            yield _returning(scope, path, code, cost)
        if path.value is not None and isinstance(path.value, ast.Name | ast.Attribute | ast.Call):
            value = site.text(path.value)
            for code in (f"len({value.code})", f"[{value.code}]", f"({value.code},)"):
                yield site.put(path.value, Text(code), 3.0)
            for code in ("[]", "None", "0", '""', "{}"):
                yield site.put(path.value, Text(f"{value.at(3)} or {code}", 3), 3.2)


def _returning(scope: MutationContext, path: ast.Return, code: str, cost: float) -> Mutation:
    site = scope.site
    if path.value is not None:
        return site.put(path.value, Text(code), cost)
    end, line = site.end(path), site.line(path)
    return Mutation(
        (TextEdit(end, end, f" {code}"),), cost, line, says("return", f"return {code}", line)
    )
