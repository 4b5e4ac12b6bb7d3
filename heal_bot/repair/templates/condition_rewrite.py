"""Conditions widened and narrowed: `if items:` becomes `if items and items[0] > low:`.

The predicate comes from the function itself, its parameters and its siblings. `or` costs 3.2,
`and` 3.5 (it overfits more often), a comparison replaced by one of its operands 2.8.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from heal_bot.repair.templates.mutation_context import MutationContext
from heal_bot.repair.templates.text_edits import AND, COMPARE, NOT, OR, Mutation, Text

TESTS = (ast.If, ast.While, ast.IfExp, ast.Assert)


def predicates(scope: MutationContext, node: ast.AST) -> list[tuple[Text, float]]:
    """Truth values in scope at a node with the extra cost of each."""
    found: dict[str, tuple[Text, float]] = {}

    def add(code: str, level: int, cost: float) -> None:
        found.setdefault(code, (Text(code, level), cost))

    for other in scope.site.nodes:
        if isinstance(other, ast.Compare) and "\n" not in scope.site.segment(other):
            add(scope.site.segment(other), COMPARE, 0.2)
    names = scope.visible(node)[:8]
    for name in names:
        kinds = scope.kinds.get(name, set())
        add(name, 16, 0.0 if not kinds & {"number"} else 0.4)
        add(f"not {name}", NOT, 0.1)
        add(f"{name} is not None", COMPARE, 0.2)
        add(f"{name} is None", COMPARE, 0.2)
        if "number" in kinds or not kinds:
            for sign in ("> 0", "< 0", "== 0", ">= 0", "== 1", "% 2 == 0"):
                add(f"{name} {sign}", COMPARE, 0.6)
    for one in names:
        for other_name in names:
            if one == other_name:
                continue
            alike = scope.clash(one, other_name)
            numbers = "number" in scope.kinds.get(one, set())
            if alike < 1:
                for sign in ("==", "!=", "<", "<=", ">", ">=") if numbers else ("==", "!=", "<"):
                    add(f"{one} {sign} {other_name}", COMPARE, 0.7 + alike / 2)
            if not scope.kinds.get(other_name, set()) & {"number", "boolean"}:
                add(f"{one} in {other_name}", COMPARE, 0.7)
                add(f"{one} not in {other_name}", COMPARE, 0.7)
    for code in _values(scope):
        for name in names[:6]:
            if "number" not in scope.kinds.get(name, set()):
                add(f"{name} == {code}", COMPARE, 0.9)
    for called, function in scope.around.functions.items():
        if len(function.args.args) - len(function.args.defaults) == 1:
            for name in names[:4]:
                add(f"{called}({name})", 16, 1.0)
                add(f"not {called}({name})", NOT, 1.0)
    for kind in _classes(scope):
        for name in names[:6]:
            add(f"isinstance({name}, {kind})", 16, 0.7)
            add(f"not isinstance({name}, {kind})", NOT, 0.8)
    for kind in ("int", "str", "list", "dict", "float", "bool", "(list, tuple)"):
        for name in names[:4]:
            add(f"isinstance({name}, {kind})", 16, 0.9)
            add(f"not isinstance({name}, {kind})", NOT, 1.1)
    return list(found.values())


def _values(scope: MutationContext) -> list[str]:
    """Short texts that the function compares with or that tests expect, as source."""
    own = [n.value for n in scope.site.each(ast.Constant)]
    texts = [t for t in [*own, *scope.evidence.constants] if isinstance(t, str) and len(t) < 20]
    return [repr(text) for text in dict.fromkeys(texts)][:6]


def _classes(scope: MutationContext) -> list[str]:
    """Classes of the module, and those that its functions ask `isinstance` for."""
    found = dict.fromkeys(scope.around.classes)
    for function in scope.around.siblings:
        for node in ast.walk(function):
            match node:
                case ast.Call(func=ast.Name(id="isinstance"), args=[_, kind]):
                    code = scope.around.segment(kind)
                    if "\n" not in code and len(code) < 60:
                        found[code] = None
    return list(found)[:6]


def extended(scope: MutationContext) -> Iterator[Mutation]:
    """A further predicate for every condition, before it when a crash has to be kept away."""
    site = scope.site
    crash = bool(scope.evidence.kinds - {"AssertionError"})
    for node in site.nodes:
        place = site.places[node]
        if not (isinstance(place.parent, TESTS) and place.field == "test"):
            continue
        old = site.text(node)
        for predicate, more in predicates(scope, node):
            if predicate.code == old.code:
                continue
            late, early = (0.3, 0.0) if crash else (0.0, 0.4)
            # A crash on a missing value asks for a wider guard rather than for another one.
            wide = 2.2 if crash and predicate.code.startswith("not ") else 3.2
            yield site.put(node, _joined(old, "or", predicate), wide + more + late)
            yield site.put(node, _joined(old, "and", predicate), 3.5 + more + late)
            yield site.put(node, _joined(predicate, "or", old), wide + more + early)
            yield site.put(node, _joined(predicate, "and", old), 3.5 + more + early)


def _joined(left: Text, word: str, right: Text) -> Text:
    own = OR if word == "or" else AND
    return Text(f"{left.at(own)} {word} {right.at(own)}", own)


def replaced(scope: MutationContext) -> Iterator[Mutation]:
    """A condition becomes another predicate in scope: 3.4."""
    site = scope.site
    for node in site.nodes:
        place = site.places[node]
        if isinstance(place.parent, TESTS) and place.field == "test":
            for predicate, more in predicates(scope, node):
                # A constant condition is no condition: something stood here.
                base = 2.0 if isinstance(node, ast.Constant) else 3.4
                yield site.put(node, predicate, base + more)
            if isinstance(node, ast.Compare):
                yield site.put(node, site.text(node.left), 2.8)
                yield site.put(node, Text(f"not {site.text(node.left).at(NOT)}", NOT), 3.0)
