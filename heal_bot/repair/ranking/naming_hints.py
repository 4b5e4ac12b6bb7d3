"""What the name and the docstring of a function say against a change: `max` where it says lowest.

A word that says one of two opposites, and none that says the other, speaks for that one alone.
"""

from __future__ import annotations

import ast
import re

from heal_bot.repair.templates.target_ast import TargetAst
from heal_bot.repair.templates.text_edits import Mutation

_AGAINST = 2.0
_MOST, _LEAST = (
    "max maximum maximal most highest largest greatest biggest longest latest newest upper",
    "min minimum minimal least lowest smallest fewest shortest earliest oldest cheapest nearest",
)
# Names in code that are opposites, each with the words that ask for it.
_OPPOSITES = (
    (("max", _MOST), ("min", _LEAST)),
    (("nlargest", _MOST), ("nsmallest", _LEAST)),
    (("any", "any some either"), ("all", "all every each both")),
    (("upper", "upper uppercase capital capitals"), ("lower", "lower lowercase small")),
    (("startswith", "starts begins prefix"), ("endswith", "ends suffix")),
    (("lstrip", "left leading"), ("rstrip", "right trailing")),
    (("ceil", "up ceiling"), ("floor", "down floor")),
)
_WORD = re.compile(r"[a-z]+")


def contradiction_cost(site: TargetAst, change: Mutation) -> float:
    """2.0 for a change to the opposite of what the function's own words ask for, else 0."""
    function = site.function
    if function is None:
        return 0.0
    old: set[str] = set()
    new: set[str] = set()
    for cut in change.cuts:
        old |= _words(site.source[cut.start : cut.end].decode(errors="replace"))
        new |= _words(cut.text)
    for one, other in _OPPOSITES:
        for (name, asked), (opposite, meant) in ((one, other), (other, one)):
            if name in old - new and opposite in new - old:
                told = _told(function)
                return _AGAINST if told & _words(asked) and not told & _words(meant) else 0.0
    return 0.0


def _told(function: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    return _words(f"{function.name} {ast.get_docstring(function) or ''}"[:2000])


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower()))
