"""f-strings: `f"{first} {first}"` becomes `f"{first} {last}"`, `f"{x:.1f}"` `f"{x:.2f}"`.

A name in a field costs 2.2, a number in a format 2.0, an operator or number in a field 2.2, the
fixed text 2.6. The f-string is written anew as a whole, since positions inside one are not
reliable before Python 3.12; it keeps its kind of quotes where its content allows.
"""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Callable, Iterator

from heal_bot.repair.templates.constant import grown
from heal_bot.repair.templates.mutation_context import MutationContext
from heal_bot.repair.templates.text_edits import Mutation, Text

_OPPOSITE: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mod, ast.Mod: ast.FloorDiv,
}  # fmt: skip


def fields(scope: MutationContext) -> Iterator[Mutation]:
    """One name, number, operator, format or piece of text of an f-string changes."""
    for node in scope.site.each(ast.JoinedStr):
        if "\n" in scope.site.segment(node):
            continue
        for index, part in enumerate(ast.walk(node)):
            for cost, turn in _turns(scope, node, part):
                made = copy.deepcopy(node)
                turn(list(ast.walk(made))[index])
                code = _written(made, scope.site.segment(node))
                if code is not None:
                    yield scope.site.put(node, Text(code), cost)


_Turn = Callable[[ast.AST], None]


def _set(name: str, value: object) -> _Turn:
    return lambda node: setattr(node, name, value)


def _turns(
    scope: MutationContext, node: ast.JoinedStr, part: ast.AST
) -> Iterator[tuple[float, _Turn]]:
    """What may happen to one node inside an f-string, with its cost."""
    match part:
        case ast.Name(id=name):
            for other in scope.visible(node):
                if other != name:
                    yield 2.2 + scope.clash(name, other) / 2, _set("id", other)
        case ast.Attribute(attr=name):
            for other in scope.around.attributes:
                if other != name and other not in scope.around.methods:
                    yield 2.8, _set("attr", other)
        case ast.Constant(value=str(text)):
            for cost, other in _texts(scope, text):
                yield cost, _set("value", other)
        case ast.Constant(value=int(number)) if not isinstance(number, bool):
            for step in (1, -1):
                yield 2.2, _set("value", number + step)
        case ast.BinOp(op=op) if type(op) in _OPPOSITE:
            yield 2.2, _set("op", _OPPOSITE[type(op)]())
        case ast.FormattedValue(conversion=conversion, format_spec=spec):
            yield 2.6, _set("conversion", -1 if conversion != -1 else ord("r"))
            if spec is not None:
                yield 2.6, _set("format_spec", None)
            for code in ("02d", ".2f", ".1f", ",", "03d", "d", "%"):
                added = ast.JoinedStr(values=[ast.Constant(value=code)])
                yield 2.8 if spec is None else 3.2, _set("format_spec", added)


def _texts(scope: MutationContext, text: str) -> Iterator[tuple[float, str]]:
    """Other fixed text or format: digits by one, a mark that tests expect, edges, case."""
    for found in re.finditer(r"\d+", text):
        for step in (1, -1):
            value = int(found[0]) + step
            if value >= 0:
                digits = str(value).zfill(len(found[0]))
                yield 2.0, text[: found.start()] + digits + text[found.end() :]
    for other in grown(text, (t for t in scope.evidence.of(str) if isinstance(t, str))):
        yield 2.6, other
    for other in (text.strip(), text + " ", " " + text, text.lower(), text.upper(), text + "s",
                  text.removesuffix("s")):  # fmt: skip
        if other != text:
            yield 2.7, other


def _written(node: ast.JoinedStr, old: str) -> str | None:
    """The source of an f-string, in the quotes it had; None where it cannot be written."""
    try:
        code = ast.unparse(node)
    except ValueError:
        return None
    body = code[2:-1]
    if old[:2] == 'f"' and code[:2] == "f'" and '"' not in body and "\\" not in body:
        return f'f"{body}"'
    return code
