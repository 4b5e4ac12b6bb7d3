"""Two versions of a file compared by their trees."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from heal_bot.source.tree_diff import Part, compare_versions


def _put_back(before: str, after: str, now: str = "") -> Iterator[tuple[int, str]]:
    """Each part with its depth, and the text with that part alone put back."""
    text = (now or after).encode()

    def walk(parts: tuple[Part, ...], depth: int) -> Iterator[tuple[int, str]]:
        for part in parts:
            data = text
            for cut in sorted(part.cuts(), key=lambda cut: -cut.start):
                data = data[: cut.start] + cut.before + data[cut.end :]
            yield depth, data.decode()
            yield from walk(part.parts, depth + 1)

    return walk(compare_versions(before, after, now or after), 0)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("def f(a, b):\n    return a + b\n", "def f(a, b):\n    return a - b\n"),
        ("def f(a):\n    return (a + 1) * 2\n", "def f(a):\n    return a * 2\n"),
        ("def f(a):\n    x = 1\n    return x\n", "def f(a):\n    return x\n"),
        ("def f(a):\n    return x\n", "def f(a):\n    x = 1\n    return x\n"),
        ("def f(a):\n    g(a)\n", "def f(a):\n    if a:\n        g(a)\n"),
        ("def f(a, b=1):\n    pass\n", "def f(a, b=1, *, c=2):\n    pass\n"),
        ("def f(*, b=1):\n    pass\n", "def f(a, /, *, b=1):\n    pass\n"),
        ("class A:\n    @x\n    def f(self):\n        return 1\n",
         "class A:\n    def f(self):\n        return 1\n"),
        ("def f(a):\n    if a: return 1\n", "def f(a):\n    if a: return 2\n"),
        ("def f(a):\n    return f'{a} é'\n", "def f(a):\n    return f'{a + 1} é'\n"),
        ("LIMIT = 'é', 3\n", "LIMIT = 'é', 4\n"),
    ],
)  # fmt: skip
def test_a_change_is_put_back_whole_by_its_one_part(before: str, after: str) -> None:
    (depth, text), *_ = _put_back(before, after)
    assert (depth, text) == (0, before)


def test_hunks_hold_statements_and_these_hold_expressions() -> None:
    before = "def f(a):\n    x = g(a, 1)\n    y = 2\n    return x + y\n"
    after = "def f(a):\n    x = g(2, a)\n    y = 2\n    return x - y\n"
    found = list(_put_back(before, after))
    assert [depth for depth, _ in found] == [0, 1, 2, 2, 1]
    assert found[1][1] == after.replace("g(2, a)", "g(a, 1)")
    assert found[4][1] == after.replace("x - y", "x + y")
    (whole,) = compare_versions(before, after, after)
    assert [part.atomic for part in (whole, *whole.parts)] == [False, True, True]
    assert whole.leaves == 3


@pytest.mark.parametrize(
    "after",
    [
        "def f(a):\n    return a  # more\n",
        'def f(a):\n    "Told."\n    return a\n',
        "def f( a ):\n\n    return (a)\n",
        "def f(a:\n    return a\n",
    ],
    ids=["a comment", "a docstring", "layout", "no Python"],
)
def test_what_is_no_code_is_no_change(after: str) -> None:
    before = (
        'def f(a):\n    "Says."\n    return a\n' if "Told" in after else "def f(a):\n    return a\n"
    )
    assert compare_versions(before, after, after) == ()


def test_parts_are_found_where_later_commits_moved_them_and_not_where_they_changed_them() -> None:
    before = "def f(a):\n    return a + 1\n\n\ndef g(a):\n    return a + 2\n"
    after = before.replace("+", "-")
    now = "import os\n\n\n" + after.replace("a - 2", "a - 3")
    ((_, text),) = _put_back(before, after, now)
    assert text == now.replace("a - 1", "a + 1")


def test_line_ends_of_the_file_stay_as_they_are() -> None:
    before, after = "def f(a):\r\n    return a + 1\r\n", "def f(a):\r\n    return a - 1\r\n"
    assert [text for _, text in _put_back(before, after)] == [before]
