"""Many changes in one process: what one leaves in the project's modules answers for no other."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from heal_bot.events import Run
from heal_bot.model import Environment
from heal_bot.sandbox import verdict
from heal_bot.sandbox.suite import SuiteRunner

pytestmark = pytest.mark.long

HEAD = "import collections, functools\n"
TESTS = "import m\ndef test_f():\n    assert m.f(4) == 16\n"
# What remembers, and the head and body of a function that it remembers for; `{}` is the formula.
KEEPERS = {
    "a memo of the library": ("", "@functools.lru_cache(maxsize=None)\ndef f(n):\n    return {}\n"),
    "a dict of the module": (
        "MEMO = {}\n",
        "def f(n):\n    if n not in MEMO:\n        MEMO[n] = {}\n    return MEMO[n]\n",
    ),
    "a memo of the project": (
        "def memo(g):\n    seen = {}\n    @functools.wraps(g)\n    def call(n):\n"
        "        if n not in seen:\n            seen[n] = g(n)\n        return seen[n]\n"
        "    return call\n",
        "@memo\ndef f(n):\n    return {}\n",
    ),
    "a default": ("", "def f(n, seen={{}}):\n    seen.setdefault(n, {})\n    return seen[n]\n"),
    "a global name": (
        "LAST = None\n",
        "def f(n):\n    global LAST\n    if LAST is None:\n        LAST = {}\n    return LAST\n",
    ),
    "an object of the module": (
        "class Box:\n    pass\nBOX = Box()\n",
        "def f(n):\n    if not hasattr(BOX, 'n'):\n        BOX.n = {}\n    return BOX.n\n",
    ),
    "an attribute of a class": (
        "class Box:\n    n = None\n",
        "def f(n):\n    if Box.n is None:\n        Box.n = {}\n    return Box.n\n",
    ),
    "a queue in an object": (
        "class Box:\n    def __init__(self):\n        self.rows = collections.deque()\n"
        "BOX = Box()\n",
        "def f(n):\n    if not BOX.rows:\n        BOX.rows.append({})\n    return BOX.rows[0]\n",
    ),
}


@pytest.mark.parametrize("name", KEEPERS)
def test_a_change_is_judged_as_if_it_were_the_first(
    name: str, runner: SuiteRunner, run: Run, env: Environment, project: Callable
) -> None:
    head, body = KEEPERS[name]
    tree = project({"m.py": HEAD + head + "\n" + body.format("n + n"), "test_m.py": TESTS})
    (failed,) = runner.run(run, tree, env).results
    formulas = [*(f"n + n + {k}" for k in range(1, 12)), "n * n", "n - n", "n * 4"]
    candidates = [tree.candidate("f", body.format(formula)) for formula in formulas]
    with runner.warm(run, tree, env, (verdict.failure(failed),), ()) as session:
        found = [answer.status for answer in session.judge(candidates)]
        calls = session.call((candidates[11], candidates[0], candidates[13]))
    right = {7, 11, 13}  # n + n + 8 as well
    assert found == ["fixed" if at in right else "unchanged" for at in range(len(formulas))]
    told = {tuple(result.mark for result in row) for row in calls.rows}
    assert (len(calls.rows), len(told)) == (4, 4)
