"""A change of an expression leaves the brackets that a person would write, and no others."""

from __future__ import annotations

import ast

import pytest

from heal_bot.core.model import Target
from heal_bot.repair.templates.target_ast import survey
from heal_bot.repair.templates.text_edits import SUM, Text, applied, says


@pytest.mark.parametrize(
    ("line", "old", "new", "after"),
    [
        ("return (a + b) // c", "a + b", Text("a + b - 1", SUM), "return (a + b - 1) // c"),
        ("return (a + b) // c", "a + b", Text("a"), "return a // c"),
        ("return c * (a + b)", "a + b", Text("a - b", SUM), "return c * (a - b)"),
        ("return f(a + b)", "a + b", Text("a"), "return f(a)"),
        ("return é(a + b)", "a + b", Text("a"), "return é(a)"),
        ("return a * b", "b", Text("b - 1", SUM), "return a * (b - 1)"),
        ("return 1 if(a or b)else 2", "a or b", Text("a"), "return 1 if(a)else 2"),
        ("return (a,\n        b)", "b", Text("c"), "return (a,\n        c)"),
        ("return (a or b).strip()", "a or b", Text("a"), "return a.strip()"),
    ],
)
def test_brackets_are_neither_doubled_nor_left_around_a_name(
    line: str, old: str, new: Text, after: str
) -> None:
    source = f"def g(a, b, c):\n    {line}\n"
    target = Target("m.py", "g", 0, "function", 1, source.count("\n"), source)
    site = survey(target, source, None)
    node = next(n for n in site.nodes if isinstance(n, ast.expr) and site.segment(n) == old)
    mutation = site.put(node, new, 1.0)
    assert applied(site.source, mutation.cuts).decode() == f"def g(a, b, c):\n    {after}\n"


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("<", "<=", "`<` becomes `<=` on line 3"),
        ("+ 1", "", "`+ 1` is removed on line 3"),
        ("", "yield from", "`yield from` is inserted on line 3"),
    ],
)
def test_a_change_is_told_without_empty_code(old: str, new: str, told: str) -> None:
    assert says(old, new, 3) == told
