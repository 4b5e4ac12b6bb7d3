"""Which variables are called otherwise, and how a version reads with the other names."""

from __future__ import annotations

import pytest

from heal_bot.source.renamed_variables import follow_renames

CODE = """import m


class Box:
    def fill(self, n, rest):
        {total} = n  # a total
        for {one} in rest:
            {total} += m.total({one}, total={total})
        self.total = {total}
        return {total}{fault}


def other(total):
    return total
"""


def test_a_function_reads_with_the_names_of_the_later_version() -> None:
    after = CODE.format(total="amount", one="price", fault=" - 1")
    found = follow_renames("m.py", CODE.format(total="total", one="one", fault=""), after)
    assert found == (after.replace(" - 1", ""), 1)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("def f(a):\n    b = a\n    return b\n", "def f(a):\n    return a + 1\n"),
        ("def f(a):\n    b = a\n    return b\n", "def f(a):\n    b = a\n    c = b\n    return c\n"),
        ("def f(a):\n    b = a\n    return f'{b}'\n", "def f(a):\n    c = a\n    return f'{c}'\n"),
        ("def f(a):\n    b = a\n    return b\n", "def g(a):\n    c = a\n    return c\n"),
        ("def f(a, key=0):\n    return a + key\n", "def f(a, cmp=0):\n    return a + cmp\n"),
        ("def f(a):\n    import m\n    return m.g(a)\n",
         "def f(a):\n    import n\n    return n.g(a)\n"),
        ("def f(key):\n    def g():\n        key = 1\n        return key\n    return g, key\n",
         "def f(cmp):\n    def g():\n        cmp = 1\n        return cmp\n    return g, cmp\n"),
        ("def f(:\n", "def f(a):\n    return a\n"),
    ],
    ids=["it is gone", "one is new", "in a formatted string", "another function",
         "a parameter", "another module", "a parameter and a variable", "no code"],
)  # fmt: skip
def test_where_no_variable_is_plainly_the_other_nothing_changes(before: str, after: str) -> None:
    assert follow_renames("m.py", before, after) == (before, 0)


def test_of_names_that_were_swapped_once_most_uses_count() -> None:
    before = "def f(p):\n    r, g = p\n    if r and g:\n        return r, g\n"
    after = "def f(p):\n    red, green = p\n    if red and green:\n        return green, red\n"
    expected = after.replace("green, red", "red, green")
    assert follow_renames("m.py", before, after) == (expected, 1)
