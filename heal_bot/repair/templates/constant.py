"""Constants: `limit = 10` becomes `limit = 9`, `"a"` becomes `"b"`, `True` becomes `False`.

Integers step by one, turn to 0, 1, -1 or their negative, double or halve, or take a value that a
failing test expects or the function has elsewhere. Text takes expected text, changes case or
edges. Booleans flip. Text becomes bytes, and bytes text. A constant may become a name in scope.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from difflib import get_close_matches

from heal_bot.repair.templates.change_tiers import Tier, assign_tiers, combine_tiers
from heal_bot.repair.templates.mutation_context import MutationContext
from heal_bot.repair.templates.text_edits import ATOM, AWAIT, FEW, UNARY, Mutation, Text, is_short

# What shows that code or a message has to do with bytes.
_BYTES = re.compile(r"\bb[\"']|\bbytes\b|\b(?:en|de)code\(")
# Prefixes beside `b` alone, and escapes that bytes do not have.
_NOT_IN_BYTES = re.compile(r"^(?!b?[\"'])|\\[uUN]")
# What only regular expressions hold.
_PART = re.compile(r"\.[*+?]|\[\^|\\[dwsb]|\(\?")


def _literal(value: object) -> Text:
    negative = isinstance(value, int | float) and not isinstance(value, bool) and value < 0
    code = repr(value)
    if isinstance(value, str) and '"' not in value and "'" not in code[1:-1]:
        code = f'"{code[1:-1]}"'
    return Text(code, UNARY if negative else AWAIT if type(value) in {int, float} else ATOM)


def numbers(scope: MutationContext) -> Iterator[Mutation]:
    """Other numbers for every number."""
    site = scope.site
    own = {n.value for n in site.each(ast.Constant) if type(n.value) is int}
    wanted = [*scope.evidence.of(int), *scope.evidence.of(float)]
    for node in site.each(ast.Constant):
        value = node.value
        if not isinstance(value, int | float) or isinstance(value, bool):
            continue
        near: tuple[object, ...]
        if isinstance(value, int):
            near = (value + 1, value - 1, 0, 1, -value, -1, 2, *sorted(own), *wanted, value * 2,
                    value * 10, value + 2, value - 2, value // 2, value // 10)  # fmt: skip
        else:
            near = (value + 1, value - 1, *wanted, value * 10, value / 10, value * 2, value / 2,
                    -value, 0)  # fmt: skip
        options = dict.fromkeys(near)
        for new, tier in assign_tiers(option for option in options if option != value):
            yield site.put(node, _literal(new), tier)
        parent = site.places[node].parent
        if isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.USub):
            yield site.put(parent, site.text(node), Tier.USUAL)


def booleans(scope: MutationContext) -> Iterator[Mutation]:
    """`True` for `False` and the other way round; None for either."""
    site = scope.site
    for node in site.nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, bool):
            yield site.put(node, Text(str(not node.value)), Tier.USUAL)
            yield site.put(node, Text("None"), Tier.RARE)
        elif isinstance(node, ast.Constant) and node.value is None:
            for code in ("False", "True", "0", '""', "[]", "{}"):
                yield site.put(node, Text(code), Tier.RARE)


def texts(scope: MutationContext) -> Iterator[Mutation]:
    """Other text for every short text: what tests expect, siblings, case, edges, one character."""
    site = scope.site
    own = [n.value for n in site.each(ast.Constant) if isinstance(n.value, str)]
    wanted = [t for t in scope.evidence.of(str) if isinstance(t, str)]
    for node in site.each(ast.Constant):
        value = node.value
        if not isinstance(value, str) or "\n" in site.segment(node):
            continue
        likely = [*own, *get_close_matches(value, scope.around.texts)]
        changes = (value[:-1], value[1:], value.strip(), value + " ", " " + value, value.lower(),
                   value.upper(), value.title(), "", " ")  # fmt: skip
        # Of a regular expression a character at the edge is seldom all that is wrong.
        is_pattern = "re" in scope.around.imports and _PART.search(value)
        edge = Tier.RARE if is_pattern else Tier.USUAL
        options = dict.fromkeys(likely, Tier.USUAL)
        for other, tier in assign_tiers(wanted):
            options.setdefault(other, tier)
        for other, tier in assign_tiers(changes):
            options.setdefault(other, combine_tiers(edge, tier))
        padded = _padded(value) if _is_format(scope, node) else ()
        for other in (*padded, *_grown(value, wanted)):
            options.setdefault(other, Tier.SELDOM)
        options.pop(value, None)
        for code, tier in options.items():
            yield site.put(node, _literal(code), tier)


def encodings(scope: MutationContext) -> Iterator[Mutation]:
    """Text becomes bytes, and bytes text: `sep.join(parts) + "\\n"` to `... + b"\\n"`.

    One literal, or all of their kind in a statement; where the function or a failure has to do with
    bytes.
    """
    site = scope.site
    if not any(map(_BYTES.search, (site.own(site.source.decode()), *scope.evidence.messages))):
        return
    changed: dict[tuple[ast.stmt, type], list[Mutation]] = {}
    for node in site.each(ast.Constant):
        code, place = site.segment(node), site.places[node]
        if not isinstance(node.value, str | bytes) or isinstance(place.parent, ast.JoinedStr):
            continue
        if not is_short(code) or not code.isascii() or _NOT_IN_BYTES.search(code):
            continue
        other = code[1:] if isinstance(node.value, bytes) else f"b{code}"
        one = site.put(node, Text(other), Tier.USUAL)
        changed.setdefault((place.statement, type(node.value)), []).append(one)
        yield one
    for beside in changed.values():
        if len(beside) > 1:
            cuts = tuple(cut for one in beside for cut in one.cuts)
            yield replace(beside[0], cuts=cuts, why=f"{beside[0].why}, and what stands beside it")


def _is_format(scope: MutationContext, node: ast.Constant) -> bool:
    """Whether values are put into a text."""
    place = scope.site.places[node]
    match place.parent:
        case ast.BinOp(op=ast.Mod()):
            return place.field == "left"
        case ast.Attribute(attr="format"):
            return True
    return False


def _padded(value: str) -> Iterator[str]:
    """One field of a format filled with zeros, or with two decimals."""
    for found in re.finditer(r"(?<!%)%[ds]|(?<!\{)\{\}", value):
        ways = ("%02d", "%.2f") if found[0] != "{}" else ("{:02}", "{:.2f}")
        for way in ways:
            yield value[: found.start()] + way + value[found.end() :]


def named(scope: MutationContext) -> Iterator[Mutation]:
    """A constant becomes a name in scope: `return 0` to `return total`."""
    site = scope.site
    kinds = {int: "number", float: "number", str: "text", bool: "boolean"}
    for node in site.each(ast.Constant):
        parent = site.places[node].parent
        if isinstance(parent, ast.Expr | ast.UnaryOp | ast.Dict | ast.MatchValue):
            continue
        kind = kinds.get(type(node.value), "")
        for name in scope.visible(node):
            known = scope.kinds.get(name, set())
            tier = Tier.USUAL if kind in known else Tier.RARE if known else Tier.SELDOM
            yield site.put(node, Text(name), tier)
        for name, value in scope.around.constants.items():
            if isinstance(value, ast.Constant) and type(value.value) is type(node.value):
                yield site.put(node, Text(name), Tier.SELDOM)


def _grown(value: str, wanted: Iterable[str]) -> Iterator[str]:
    """The text with one punctuation mark of the expected texts added or put in place of its own.

    Long texts stay as they are, as do marks of a format.
    """
    marks = dict.fromkeys(c for t in wanted for c in t if not c.isalnum())
    if value and is_short(value):
        for mark in list(marks)[:FEW]:
            yield value + mark
            yield mark + value
            for at, char in enumerate(value):
                if not char.isalnum() and char != mark and char not in "{}%":
                    yield value[:at] + mark + value[at + 1 :]
