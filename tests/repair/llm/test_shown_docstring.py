"""Long docstrings as a model is shown them."""

from __future__ import annotations

import re

import pytest

from heal_bot.core.model import Target
from heal_bot.repair.llm.answer_parser import parse_answer
from heal_bot.repair.llm.shown_docstring import restore_docstring, shorten_docstring

LINES = "".join(f"    Line {n} of it.\n" for n in range(60))
LONG = f'def table(rows):\n    """Make a table.\n\n{LINES}    """\n    return rows\n'
METHOD = "".join(f"    {line}\n" for line in LONG.splitlines())


@pytest.mark.parametrize("source", [LONG, METHOD])
def test_the_middle_of_a_long_docstring_is_left_out_and_comes_back(source: str) -> None:
    shown = shorten_docstring(source)
    assert len(shown.splitlines()) < 20
    assert re.search(r"^ +\[\d\d lines of the docstring are left out\]$", shown, re.MULTILINE)
    assert shown.rstrip().endswith("return rows")
    assert restore_docstring(shown, source) == source


@pytest.mark.parametrize("source", [LONG, METHOD])
def test_an_answer_without_the_mark_loses_nothing_either(source: str) -> None:
    bare = re.sub(
        r" +\[\d\d lines of the docstring are left out\]\n", "", shorten_docstring(source)
    )
    assert restore_docstring(bare, source) == source
    assert restore_docstring(source, source) == source


def test_what_is_short_or_does_not_parse_is_shown_as_it_is() -> None:
    for source in ("def f():\n    '''One.'''\n", LONG.replace(":", "", 1), "X = 1\n" * 50):
        assert shorten_docstring(source) == source
        assert restore_docstring("def f(): pass\n", source) == "def f(): pass\n"


def test_an_answer_with_the_shortened_docstring_changes_the_code_alone() -> None:
    target = Target("m.py", "table", 0, "function", 1, LONG.count("\n"), LONG)
    reply = f"```python\n# m.py::table\n{shorten_docstring(LONG)}```"
    (edit,) = parse_answer(
        reply.replace("return rows", "return rows or []"), [target], {"m.py": LONG}
    ).edits
    assert edit.new_source == LONG.replace("return rows", "return rows or []")
