"""Search/replace blocks: found exactly once, salvaged only where white space differs."""

from __future__ import annotations

import pytest

from heal_bot.core.model import Target
from heal_bot.core.text import Secret
from heal_bot.repair.llm.answer_parser import ReplyError, parse_answer
from heal_bot.source import edit, functions

PATH = "shop/stock.py"
SOURCE = '''import os


def count(items):
    """Count.

    All of them.
    """
    total = 0
    for item in items:
        if item.gone:
            continue
        total += 1
    for item in items:
        if item.late:
            continue
        total -= 1
    return total - 1


class Shelf:
    def full(self):
        return self.size > 3

    def empty(self):
        return self.size > 3
'''
TARGETS = tuple(t for t in functions.index_targets(PATH, SOURCE) if t.kind == "function")


def block(search: str, replace: str, head: str = "# shop/stock.py::count") -> str:
    return (
        f"```python\n{head}\n<<<<<<< SEARCH\n{search}\n=======\n{replace}\n>>>>>>> REPLACE\n```\n"
    )


def changed(reply: str, source: str = SOURCE, targets: tuple[Target, ...] = TARGETS) -> list[str]:
    """Removed and added lines of the file's diff."""
    reading = parse_answer(reply, targets, {PATH: source})
    diff = edit.diff(PATH, source, edit.splice(source, reading.edits))
    return [line for line in diff.splitlines()[3:] if line[0] in "+-"]


LAST = ["-    return total - 1", "+    return total"]


@pytest.mark.parametrize(
    ("search", "replace"),
    [
        ("    return total - 1", "    return total"),
        ("return total - 1", "return total"),
        ("    return total - 1   ", "    return total"),
        ("\treturn total - 1", "\treturn total"),
        ("        total -= 1\n    return total - 1", "        total -= 1\n    return total"),
        ("\t\ttotal -= 1\n\treturn total - 1", "\t\ttotal -= 1\n\treturn total"),
        ("    total -= 1\nreturn total - 1", "    total -= 1\nreturn total"),
    ],
    ids=["exact", "at the margin", "trailing", "tab", "two lines", "tabs", "moved out"],
)
def test_a_block_is_put_where_it_fits_but_for_white_space(search: str, replace: str) -> None:
    assert changed(block(search, replace)) == LAST


@pytest.mark.parametrize("head", ["# shop/stock.py", "", "# shop/stock.py::counts"])
def test_a_block_without_the_name_of_its_function_is_found_among_all(head: str) -> None:
    assert changed(block("    return total - 1", "    return total", head)) == LAST


def test_new_lines_are_indented_as_the_file_is() -> None:
    tabbed = SOURCE.replace("    ", "\t")
    targets = tuple(t for t in functions.index_targets(PATH, tabbed) if t.kind == "function")
    reply = block("    return total - 1", "    if total:\n        return total\n    return 0")
    assert changed(reply, tabbed, targets)[1:] == [
        "+\tif total:", "+\t\treturn total", "+\treturn 0"
    ]  # fmt: skip
    reply = block("def count(items):", "def count(items):\n\titems = list(items)")
    assert changed(reply) == ["+    items = list(items)"]


def test_a_whole_function_with_tabs_is_blanked_where_the_file_is() -> None:
    reply = "```python\n# shop/stock.py::Shelf.full\n\tdef full(self):\n\t\tif self.size:\n"
    assert changed(f"{reply}\t\t\treturn True\n\t\treturn False\n```") == [
        "-        return self.size > 3",
        "+        if self.size:",
        "+            return True",
        "+        return False",
    ]


def test_several_blocks_and_a_whole_function_go_together_with_imports() -> None:
    reply = (
        "Both were wrong.\n```python\n# shop/stock.py::count\nimport math\nimport json\n"
        "<<<<<<< SEARCH\n    total = 0\n=======\n    total = math.floor(0)\n>>>>>>> REPLACE\n"
        "<<<<<<< SEARCH\n    return total - 1\n=======\n    return total\n>>>>>>> REPLACE\n```\n"
        "```python\n# shop/stock.py::Shelf.empty\ndef empty(self):\n    return not self.size\n```"
    )
    assert changed(reply) == [
        "+import math", "-    total = 0", "+    total = math.floor(0)", *LAST,
        "-        return self.size > 3", "+        return not self.size",
    ]  # fmt: skip
    assert parse_answer(reply, TARGETS, {PATH: SOURCE}).rationale == "Both were wrong."


def test_lines_can_be_taken_out() -> None:
    reply = block("    for item in items:\n        if item.late:\n            continue\n"
                  "        total -= 1\n    return total - 1", "    return total")  # fmt: skip
    assert len([line for line in changed(reply) if line[0] == "-"]) == 5


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (block("            continue", "            break"), r"fits 2 times .*line 12, .*line 16"),
        (block("        return self.size > 3", "x", "# shop/stock.py"), "fits 2 times"),
        (
            block("    return totals - 1", "    return total"),
            "nearest lines are .*line 18:\n    re",
        ),
        (block("", "    return total"), "searches for nothing"),
        (block("    return total - 1", "    return (total"), "does not parse"),
        (block("    return total - 1", "    return total - 1"), "same as the current"),
        (block("x = 1", "x = 2", "# shop/other.py::g"), "is not shown"),
        (block("    return total - 1", "x").replace(">>>>>>> REPLACE", ""), "has no end"),
    ],
    ids=["twice", "in two", "nowhere", "nothing", "syntax", "same", "elsewhere", "open"],
)
def test_what_does_not_fit_is_refused_with_what_comes_near(reply: str, said: str) -> None:
    with pytest.raises(ReplyError, match=f"(?s){said}"):
        parse_answer(reply, TARGETS, {PATH: SOURCE})


def test_a_line_with_a_hidden_value_is_found_and_kept_as_it_is() -> None:
    source = 'def f():\n    key = "hunter2-value"\n    return 1\n'
    targets = functions.index_targets(PATH, source)
    reply = block('    key = "***"\n    return 1', '    key = "***"\n    return key', "")
    secrets = (Secret("hunter2-value"),)
    (change,) = parse_answer(reply, targets, {PATH: source}, secrets).edits
    assert change.new_source == 'def f():\n    key = "hunter2-value"\n    return key\n'
    with pytest.raises(ReplyError, match="hidden value"):
        parse_answer(
            block("    return 1", '    return "***"', ""), targets, {PATH: source}, secrets
        )


@pytest.mark.timeout(20)
def test_the_nearest_lines_of_a_long_block_are_found_in_bounded_time() -> None:
    rows = [f"    a_{n} = compute(a_{n}, {n * n}, scale={n % 7})\n" for n in range(900)]
    source = "def f():\n" + "".join(rows)
    other = "".join(rows[300:600]).replace("scale", "ratio")
    with pytest.raises(ReplyError, match=r"nearest lines are shop/stock\.py line 302"):
        parse_answer(
            block(other, "    pass", ""), functions.index_targets(PATH, source), {PATH: source}
        )
