"""Sources that rules must not stumble over, and edits that must leave the rest of a line alone."""

from __future__ import annotations

import ast
import itertools

import pytest

from heal_bot.core.model import Failure, Target
from heal_bot.repair.templates import exception_templates, priced_enumeration
from heal_bot.repair.templates.failure_hints import gather
from heal_bot.repair.templates.module_context import explore
from heal_bot.repair.templates.mutation_context import MutationContext, look
from heal_bot.repair.templates.target_ast import survey
from heal_bot.repair.templates.template_table import FAMILIES, Template
from heal_bot.repair.templates.text_edits import applied

DEEP = " + ".join(["a"] * 1200)
WORDS = " + ".join(['"s"'] * 500)
ODD = {
    "slices": "def f(a, x):\n    a[:, 0] = x\n    del a[1:2, ...]\n    return a\n",
    "star": "def f(out, p):\n    out.append(*p)\n    return out\n",
    "walrus": "def f(out, xs):\n    out.append(k := len(xs))\n    return out, k\n",
    "a deep sum in the module": f"def f(a):\n    return a - 1\n\n\na = 1\nX = {DEEP}\n",
    "a long text": f"def f(x):\n    k = 0\n    if k < x:\n        return {WORDS}\n    return k\n",
    "a lambda": "def f(out, r):\n    for z in r:\n        out.append(lambda z: z // 3)\n",
    "texts": 'def f(rows):\n    for r in rows:\n        print("%s %s" % (r, 1))\n    return rows\n',
    "non-ASCII": 'def f(ß, out):\n    out.append(ß)  # größer\n    return "ä"\n',
    "tabs": "def f(a, out):\n\tfor x in a:\n\t\tout.append(x)\n\treturn out\n",
}


def _scope(text: str) -> MutationContext:
    """The function at the top of a module, and what stands around it."""
    node = ast.parse(text).body[0]
    lines = text.splitlines(keepends=True)
    last = node.end_lineno or 1
    target = Target("shop.py", "f", 0, "function", 1, last, "".join(lines[:last]))

    class Tree:
        def read(self, path: str) -> bytes:
            return text.encode()

    found = explore(Tree(), target)  # type: ignore[arg-type]
    return look(survey(target, target.source, None), found, gather([Failure("t::t", "E", "")]))


def _texts(text: str, name: str) -> list[str]:
    scope = _scope(text)
    (family,) = [f for f in FAMILIES if f.name == name]
    return [applied(scope.site.source, c.cuts).decode() for c in family.changes(scope)]


@pytest.mark.parametrize("text", ODD.values(), ids=ODD)
def test_no_family_stumbles_over_an_odd_source(text: str) -> None:
    scope = _scope(text)
    made = sum(len([*itertools.islice(f.changes(scope), 200)]) for f in FAMILIES)
    assert made > 0
    for each in _texts(text, "missing condition"):
        ast.parse(each)


def test_a_family_that_gives_up_leaves_the_others_and_says_so() -> None:
    def stumble(scope):
        raise RecursionError("maximum recursion depth exceeded")
        yield

    told: list[str] = []
    families = (Template("odd", stumble), FAMILIES[0])
    scope = _scope("def f(a, b):\n    return a < b\n")
    found = priced_enumeration.order(
        [(scope, 0.0)], families, skipped=lambda _, family, error: told.append(family.name)
    )
    assert {idea.family.name for idea in found} == {FAMILIES[0].name}
    assert told == ["odd"]


def test_a_condition_keeps_the_comment_and_the_text_of_its_line() -> None:
    text = "def f(a, x):\n    a.append(x)  # keep: noqa\n    return a\n"
    found = _texts(text, "missing condition")
    assert any("if x not in a:\n        a.append(x)  # keep: noqa\n" in each for each in found)
    assert all("# keep: noqa" in each for each in found)


@pytest.mark.parametrize("gap", ["  ", "\t", " \t"])
def test_a_line_that_crashed_keeps_its_comment_under_its_condition(gap: str) -> None:
    text = f"def f(x, k):\n    x[k].run(){gap}# why\n    return x\n"
    changes = exception_templates.keys(_scope(text))
    found = {applied(text.encode(), change.cuts).decode() for change in changes}
    line = f"    if k in x:\n        x[k].run(){gap.replace(chr(9), ' ')}# why\n"
    assert any(line in each for each in found)


def test_the_branch_before_takes_a_key_that_is_missing() -> None:
    text = "def f(x, k, a):\n    if k is None:\n        a.add(k)\n    else:\n        x[k].add(a)\n"
    found = {
        applied(text.encode(), change.cuts).decode()
        for change in exception_templates.keys(_scope(text))
    }
    assert text.replace("k is None", "k is None or k not in x") in found


@pytest.mark.parametrize("value", ["x if y else 1", "lambda: x", "x.pop()", "x or y", "await_(x)"])
def test_no_condition_asks_for_what_changes_or_binds_weaker(value: str) -> None:
    text = f"def f(a, x, y, await_):\n    a.append({value})\n    return a\n"
    assert not any(f"{value} not in" in each for each in _texts(text, "missing condition"))


def test_no_condition_hides_the_first_value_of_a_name() -> None:
    text = "def f(g, x):\n    t = g(x)\n    return t\n"
    assert not any("\n        t = g(x)" in each for each in _texts(text, "missing condition"))


def test_fills_stay_few_where_constants_are_many() -> None:
    block = "    k{n} = {v}\n    for x in xs:\n        if x > k{n}:\n            out.append(x)\n"
    text = "def f(xs, out):\n" + "".join(block.format(n=n, v=n + 5) for n in range(20))
    text += "    return out\n"
    assert _texts(text, "never filled") == []
