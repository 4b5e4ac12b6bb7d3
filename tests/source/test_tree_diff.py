"""Two versions of a file compared by their trees."""

from __future__ import annotations

import time
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
        ("def f(x, y):\n    if x:\n        r = 1\n    else:\n        if y:\n            r = 2\n",
         "def f(x, y):\n    if x:\n        r=1\n    elif y:\n        r=3\n    else:\n        r=5"),
        ("def f(a, b):\n    return (a\n            + b)\n", "def f(a, b):\n    return a - b\n"),
        ("def f(v):\n    return sum(v)\n", "def f(v):\n    return sum(x for x in v if x)\n"),
        ("def f(a, b):\n    if (\n        a > 1\n        and b > 2\n    ):\n        return 1\n",
         "def f(a, b):\n    if a > 1:\n        return 1\n"),
        ("def f(a):\n    match a:\n        case 1:\n            return 1\n",
         "def f(a):\n    match a:\n        case 1:\n            return 2\n"),
        ("def f():\n    a()\n", "def f():\n    a()\n    b()"),
        ("def f():\n    a()", "def f():\n    a()\n    b()\n"),
        ("def f(a):\n    try:\n        g(a)\n    except KeyError:\n        pass\n",
         "def f(a):\n    try:\n        g(a)\n    except ValueError:\n        pass\n"),
        ("@one\n@two(1)\ndef f():\n    pass\n", "@one\n@two(2)\ndef f():\n    pass\n"),
    ],
)  # fmt: skip
def test_a_change_is_put_back_whole_by_its_one_part(before: str, after: str) -> None:
    (depth, text), *_ = _put_back(before, after)
    assert (depth, text.rstrip("\n")) == (0, before.rstrip("\n"))


CHAIN = """def f(a):
    x = 1
    if a == 1:
        x = 2
    elif a == 2:  # two
        x = 3
        x += a
    # Three.
    elif a == 3:
        x = 4
{}    return x
"""


@pytest.mark.parametrize("last", ["", "    else:\n        x = 5\n"], ids=["no else", "an else"])
@pytest.mark.parametrize(
    ("old", "new", "kept"),
    [
        ("    if a == 1:\n        x = 2\n    elif a == 2", "    if a == 2", "x = 4"),
        ("    elif a == 2:  # two\n        x = 3\n        x += a\n", "", "x = 4"),
        ("    # Three.\n    elif a == 3:\n        x = 4\n", "", "x = 2"),
    ],
    ids=["the first", "between", "the last"],
)
def test_a_branch_of_a_chain_is_put_back_and_taken_out_alone(
    old: str, new: str, kept: str, last: str
) -> None:
    chain = CHAIN.format(last)
    fewer = chain.replace(old, new)
    for before, after in ((chain, fewer), (fewer, chain)):
        texts = [text for _, text in _put_back(before.replace(kept, "x = 0"), after)]
        assert before in texts


@pytest.mark.parametrize(
    ("code", "clause"),
    [
        ("for x in a:\n        y = x\n", "else:\n        y = 0\n"),
        ("if a:\n        y = 1\n", "else:\n        y = 0\n"),
        ("if a:\n        y = 1\n", "elif a is None:\n        y = 0\n    else:\n        y = 2\n"),
        ("try:\n        y = 1\n    except OSError:\n        y = 2\n", "finally:\n        a.b()\n"),
    ],
)
def test_a_clause_is_put_back_and_taken_out_alone(code: str, clause: str) -> None:
    without = f"def f(a):\n    {code}    # Then.\n    return y\n"
    with_it = without.replace("    # Then.", f"    {clause}    # Then.")
    for before, after in ((with_it, without), (without, with_it)):
        other = before.replace("y = x", "y = -x").replace("y = 1", "y = -1")
        assert before in [text for _, text in _put_back(other, after)]


def test_hunks_hold_statements_and_these_hold_expressions() -> None:
    before = "def f(a):\n    x = g(a, 1)\n    y = 2\n    return x + y\n"
    after = "def f(a):\n    x = g(2, a)\n    y = 2\n    return x - y\n"
    found = list(_put_back(before, after))
    assert [depth for depth, _ in found] == [0, 1, 2, 3, 3, 1, 2]
    assert found[1][1] == found[2][1] == after.replace("g(2, a)", "g(a, 1)")
    assert found[5][1] == after.replace("x - y", "x + y")
    (whole,) = compare_versions(before, after, after)
    assert [part.atomic for part in (whole, *whole.parts)] == [False, True, True]
    assert whole.leaves == 2


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
    texts = {text for _, text in _put_back(before, after, now)}
    (text,) = texts
    assert text == now.replace("a - 1", "a + 1")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("from x import y\n", ""),
        ("from x import y\n", "# moved\n"),
        ("def f(:\n", "def f():\n    return 2\n"),
        ("x = 0\n", "x = " + " + ".join("1" * 900) + "\n"),
        ("x = 1\n", "x = 1\0\n"),
    ],
    ids=["emptied", "comments left", "no Python before", "a long sum", "no text"],
)
def test_what_cannot_be_compared_has_no_parts_and_ends_nothing(before: str, after: str) -> None:
    assert all(part.start >= 0 for part in compare_versions(before, after, after))


def test_large_files_are_aligned_in_no_time() -> None:
    lines = "".join("x = 1\n" for _ in range(8_000))
    begin = time.perf_counter()
    (part,) = compare_versions(lines + "y = 1\n", lines + "y = 2\n", "z = 0\n" + lines + "y = 2\n")
    assert part.before == b"y = 1\n"
    assert time.perf_counter() - begin < 8


def test_line_ends_of_the_file_stay_as_they_are() -> None:
    before, after = "def f(a):\r\n    return a + 1\r\n", "def f(a):\r\n    return a - 1\r\n"
    assert {text for _, text in _put_back(before, after)} == {before}
