"""Changes that no family may offer: they say something else than the family means."""

from __future__ import annotations

import pytest

from heal_bot.core.model import Failure

# What the function is, and what no change of it holds.
NEVER = [
    ("def f(n, a):\n    for i in range(n >> 1):\n        a.go()\n", "n >> 1 - 1"),
    ("def f(n, a, c):\n    for i in range(n if c else 2):\n        a.go()\n", "< n if c"),
    ("def f(a, g):\n    for i in range(int(next(g))):\n        a.go()\n", "< int(next(g))"),
    ("def f(x):\n    return re.search('a', x, re.I)\n", "flags="),
    ("def f(tree, x):\n    return tree.search(x)\n", "flags="),
    ("def f(a, n):\n    a.n = n or 0\n    return a\n", "a.n or n or 0"),
    ("def f(q, t):\n    return q.get(t) or 3\n", "if q.get(t) is not None"),
    ("def f(a, b):\n    for i in range(len()):\n        b.go()\n", "if i < len("),
    ("def f(a, b):\n    for i in range(*a):\n        b.go()\n", "*a - 1"),
    ("def f(a, b):\n    for i in range((yield)):\n        b.go()\n", "if i < (yield)"),
    ("def f(a):\n    r = []\n    for k in a:\n        r.append(lambda: n)\n        n = k\n", "n=n"),
]


@pytest.mark.parametrize(("text", "never"), NEVER)
def test_no_family_offers_a_change_of_this_kind(bench, text: str, never: str) -> None:
    crash = Failure("t", "IndexError", "list index out of range")
    found = [c.edits[0].new_source for c in bench.candidates(text, "f", failures=(crash,))]
    assert found
    assert not [source for source in found if never in source]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("def f(a):\n    return [lambda x,: i for i in a]\n", "lambda x, i=i: i"),
        (
            "def f(a, r):\n    for i in a:\n        @dec(1)\n        def g():\n"
            "            return i\n        r.append(g)\n",
            "@dec(1)\n        def g(i=i):",
        ),
    ],
)
def test_an_odd_way_of_writing_gets_its_change(bench, text: str, wanted: str) -> None:
    assert any(wanted in c.edits[0].new_source for c in bench.candidates(text, "f"))


def test_a_loop_over_what_is_spread_leaves_other_conditions(bench) -> None:
    text = "def f(a, b):\n    for i in range(*a):\n        b.append(i)\n"
    assert any("if i not in b:" in c.edits[0].new_source for c in bench.candidates(text))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("range(len(a))", "if i < len(a) - 1:"),
        ("range(2, n)", "if i < n - 1:"),
        ("range(2, n)", "if i > 2:"),
        ("range(n | 1)", "if i < (n | 1) - 1:"),
    ],
)
def test_the_first_and_the_last_round_are_told_by_what_the_loop_counts(
    bench, old: str, new: str
) -> None:
    text = f"def f(a, n, b):\n    for i in {old}:\n        b.go()\n"
    assert any(new in c.edits[0].new_source for c in bench.candidates(text))
