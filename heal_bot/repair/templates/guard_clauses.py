"""Guards: a function that fails on None or on an empty value leaves early.

`if items is None: return None` before the first statement costs 2.4 for None, 2.6 for empty;
before another statement, or with the value of another path, up to 3.8. A loop gets `continue` or
`break`. The condition is an `is None`, an emptiness, a comparison with 0 or a type test.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from heal_bot.repair.templates.mutation_context import MutationContext, value_kind
from heal_bot.repair.templates.statement_insertion import before
from heal_bot.repair.templates.text_edits import Mutation

# How a TypeError says that a value is no container.
_NO_CONTAINER = re.compile(r"object is not (?:iterable|subscriptable)|has no len\(\)")
_WORD = re.compile(r"[A-Za-z_]\w*")
_EMPTY = {"sequence": "[]", "text": '""', "mapping": "{}", "number": "0", "boolean": "False",
          "set": "set()"}  # fmt: skip


def leaves(scope: MutationContext) -> list[tuple[str, float]]:
    """Ways to leave a function early with the extra cost of each, the likely first."""
    site = scope.site
    ways: dict[str, float] = {}
    kinds: dict[str, None] = {}
    for path in site.each(ast.Return):
        if path.value is None:
            ways.setdefault("return", 0.0)
            continue
        kind = value_kind(path.value)
        if isinstance(path.value, ast.Name):
            known = scope.kinds.get(path.value.id, set())
            kind = next(iter(known)) if len(known) == 1 else ""
        if kind in _EMPTY:
            kinds[_EMPTY[kind]] = None
        if kind == "boolean":
            kinds["True"] = None
        if isinstance(path.value, ast.Constant):
            ways.setdefault(f"return {site.segment(path.value)}", 0.0)
    for code in kinds:
        ways.setdefault(f"return {code}", 0.0)
    for name in scope.unused:
        ways.setdefault(f"return {name}", 0.1)
    for code in scope.evidence.empty:
        ways.setdefault(f"return {code}", 0.2)
    for expected in scope.evidence.constants[:4]:
        if not isinstance(expected, str) or len(expected) < 20:
            ways.setdefault(f"return {expected!r}", 0.5)
    for rank, code in enumerate(("None", "0", "1", "[]", '""', "{}", "False", "True", "-1")):
        ways.setdefault(f"return {code}", 0.5 + 0.1 * rank + (0.4 if rank > 5 else 0.0))
    return list(ways.items())


def conditions(scope: MutationContext, node: ast.AST) -> list[tuple[str, float]]:
    """Conditions on the names in scope that a guard may ask for."""
    found: list[tuple[str, float]] = []
    none = bool({"AttributeError", "TypeError"} & scope.evidence.kinds)
    zero = "ZeroDivisionError" in scope.evidence.kinds
    short = bool({"IndexError", "ValueError", "StopIteration"} & scope.evidence.kinds)
    for rank, name in enumerate(scope.visible(node)[:8]):
        known = scope.kinds.get(name, set())
        dear = 0.1 * rank
        found.append((f"{name} is None", dear + (0.0 if none else 0.8)))
        found.append((f"not {name}", dear + (0.0 if short or zero else 0.4)))
        if "number" in known or not known:
            found.append((f"{name} == 0", dear + (0.0 if zero else 0.7)))
            found.append((f"{name} < 0", dear + 0.7))
            found.append((f"{name} <= 0", dear + 0.9))
            found.append((f"{name} == 1", dear + 1.3))
            found.append((f"{name} < 2", dear + 1.3))
        if known & {"sequence", "text"} or not known:
            found.append((f"len({name}) < 2", dear + 1.4))
            found.append((f"len({name}) == 1", dear + 1.5))
    found += _attribute_conditions(scope, none)
    if any(_NO_CONTAINER.search(message[:500]) for message in scope.evidence.messages):
        for rank, name in enumerate(scope.visible(node)[:4]):
            for more, kind in enumerate(("list", "(list, tuple)", "dict", "str")):
                found.append((f"not isinstance({name}, {kind})", 0.1 * rank + 0.1 * more))
    return found


def _attribute_conditions(scope: MutationContext, none: bool) -> list[tuple[str, float]]:
    """Conditions on attributes and items that the function reads."""
    codes: dict[str, None] = {}
    for node in scope.site.nodes:
        match node:
            case ast.Attribute(value=ast.Name(), ctx=ast.Load()) | ast.Subscript(ctx=ast.Load()):
                code = scope.site.segment(node)
                if not scope.site.is_called(node) and len(code) < 40 and "\n" not in code:
                    codes[code] = None
    found = []
    for code in list(codes)[:8]:
        found.append((f"{code} is None", 0.6 if none else 1.2))
        found.append((f"not {code}", 1.0))
    return found


def early(scope: MutationContext) -> Iterator[Mutation]:
    """A guard before the first statement of the function, and before every other statement."""
    site = scope.site
    if site.function is None:
        return
    ways = leaves(scope)
    crash = bool(scope.evidence.kinds - {"AssertionError"})
    first = next(iter(site.body), None)
    for anchor in [first, *(s for s in site.statements if s is not first)]:
        if anchor is None or (isinstance(anchor, ast.Return) and anchor.value is None):
            continue
        base = 2.5 if anchor is first else 3.5
        loop = next((a for a in scope.above(anchor) if isinstance(a, ast.For | ast.While)), None)
        exits = [*ways[: 5 if anchor is not first else 12]]
        if loop is not None:
            exits = [("continue", -0.3), ("break", 0.2), *exits]
        for condition, dear in conditions(scope, anchor):
            # A round that crashes on what it was given is usually one to leave out.
            spared = 0.6 if crash and loop is not None and _is_of(loop, condition) else 0.0
            for way, more in exits:
                cost = base + dear + more - (spared if way == "continue" else 0.0)
                if cost <= 5.5:
                    yield from before(site, anchor, (f"if {condition}:", f"\t{way}"), cost)


def _is_of(loop: ast.For | ast.While, condition: str) -> bool:
    """Whether a condition asks for a value that every round has anew."""
    names = [n for n in ast.walk(loop) if isinstance(n, ast.Name)]
    stored = {n.id for n in names if isinstance(n.ctx, ast.Store)}
    return any(name in stored for name in _WORD.findall(condition))


def defaults(scope: MutationContext) -> Iterator[Mutation]:
    """A parameter that may be None or of another type is made usable first: 2.6 to 3.4."""
    site, function = scope.site, scope.site.function
    first = next(iter(site.body), None)
    if function is None or first is None:
        return
    for arg in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs):
        name = arg.arg
        if name in {"self", "cls"}:
            continue
        for code in ("[]", "{}", '""', "0", "set()"):
            lines = (f"if {name} is None:", f"\t{name} = {code}")
            yield from before(site, first, lines, 2.6)
        for code, cost in (("{0}.strip()", 2.9), ("{0}.lower()", 2.9), ("list({0})", 2.9),
                           ("sorted({0})", 3.0), ("abs({0})", 3.0), ("int({0})", 3.1),
                           ("str({0})", 3.1), ("{0}.strip().lower()", 3.4), ("dict({0})", 3.3),
                           ("{0}.copy()", 3.3), ("set({0})", 3.4), ("{0} or []", 3.0),
                           ("{0} or {{}}", 3.2), ('{0} or ""', 3.2)):  # fmt: skip
            yield from before(site, first, (f"{name} = {code.format(name)}",), cost)
