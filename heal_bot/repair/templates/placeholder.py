"""Missing statements: a `pass` becomes what its function seems to lack.

`pass` becomes `self.reset()`, `count += 1`, `raise KeyError(name)` or a statement of a sibling.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import permutations

from heal_bot.repair.templates.change_tiers import Tier, assign_tiers
from heal_bot.repair.templates.ingredient import borrowed
from heal_bot.repair.templates.mutation_context import MutationContext
from heal_bot.repair.templates.text_edits import FEW, MANY, Mutation, is_short
from heal_bot.source.definitions import Function


def calls(scope: MutationContext, node: ast.AST) -> list[str]:
    """Calls of the module's functions and the class's methods that fit the names in scope."""
    names = scope.visible(node)[:FEW]
    receiver = scope.receiver()
    own = getattr(scope.site.root, "name", "")
    found: list[str] = []
    targets = [(name, f, 0) for name, f in scope.around.functions.items()]
    if receiver:
        methods = scope.around.methods.items()
        targets += [(f"{receiver}.{name}", f, 1) for name, f in methods if "__" not in name]
        # A parameter of a method is often another object of its class: `other.add(item)`.
        others = [n for n in names if not scope.kinds.get(n)]
        targets += [(f"{n}.{name}", f, 1) for n in others for name, f in methods if name[0] != "_"]
    for name, function, bound in targets:
        if name.rpartition(".")[2] == own:
            continue
        needed = _needed(function) - bound
        if needed <= 0:
            found.append(f"{name}()")
        elif needed == 1:
            found += [f"{name}({n})" for n in names if not name.startswith(f"{n}.")]
        elif needed == 2:
            found += [f"{name}({a}, {b})" for a in names for b in names if a != b]
            found += [f"{name}({n}, 0)" for n in names]
    return found[:MANY]


def _needed(function: Function) -> int:
    args = function.args
    return len(args.posonlyargs) + len(args.args) - len(args.defaults)


def raises(scope: MutationContext, node: ast.AST) -> list[str]:
    """Raising what tests expect to be raised, and what the module raises elsewhere."""
    names = scope.visible(node)
    said = f'"invalid {names[0]}"' if names else '"invalid value"'
    found = [f"raise {name}({said})" for name in scope.evidence.missing()]
    for sibling in scope.around.siblings:
        for inner in ast.walk(sibling):
            if isinstance(inner, ast.Raise) and inner.exc is not None:
                code = scope.around.segment(inner)
                if is_short(code):
                    found.append(code)
    return list(dict.fromkeys(found))[:FEW]


def passes(scope: MutationContext) -> Iterator[Mutation]:
    """Every `pass` that stands in a larger function becomes a statement."""
    site = scope.site
    for node in site.each(ast.Pass) if len(site.statements) > 1 else ():
        options: dict[str, Tier] = {}
        for code, tier in _instead(scope, node):
            options.setdefault(code, tier)
        for code, tier in options.items():
            yield site.replace(node, code, tier)


def _instead(scope: MutationContext, node: ast.Pass) -> Iterator[tuple[str, Tier]]:
    """The statements that may stand for a `pass`."""
    site, names = scope.site, scope.visible(node)[:FEW]
    yield from assign_tiers(raises(scope, node))
    for name in names:
        if "number" in scope.kinds.get(name, {"number"}):
            for step in ("+= 1", "-= 1", "+= 2"):
                yield f"{name} {step}", Tier.USUAL
    for code, tier in assign_tiers(borrowed(scope)[1]):
        yield code, tier
        if back := _taken_back(code):
            yield back, tier
    yield from assign_tiers(calls(scope, node))
    for code in ("continue", "break", "return"):
        yield code, Tier.USUAL
    for other in site.statements:
        code = site.segment(other)
        simple = isinstance(other, ast.Expr | ast.Assign | ast.AugAssign | ast.Raise)
        if simple and is_short(code):
            yield code, Tier.USUAL
            yield from assign_tiers(_about_others(scope, other, node))
    for name, value in permutations(names, 2):
        kinds = scope.kinds.get(name, set())
        if "sequence" in kinds:
            yield f"{name}.append({value})", Tier.USUAL
        if "number" in kinds:
            yield f"{name} += {value}", Tier.SELDOM


def _about_others(scope: MutationContext, statement: ast.stmt, place: ast.Pass) -> Iterator[str]:
    """A call that stands elsewhere in the function, `add(item)`, with another value in scope."""
    match statement:
        case ast.Expr(value=ast.Call(func=func, args=[ast.Name(id=known)], keywords=[])):
            for name in reversed(scope.visible(place)):
                if name != known:
                    yield f"{scope.site.segment(func)}({name})"


def _taken_back(code: str) -> str:
    """A step the other way, as pairs of functions have it: `+= 1` in one, `-= 1` in the other."""
    for one, other in ((" += ", " -= "), (" -= ", " += ")):
        if one in code:
            return code.replace(one, other, 1)
    return ""
