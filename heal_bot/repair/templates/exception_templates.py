"""Templates per exception type: what usually ends this crash.

KeyError: `d[k]` to `d.get(k)` (in `lookup`) or `if k in d:` around it. NameError: the closest name
in scope. UnboundLocalError: the name gets a value first. ZeroDivisionError: `a / b if b else 0`.
TypeError: `str(...)` around the operands of `+`. AttributeError: the closest attribute, or
`x and x.y`. StopIteration: a default for `next`. RuntimeError of a container that changed while it
was gone through: a copy is. Nothing is proposed for other failures; a missing
import is a family of its own.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator
from difflib import get_close_matches

from heal_bot.repair.templates.change_tiers import Tier, assign_tiers, combine_tiers
from heal_bot.repair.templates.default_values import extra
from heal_bot.repair.templates.guard_clauses import leaves
from heal_bot.repair.templates.module_context import BUILTINS
from heal_bot.repair.templates.mutation_context import MutationContext
from heal_bot.repair.templates.statement_insertion import before, under
from heal_bot.repair.templates.text_edits import (
    AND,
    BIT_OR,
    FEW,
    LAMBDA,
    NOT,
    OR,
    TERNARY,
    Mutation,
    Text,
    TextEdit,
    call,
    says,
)

_CHANGED = re.compile(r"(?:changed size|mutated|keys changed) during iteration")
_ABSENT = re.compile(r"has no attribute '(\w{1,80})'")


def names(scope: MutationContext) -> Iterator[Mutation]:
    """An undefined name becomes one in scope, the closest first, or an attribute of `self`."""
    site, receiver = scope.site, scope.receiver()
    missing = scope.evidence.unbound()
    for node in site.each(ast.Name):
        if node.id not in missing:
            continue
        near = [name for name in scope.visible(node) if name != node.id]
        known = dict.fromkeys([*near, *scope.around.globals(), *sorted(BUILTINS)])
        known.pop(node.id, None)
        if receiver and node.id in {*scope.around.attributes, *scope.around.methods}:
            yield site.put(node, Text(f"{receiver}.{node.id}"), Tier.USUAL)
        for name, tier in assign_tiers(dict.fromkeys([*_find_close(node.id, known), *near])):
            yield site.put(node, Text(name), tier)


def _find_close(name: str, known: Iterable[str]) -> list[str]:
    """Names spelled like one that is missing: it was meant for something, so many are looked at."""
    return get_close_matches(name, known, n=FEW, cutoff=0.5)


def attributes(scope: MutationContext) -> Iterator[Mutation]:
    """An absent attribute becomes the closest one that the module spells."""
    site = scope.site
    missing = {a for m in scope.evidence.messages for a in _ABSENT.findall(m)}
    spelled = {n.attr for n in site.each(ast.Attribute)}
    methods = {m for kind in (str, list, dict, set) for m in dir(kind) if m[0] != "_"}
    module = {*scope.around.attributes, *scope.around.methods, *scope.around.spelled}
    known = sorted({*module, *spelled, *methods} - missing)
    none = any("'NoneType'" in m for m in scope.evidence.messages)
    for node in site.each(ast.Attribute):
        if node.attr not in missing:
            continue
        end, line = site.end(node), site.line(node)
        for name, tier in assign_tiers(_find_close(node.attr, known)):
            cut = TextEdit(end - len(node.attr.encode()), end, name)
            yield Mutation((cut,), tier, line, says(f".{node.attr}", f".{name}", line))
        if none and isinstance(node.ctx, ast.Load):
            yield from _not_none(scope, node)


def _not_none(scope: MutationContext, node: ast.Attribute) -> Iterator[Mutation]:
    """The use of a value that may be None becomes conditional."""
    site = scope.site
    place = site.places[node]
    whole: ast.expr = node
    if isinstance(place.parent, ast.Call) and place.field == "func":
        whole = place.parent
    yield from _tested(scope, node)
    if not isinstance(site.places[whole].parent, ast.Expr):
        head, code = site.text(node.value), site.text(whole)
        for test in (head.at(OR), f"{head.at(BIT_OR)} is not None"):
            for default in ("None", '""', "[]", "0", "False"):
                made = Text(f"{code.at(OR)} if {test} else {default}", TERNARY)
                yield site.put(whole, made, Tier.SELDOM)
        if isinstance(node.value, ast.Name):
            yield site.put(node.value, Text(f"({node.value.id} or '')"), Tier.RARE)
    yield from _wrapped(scope, node, f"{site.segment(node.value)} is not None")


def _tested(scope: MutationContext, node: ast.Attribute) -> Iterator[Mutation]:
    """The condition around the use asks for None first."""
    site = scope.site
    tests = (n for n in scope.ancestors(node) if site.is_test(n))
    test = next(tests, None)
    if isinstance(test, ast.expr):
        head, old = site.text(node.value), site.text(test)
        yield site.put(test, Text(f"{head.at(BIT_OR)} is None or {old.at(OR)}", OR), Tier.SELDOM)
        for there in (f"{head.at(BIT_OR)} is not None", head.at(AND)):
            yield site.put(test, Text(f"{there} and {old.at(AND)}", AND), Tier.SELDOM)


def _wrapped(scope: MutationContext, node: ast.expr, condition: str) -> Iterator[Mutation]:
    """The statement of a node runs only under a condition."""
    site = scope.site
    statement = site.places[node].statement
    if isinstance(statement, ast.Assign | ast.AugAssign | ast.Expr | ast.Return | ast.Delete):
        yield from under(site, statement, condition, Tier.SELDOM)


def _taken_before(scope: MutationContext, node: ast.expr, condition: str) -> Iterator[Mutation]:
    """The branch before an `else` is taken as well where the use in the `else` would crash."""
    site = scope.site
    statement = site.places[node].statement
    owner = site.places[statement].parent
    if isinstance(owner, ast.If) and statement in owner.orelse and "\n" not in condition:
        either = Text(f"{site.text(owner.test).at(OR)} or {condition}", OR)
        yield site.put(owner.test, either, Tier.SELDOM)


def keys(scope: MutationContext) -> Iterator[Mutation]:
    """The use of a key that may be missing gets a test or a first value."""
    site = scope.site
    for node in site.nodes:
        match node:
            case ast.Subscript(value=value, slice=ast.Name() | ast.Constant() as key):
                head, inner = site.segment(value), site.segment(key)
                yield from _taken_before(scope, node, f"{inner} not in {head}")
                yield from _wrapped(scope, node, f"{inner} in {head}")
                statement = site.places[node].statement
                for code in ("0", "[]", "{}", "set()", '""', "None"):
                    line = f"{head}.setdefault({inner}, {code})"
                    tier = combine_tiers(Tier.SELDOM, extra(scope, node, code))
                    yield from before(site, statement, (line,), tier)
                for way, _ in leaves(scope)[:FEW]:
                    lines = (f"if {inner} not in {head}:", f"\t{way}")
                    yield from before(site, statement, lines, Tier.RARE)


def zeros(scope: MutationContext) -> Iterator[Mutation]:
    """A division happens only for a divisor that is not zero."""
    site = scope.site
    for node in site.nodes:
        match node:
            case ast.BinOp(op=ast.Div() | ast.FloorDiv() | ast.Mod(), right=right):
                if isinstance(right, ast.Constant):
                    continue
                divisor, whole = site.text(right), site.text(node)
                for default in ("0", "0.0", "None", "1"):
                    made = Text(f"{whole.at(OR)} if {divisor.at(OR)} else {default}", TERNARY)
                    yield site.put(node, made, Tier.SELDOM)
                statement = site.places[node].statement
                for way, more in leaves(scope)[:FEW]:
                    tier = combine_tiers(Tier.SELDOM, more)
                    for condition in (f"{divisor.at(BIT_OR)} == 0", f"not {divisor.at(NOT)}"):
                        lines = (f"if {condition}:", f"\t{way}")
                        yield from before(site, statement, lines, tier)
                yield site.put(right, call("max", divisor, Text("1")), Tier.SELDOM)


def unbound(scope: MutationContext) -> Iterator[Mutation]:
    """A name that has no value on some path gets one before the first statement that may miss."""
    site = scope.site
    for name in sorted(scope.evidence.unbound()):
        for word in ("global", "nonlocal"):
            for anchor in site.body[:1]:
                yield from before(site, anchor, (f"{word} {name}",), Tier.USUAL)
        for code in ("None", "0", "[]", "{}", '""', "False", "True", "1", "set()"):
            for anchor in site.body[:FEW]:
                yield from before(site, anchor, (f"{name} = {code}",), Tier.SELDOM)


def types(scope: MutationContext) -> Iterator[Mutation]:
    """Operands of different types meet: text and number, list and tuple, None and anything."""
    site = scope.site
    for node in site.nodes:
        if not isinstance(node, ast.BinOp | ast.Compare):
            continue
        sides = [node.left, *([node.right] if isinstance(node, ast.BinOp) else node.comparators)]
        for side in sides:
            if isinstance(side, ast.Constant | ast.JoinedStr):
                continue
            value = site.text(side)
            for name, tier in assign_tiers(("str", "int", "float", "list", "tuple", "len")):
                yield site.put(side, call(name, value), tier)
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
                yield site.put(side, Text(f"[{value.at(LAMBDA)}]"), Tier.SELDOM)
            for default in ("0", '""', "[]"):
                yield site.put(side, Text(f"({value.at(OR)} or {default})"), Tier.SELDOM)
    for node in site.nodes:
        if isinstance(node, ast.Call) and not isinstance(site.places[node].parent, ast.Expr):
            yield site.put(node, call("list", site.text(node)), Tier.SELDOM)


def iterators(scope: MutationContext) -> Iterator[Mutation]:
    """`next(it)` gets a default, an empty sequence one for `max` and `min`."""
    site = scope.site
    for node in site.nodes:
        match node:
            case ast.Call(func=ast.Name(id="next" | "max" | "min" as name), args=[only]):
                key = "" if name == "next" else "default="
                end = site.end(only)
                for default in ("None", "0", '""', "[]"):
                    why = f"`{name}` gets the default {default} on line {site.line(node)}"
                    if isinstance(only, ast.GeneratorExp):
                        code = f"{name}({site.text(only).code}, {key}{default})"
                        yield site.put(node, Text(code), Tier.USUAL)
                    else:
                        cut = TextEdit(end, end, f", {key}{default}")
                        yield Mutation((cut,), Tier.USUAL, site.line(node), why)


def changing(scope: MutationContext) -> Iterator[Mutation]:
    """What changes while it is gone through is copied first: `for k in d` to `for k in list(d)`."""
    site = scope.site
    if not any(_CHANGED.search(message) for message in scope.evidence.messages):
        return
    for node in site.nodes:
        place = site.places[node]
        waits = isinstance(place.parent, ast.AsyncFor) or bool(
            getattr(place.parent, "is_async", False)
        )
        if place.field == "iter" and not waits:
            yield site.put(node, call("list", site.text(node)), Tier.USUAL)


_BY_KIND: tuple[tuple[frozenset[str], Callable[[MutationContext], Iterator[Mutation]]], ...] = (
    (frozenset({"NameError", "UnboundLocalError", "ImportError"}), names),
    (frozenset({"UnboundLocalError", "NameError"}), unbound),
    (frozenset({"AttributeError"}), attributes),
    (frozenset({"KeyError"}), keys),
    (frozenset({"ZeroDivisionError"}), zeros),
    (frozenset({"TypeError"}), types),
    (frozenset({"StopIteration", "ValueError", "RuntimeError"}), iterators),
    (frozenset({"RuntimeError"}), changing),
)


def templates(scope: MutationContext) -> Iterator[Mutation]:
    """The templates of all exception types that the failures show."""
    for kinds, make in _BY_KIND:
        if kinds & scope.evidence.kinds:
            yield from make(scope)
