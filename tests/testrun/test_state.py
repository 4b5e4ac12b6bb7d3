"""Many changes in one process: what one leaves in the project's modules answers for no other."""

from __future__ import annotations

import inspect
from collections.abc import Callable

import pytest

from heal_bot.core.events import Run
from heal_bot.core.model import Environment
from heal_bot.testrun.runner import SuiteRunner

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
    "a class of dicts": (
        "class Memo(dict):\n    pass\nMEMO = Memo()\n",
        "def f(n):\n    if n not in MEMO:\n        MEMO[n] = {}\n    return MEMO[n]\n",
    ),
    "a list that a class gets anew": (
        "class Box:\n    rows = []\n",
        "def f(n):\n    Box.rows = Box.rows or [{}]\n    return Box.rows[0]\n",
    ),
    "an attribute of the function": (
        "",
        "def f(n):\n    f.last = getattr(f, 'last', None) or ({},)\n    return f.last[0]\n",
    ),
    "a variable of a closure": (
        "def once(g):\n    last = None\n    def call(n):\n        nonlocal last\n"
        "        if last is None:\n            last = g(n)\n        return last\n    return call\n",
        "@once\ndef f(n):\n    return {}\n",
    ),
    "a memo that was filled at import": (
        "@functools.lru_cache(maxsize=None)\ndef table():\n    return {}\ntable()['zero'] = 0\n",
        "def f(n):\n    return {} + table()['zero']\n",
    ),
    "a module loaded when it is wanted": (
        "ZERO = {}\n",
        "def f(n):\n    n = {}\n    if n == 16 and not ZERO:\n        import zero\n"
        "    return n + ZERO.get(1, 0) if n != 16 else n + ZERO[1]\n",
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
    tree = project(
        {
            "m.py": HEAD + head + "\n" + body.format("n + n"),
            "zero.py": "import m\nm.ZERO[1] = 0\n",
            "test_m.py": TESTS,
        }
    )
    (failed,) = runner.run(run, tree, env).results
    formulas = [*(f"n + n + {k}" for k in range(1, 12)), "n * n", "n - n", "n * 4"]
    candidates = [tree.candidate("f", body.format(formula)) for formula in formulas]
    with runner.warm(run, tree, env, (failed.as_failure(),), ()) as session:
        found = [answer.status for answer in session.judge(candidates)]
        calls = session.call((candidates[11], candidates[0], candidates[13]))
    right = {7, 11, 13}  # n + n + 8 as well
    assert found == ["fixed" if at in right else "unchanged" for at in range(len(formulas))]
    told = {tuple(result.mark for result in row) for row in calls.rows}
    assert (len(calls.rows), len(told)) == (4, 4)


class Lazy:
    """Loads at the first question about its class, as settings objects do."""

    def __getattribute__(self, name: str) -> object:
        raise RuntimeError("nothing is configured")


def test_lazy_objects_and_the_imports_of_a_patch_are_left_alone(
    runner: SuiteRunner, run: Run, env: Environment, project: Callable
) -> None:
    lazy = f"class Lazy:\n{''.join(inspect.getsource(Lazy.__getattribute__))}\nSETTINGS = Lazy()\n"
    body = "def f(n):\n    return {}\n"
    tree = project({"m.py": lazy + body.format("n + n"), "test_m.py": TESTS})
    (failed,) = runner.run(run, tree, env).results
    right = tree.candidate("f", body.format("prod((n, n))"), "from math import prod")
    wrong = [tree.candidate("f", body.format(f"n + n + {k}")) for k in range(1, 6)]
    with runner.warm(run, tree, env, (failed.as_failure(),), ()) as session:
        statuses = [found.status for found in session.judge([*wrong, right])]
        calls = session.call((right, wrong[0]))
    assert statuses == [*["unchanged"] * 5, "fixed"]
    assert [result.text for result in calls.rows[1]][:1] == ["16"]
    assert {result.how for result in calls.rows[1]} == {"returned"}
