"""Missing statements: a `pass` becomes what its function seems to lack.

`pass` becomes `self.reset()`, `count += 1`, `raise KeyError(name)` or a statement of a sibling,
2.2 to 3.2.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from heal_bot.repair.templates.ingredient import borrowed
from heal_bot.repair.templates.mutation_context import MutationContext
from heal_bot.repair.templates.text_edits import Mutation
from heal_bot.source.definitions import Function


def calls(scope: MutationContext, node: ast.AST) -> list[str]:
    """Calls of the module's functions and the class's methods that fit the names in scope."""
    names = scope.visible(node)[:5]
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
    return found[:60]


def _needed(function: Function) -> int:
    args = function.args
    return len(args.posonlyargs) + len(args.args) - len(args.defaults)


def raises(scope: MutationContext, node: ast.AST) -> list[str]:
    """Raising what tests expect to be raised, and what the module raises elsewhere."""
    names = scope.visible(node)
    said = f'"invalid {names[0]}"' if names else '"invalid value"'
    found = [f"raise {name}({said})" for name in scope.evidence.missing()]
    for sibling in scope.around.siblings[:20]:
        for inner in ast.walk(sibling):
            if isinstance(inner, ast.Raise) and inner.exc is not None:
                code = scope.around.segment(inner)
                if "\n" not in code and len(code) < 100:
                    found.append(code)
    return list(dict.fromkeys(found))[:10]


def passes(scope: MutationContext) -> Iterator[Mutation]:
    """Every `pass` that stands in a larger function becomes a statement."""
    site = scope.site
    for node in site.each(ast.Pass) if len(site.statements) > 1 else ():
        options: dict[str, float] = {}
        for rank, code in enumerate(raises(scope, node)):
            options.setdefault(code, 2.2 + 0.1 * rank)
        for name in scope.visible(node)[:8]:
            kinds = scope.kinds.get(name, set())
            if "number" in kinds or not kinds:
                for code in (f"{name} += 1", f"{name} -= 1", f"{name} += 2"):
                    options.setdefault(code, 2.4)
            for other in scope.visible(node)[:8]:
                if "sequence" in kinds and name != other:
                    options.setdefault(f"{name}.append({other})", 2.5)
                if "number" in kinds and name != other:
                    options.setdefault(f"{name} += {other}", 2.7)
        for rank, code in enumerate(borrowed(scope)[1]):
            options.setdefault(code, 2.4 + 0.03 * rank)
            if back := _taken_back(code):
                options.setdefault(back, 2.4 + 0.03 * rank)
        for rank, code in enumerate(calls(scope, node)):
            options.setdefault(code, 2.4 + 0.02 * rank)
        for other_statement in site.statements:
            code = site.segment(other_statement)
            simple = isinstance(other_statement, ast.Expr | ast.Assign | ast.AugAssign | ast.Raise)
            if simple and "\n" not in code and len(code) < 100:
                options.setdefault(code, 2.5)
                for rank, variant in enumerate(_about_others(scope, other_statement, node)):
                    options.setdefault(variant, 2.6 + 0.05 * rank)
        for code in ("continue", "break", "return"):
            options.setdefault(code, 2.4)
        for code, cost in options.items():
            yield site.replace(node, code, cost)


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
