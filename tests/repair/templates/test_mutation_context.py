"""Which names of a function nothing reads but what sets them, and the kinds of values."""

from __future__ import annotations

import ast

import pytest

from heal_bot.core.model import Target
from heal_bot.repair.templates.failure_hints import gather
from heal_bot.repair.templates.module_context import ModuleContext
from heal_bot.repair.templates.mutation_context import look, value_kind
from heal_bot.repair.templates.target_ast import survey


@pytest.mark.parametrize(
    ("body", "idle"),
    [
        ("on = False\n    for x in a:\n        on = not on\n    return x", {"on"}),
        ("n = 0\n    n += a\n    return a", {"n"}),
        ('label = a\n    return f"{label}:"', set()),
        ("global total\n    total = total + a", set()),
        ("for i in range(a):\n        print(a)", set()),
        ("return 1", {"a"}),
    ],
)
def test_a_name_is_idle_when_only_its_own_setting_reads_it(body: str, idle: set[str]) -> None:
    source = f"def f(a):\n    {body}\n"
    target = Target("m.py", "f", 0, "function", 1, source.count("\n"), source)
    assert look(survey(target, source, None), ModuleContext(), gather([])).idle == idle


@pytest.mark.parametrize(
    ("code", "kind"),
    [("a or {}", "mapping"), ("a or b or []", "sequence"), ("a and {}", ""), ("a or b", ""),
     ("[a] if a else []", "sequence"), ("a if a else 0", ""), ("1 if a else 0", "number")],
)  # fmt: skip
def test_a_choice_is_of_the_kind_of_what_it_falls_back_on(code: str, kind: str) -> None:
    assert value_kind(ast.parse(code, mode="eval").body) == kind
