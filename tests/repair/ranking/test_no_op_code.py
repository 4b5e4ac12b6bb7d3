"""Where code plainly does nothing, a change elsewhere is hardly believed."""

from __future__ import annotations

import pytest

from heal_bot.core.model import Target
from heal_bot.repair.ranking.no_op_code import elsewhere_cost, find_gaps
from heal_bot.repair.templates.failure_hints import gather
from heal_bot.repair.templates.module_context import ModuleContext
from heal_bot.repair.templates.mutation_context import MutationContext, look
from heal_bot.repair.templates.priced_enumeration import order
from heal_bot.repair.templates.target_ast import survey

SILENT = "def f(a):\n    for x in a:\n        if x:\n            pass\n    return a\n"


def _scope(source: str, heat: dict[int, float] | None = None) -> MutationContext:
    count = len(source.splitlines())
    target = Target("m.py", "f", 0, "function", 1, count, source)
    lines = heat if heat is not None else dict.fromkeys(range(2, count + 1), 1.0)
    return look(survey(target, source, lines), ModuleContext(), gather([]))


@pytest.mark.parametrize(
    ("source", "held"),
    [
        (SILENT, "pass"),
        ("def f(a):\n    g(a)\n    pass\n    return a\n", "pass"),
        ("def f(a):\n    if False:\n        return 1\n    return a\n", "if False:"),
        ("def f(a):\n    if a:\n        pass\n    else:\n        g(a)\n    return a\n", ""),
        ("def f(a):\n    try:\n        g(a)\n    except ValueError:\n        pass\n", ""),
        ("def f(a):\n    pass\n", ""),
        ("def f(a):\n    while True:\n        g(a)\n", ""),
    ],
)
def test_a_gap_is_a_statement_that_does_nothing_where_it_stands(source: str, held: str) -> None:
    scope = _scope(source)
    found = [scope.site.source[first:last].decode() for first, last in find_gaps(scope)]
    assert [text.partition("\n")[0] for text in found] == ([held] if held else [])


def test_a_gap_that_no_failing_test_comes_by_is_none() -> None:
    assert find_gaps(_scope(SILENT, {2: 1.0, 3: 1.0, 5: 1.0})) == ()


def test_what_fills_a_gap_is_believed_and_what_leaves_it_is_not() -> None:
    scope = _scope(SILENT)
    holes = {id(scope): find_gaps(scope)}
    costs: dict[str, set[float]] = {}
    for idea in order([(scope, 0.0)]):
        costs.setdefault(idea.family.name, set()).add(elsewhere_cost(idea, holes))
    assert costs["placeholder"] == {0.0}
    assert costs["variable"] == {2.0}


def test_a_condition_that_stays_constant_fills_no_gap() -> None:
    scope = _scope("def f(a):\n    if True:\n        a = a[1:]\n    return a\n")
    holes = {id(scope): find_gaps(scope)}
    costs = {
        idea.change.cuts[0].text: elsewhere_cost(idea, holes)
        for idea in order([(scope, 0.0)])
        if idea.change.why.startswith("`True` becomes")
    }
    assert (costs["False"], costs["a"]) == (2.0, 0.0)
