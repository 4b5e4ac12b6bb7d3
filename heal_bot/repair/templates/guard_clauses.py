"""Guards: a function that fails on None or on an empty value leaves early.

`if items is None: return None` comes before the first statement, seldom before another; a loop
gets `continue` or `break`. The condition is an `is None`, an emptiness, a comparison with 0 or a
type test.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from heal_bot.repair.templates.change_tiers import Tier, assign_tiers, combine_tiers
from heal_bot.repair.templates.mutation_context import MutationContext, value_kind
from heal_bot.repair.templates.statement_insertion import before
from heal_bot.repair.templates.text_edits import FEW, Mutation, is_short

# How a TypeError says that a value is no container.
_NO_CONTAINER = re.compile(r"object is not (?:iterable|subscriptable)|has no len\(\)")
_WORD = re.compile(r"[A-Za-z_]\w*")
# What a parameter is turned into, the likeliest first.
_USABLE = ("{0}.strip()", "{0}.lower()", "list({0})", "sorted({0})", "abs({0})", "{0} or []",
           "int({0})", "str({0})", "{0} or {{}}", '{0} or ""', "dict({0})", "{0}.copy()",
           "set({0})", "{0}.strip().lower()")  # fmt: skip
_EMPTY = {"sequence": "[]", "text": '""', "mapping": "{}", "number": "0", "boolean": "False",
          "set": "set()"}  # fmt: skip


def leaves(scope: MutationContext) -> list[tuple[str, Tier]]:
    """Ways to leave a function early, the likely first."""
    site = scope.site
    ways: dict[str, None] = {}
    kinds: dict[str, None] = {}
    for path in site.each(ast.Return):
        if path.value is None:
            ways["return"] = None
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
            ways[f"return {site.segment(path.value)}"] = None
    expected = scope.evidence.constants[:FEW]
    told = [repr(e) for e in expected if is_short(repr(e))]
    plain = ("None", "0", "1", "[]", '""', "{}", "False", "True", "-1")
    for code in (*kinds, *scope.unused, *scope.evidence.empty, *told, *plain):
        ways[f"return {code}"] = None
    return list(assign_tiers(ways))


def conditions(scope: MutationContext, node: ast.AST) -> list[tuple[str, Tier]]:
    """Conditions on the names in scope that a guard may ask for."""
    found: list[tuple[str, Tier]] = []
    none = bool({"AttributeError", "TypeError"} & scope.evidence.kinds)
    zero = "ZeroDivisionError" in scope.evidence.kinds
    for name, far in assign_tiers(scope.visible(node)[:FEW]):
        known = scope.kinds.get(name, set())
        asked = [(f"{name} is None", Tier(not none)), (f"not {name}", Tier.USUAL)]
        if "number" in known or not known:
            asked.append((f"{name} == 0", Tier(not zero)))
            asked += [(f"{name} {sign}", Tier.SELDOM) for sign in ("< 0", "<= 0")]
            asked += [(f"{name} {sign}", Tier.RARE) for sign in ("== 1", "< 2")]
        if known & {"sequence", "text"} or not known:
            asked += [(f"len({name}) {sign}", Tier.RARE) for sign in ("< 2", "== 1")]
        found += [(code, combine_tiers(tier, far)) for code, tier in asked]
    found += _attribute_conditions(scope, none)
    if any(_NO_CONTAINER.search(message) for message in scope.evidence.messages):
        for name, far in assign_tiers(scope.visible(node)[:FEW]):
            for kind, tier in assign_tiers(("list", "(list, tuple)", "dict", "str")):
                found.append((f"not isinstance({name}, {kind})", combine_tiers(tier, far)))
    return found


def _attribute_conditions(scope: MutationContext, none: bool) -> list[tuple[str, Tier]]:
    """Conditions on attributes and items that the function reads."""
    codes: dict[str, None] = {}
    for node in scope.site.nodes:
        match node:
            case ast.Attribute(value=ast.Name(), ctx=ast.Load()) | ast.Subscript(ctx=ast.Load()):
                code = scope.site.segment(node)
                if not scope.site.is_called(node) and is_short(code):
                    codes[code] = None
    found = []
    for code in list(codes)[:FEW]:
        found.append((f"{code} is None", Tier.SELDOM if none else Tier.RARE))
        found.append((f"not {code}", Tier.SELDOM))
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
        loop = next((a for a in scope.above(anchor) if isinstance(a, ast.For | ast.While)), None)
        exits = ways if anchor is first else ways[:FEW]
        if loop is not None:
            exits = [("continue", Tier.USUAL), ("break", Tier.USUAL), *exits]
        for condition, asked in conditions(scope, anchor):
            # A round that crashes on what it was given is usually one to leave out.
            spared = crash and loop is not None and _is_of(loop, condition)
            for way, left in exits:
                late = Tier(anchor is not first and not (spared and way == "continue"))
                tier = combine_tiers(late, asked, left)
                yield from before(site, anchor, (f"if {condition}:", f"\t{way}"), tier)


def _is_of(loop: ast.For | ast.While, condition: str) -> bool:
    """Whether a condition asks for a value that every round has anew."""
    names = [n for n in ast.walk(loop) if isinstance(n, ast.Name)]
    stored = {n.id for n in names if isinstance(n.ctx, ast.Store)}
    return any(name in stored for name in _WORD.findall(condition))


def defaults(scope: MutationContext) -> Iterator[Mutation]:
    """A parameter that may be None or of another type is made usable first."""
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
            yield from before(site, first, lines, Tier.USUAL)
        for code, tier in assign_tiers(_USABLE):
            yield from before(site, first, (f"{name} = {code.format(name)}",), tier)
