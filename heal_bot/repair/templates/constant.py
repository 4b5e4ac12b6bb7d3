"""Constants: `limit = 10` becomes `limit = 9`, `"a"` becomes `"b"`, `True` becomes `False`.

Integers step by one (1.3), turn to 0, 1, -1 or their negative, double or halve, or take a value
that a failing test expects or a sibling uses (1.8 to 2.6). Text takes expected text, changes case
or edges. Booleans flip (1.2). A constant may become a name in scope (2.6).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from difflib import get_close_matches

from heal_bot.repair.templates.mutation_context import MutationContext
from heal_bot.repair.templates.text_edits import Mutation, Text

# What only regular expressions hold.
_PART = re.compile(r"\.[*+?]|\[\^|\\[dwsb]|\(\?")


def _literal(value: object) -> Text:
    negative = isinstance(value, int | float) and not isinstance(value, bool) and value < 0
    code = repr(value)
    if isinstance(value, str) and '"' not in value and "'" not in code[1:-1]:
        code = f'"{code[1:-1]}"'
    return Text(code, 13 if negative else 15 if type(value) in {int, float} else 16)


def numbers(scope: MutationContext) -> Iterator[Mutation]:
    """Other numbers for every number."""
    site = scope.site
    own = {n.value for n in site.each(ast.Constant) if type(n.value) is int}
    wanted = [*scope.evidence.of(int), *scope.evidence.of(float)]
    for node in site.each(ast.Constant):
        if type(node.value) not in {int, float}:
            continue
        value = node.value
        if not isinstance(value, int | float):
            continue
        if isinstance(site.places[node].parent, ast.UnaryOp):
            yield from _signs(scope, node)
        options: dict[object, float] = {}
        if isinstance(value, int):
            near = {value + 1: 1.3, value - 1: 1.3, 0: 1.6, 1: 1.6, -value: 2.0, -1: 2.2, 2: 2.2,
                    value * 2: 2.6, value // 2: 2.8, value * 10: 2.6, value // 10: 2.8,
                    value + 2: 2.6, value - 2: 2.6}  # fmt: skip
            for option, cost in near.items():
                options.setdefault(option, cost)
            for option in sorted(own):
                options.setdefault(option, 2.4)
        else:
            beside = (
                value + 1,
                value - 1,
                value * 10,
                value / 10,
                value * 2,
                value / 2,
                -value,
                0.0,
            )
            for other in beside:
                options.setdefault(other, 2.2)
        for rank, expected in enumerate(wanted):
            options.setdefault(expected, 2.6 + rank * 0.1)
        for new, cost in options.items():
            if new != value:
                yield site.put(node, _literal(new), cost)


def _signs(scope: MutationContext, node: ast.Constant) -> Iterator[Mutation]:
    parent = scope.site.places[node].parent
    if isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.USub):
        yield scope.site.put(parent, scope.site.text(node), 1.6)


def booleans(scope: MutationContext) -> Iterator[Mutation]:
    """`True` for `False` and the other way round; None for either."""
    site = scope.site
    for node in site.nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, bool):
            yield site.put(node, Text(str(not node.value)), 1.2)
            yield site.put(node, Text("None"), 3.2)
        elif isinstance(node, ast.Constant) and node.value is None:
            for code in ("False", "True", "0", '""', "[]", "{}"):
                yield site.put(node, Text(code), 3.0)


def texts(scope: MutationContext) -> Iterator[Mutation]:
    """Other text for every short text: what tests expect, siblings, case, edges, one character."""
    site = scope.site
    own = [n.value for n in site.each(ast.Constant) if isinstance(n.value, str)]
    wanted = [t for t in scope.evidence.of(str) if isinstance(t, str)]
    elsewhere = scope.around.texts
    for node in site.each(ast.Constant):
        if not isinstance(node.value, str):
            continue
        value = node.value
        if len(value) > 200 or "\n" in site.segment(node):
            continue
        options: dict[str, float] = {}
        for other in own:
            options.setdefault(other, 2.2)
        for rank, other in enumerate(wanted):
            options.setdefault(other, 2.2 + rank * 0.15)
        if len(value) > 2:
            for other in get_close_matches(value, elsewhere, n=4, cutoff=0.75):
                options.setdefault(other, 2.2)
        changes = (value[:-1], value[1:], value.strip(), value + " ", " " + value, value.lower(),
                   value.upper(), value.title(), "", " ")  # fmt: skip
        # Of a regular expression a character at the edge is seldom all that is wrong.
        edge = 3.4 if "re" in scope.around.imports and _PART.search(value) else 2.2
        for rank, other in enumerate(changes):
            options.setdefault(other, edge + rank * 0.12)
        for other in _padded(value) if _is_format(scope, node) else ():
            options.setdefault(other, 2.6)
        for other in _grown(value, wanted) if value else ():
            options.setdefault(other, 2.8)
        for code, cost in options.items():
            if code != value:
                yield site.put(node, _literal(code), cost)


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
    """A constant becomes a name in scope, 2.6: `return 0` to `return total`."""
    site = scope.site
    kinds = {int: "number", float: "number", str: "text", bool: "boolean"}
    for node in site.each(ast.Constant):
        parent = site.places[node].parent
        if isinstance(parent, ast.Expr | ast.UnaryOp | ast.Dict | ast.MatchValue):
            continue
        kind = kinds.get(type(node.value), "")
        for rank, name in enumerate(scope.visible(node)):
            known = scope.kinds.get(name, set())
            fits = 0.0 if kind in known else 0.4 if not known else 1.2
            yield site.put(node, Text(name), 2.6 + fits + rank * 0.05)
        for name, value in scope.around.constants.items():
            if isinstance(value, ast.Constant) and type(value.value) is type(node.value):
                yield site.put(node, Text(name), 3.4)


def _grown(value: str, wanted: Iterable[str]) -> Iterator[str]:
    """The text with one punctuation mark of the expected texts added or put in place of its own.

    Long texts stay as they are, as do marks of a format.
    """
    marks = dict.fromkeys(c for t in wanted for c in t[:80] if not c.isalnum())
    if len(value) <= 24:
        for mark in list(marks)[:8]:
            yield value + mark
            yield mark + value
            for at, char in enumerate(value):
                if not char.isalnum() and char != mark and char not in "{}%":
                    yield value[:at] + mark + value[at + 1 :]
