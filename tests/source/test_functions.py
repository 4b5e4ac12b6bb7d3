"""The index against tricky sources and against the interpreter's own names."""

from __future__ import annotations

import asyncio.events
import dataclasses
import json.decoder
import types
import typing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heal_bot.source import functions, guard

TRICKY = """\
import functools
A, (B, *C) = 1, (2, 3)
TABLE["x"] = 4


def deco(f):
    @functools.wraps(f)
    def wrapper(*a, limit=3, **k):
        class Inner:
            size = 1

            def method(self): return f
        return (lambda: Inner)
    return wrapper


class K:
    x: int = 1
    y: str

    @property
    def v(self): return 1

    @v.setter
    def v(self, value):
        global made
        def made(): pass

    @deco
    @deco
    async def go(self, a=1, *, b=(
        2
    )):
        match a:
            case [1, *rest] if (n := len(rest)):
                def inside(): return n
        return None

if A:
    def cond(): return 1
else:
    def cond(): return 2
try:
    Z = 1
except ImportError as e:
    Z = None
def größe(): pass
"""
EXPECTED = [
    ("A", "assignment", 0, 2, 2),
    ("TABLE", "assignment", 0, 3, 3),
    ("deco", "function", 0, 6, 14),
    ("deco.<locals>.wrapper", "function", 0, 7, 13),
    ("deco.<locals>.wrapper.limit", "default", 0, 8, 8),
    ("deco.<locals>.wrapper.<locals>.Inner.size", "class_attribute", 0, 10, 10),
    ("deco.<locals>.wrapper.<locals>.Inner.method", "function", 0, 12, 12),
    ("K.x", "class_attribute", 0, 18, 18),
    ("K.v", "function", 0, 21, 22),
    ("K.v", "function", 1, 24, 27),
    ("made", "function", 0, 27, 27),
    ("K.go", "function", 0, 29, 37),
    ("K.go.a", "default", 0, 31, 31),
    ("K.go.b", "default", 0, 31, 32),
    ("K.go.<locals>.inside", "function", 0, 36, 36),
    ("cond", "function", 0, 40, 40),
    ("cond", "function", 1, 42, 42),
    ("Z", "assignment", 0, 44, 44),
    ("Z", "assignment", 1, 46, 46),
    ("größe", "function", 0, 47, 47),
]


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_every_kind_of_target_is_found_with_name_and_lines(newline: str) -> None:
    text = TRICKY.replace("\n", newline)
    found = functions.index_targets("m.py", text)
    assert [(t.qualname, t.kind, t.nth, t.first_line, t.last_line) for t in found] == EXPECTED
    lines = functions.split_lines(text)
    for target in found:
        assert target.source == "".join(lines[target.first_line - 1 : target.last_line])


def _code(code: types.CodeType):
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            if const.co_flags & 1 and not const.co_name.startswith("<"):
                yield const.co_qualname, const.co_firstlineno
            yield from _code(const)


@pytest.mark.parametrize(
    "module",
    [typing, dataclasses, json.decoder, asyncio.events, types],
    ids=lambda module: module.__name__,
)
def test_names_and_lines_are_those_of_the_interpreter(module: types.ModuleType) -> None:
    path = Path(module.__file__)
    data = path.read_bytes()
    found = functions.index_targets(path.name, guard.check_text(data))
    ours = sorted((t.qualname, t.first_line) for t in found if t.kind == "function")
    assert ours == sorted(_code(compile(data, path.name, "exec")))


def test_the_innermost_function_answers_for_a_line_and_headers_run_outside() -> None:
    lines = (2, 6, 8, 9, 12, 13, 29, 30, 34)
    runs = {n: functions.find_running("m.py", TRICKY, n) for n in lines}
    assert {n: getattr(one, "qualname", None) for n, one in runs.items()} == {
        2: None,
        6: None,
        8: "deco",
        9: "deco.<locals>.wrapper",
        12: "deco.<locals>.wrapper.<locals>.Inner.method",
        13: "deco.<locals>.wrapper",
        29: None,
        30: None,
        34: "K.go",
    }


def test_targets_are_found_by_address() -> None:
    found = functions.index_targets("m.py", TRICKY)
    setter = functions.find_target(found, "K.v", nth=1)
    assert setter is not None
    assert "setter" in setter.source
    assert functions.find_target(found, "K.v", nth=2) is None


@pytest.mark.parametrize(
    "text",
    [
        "\ufeffdef f():\n    return 1",
        "\x0c\ndef f():\n\x0c\n    return 1\n",
        "def f():\n\treturn 1\n",
        "x = 1; y = 2\ndef f(): return x; \n",
        "def f(a=1): return a # \u2028 no line end\n",
    ],
)
def test_odd_characters_do_not_shift_lines(text: str) -> None:
    found = functions.find_target(functions.index_targets("m.py", text), "f")
    assert found is not None
    assert found.source.lstrip("\ufeff").startswith("def f(")
    assert functions.split_lines(text)[found.first_line - 1].lstrip("\ufeff").startswith("def f(")


@settings(max_examples=40, deadline=None)
@given(st.text(alphabet="ab \n\r\t\x0c\x0b\x1c\u2028\x85", max_size=60))
def test_lines_rejoin_to_the_text_and_count_as_the_parser_counts(text: str) -> None:
    assert "".join(functions.split_lines(text)) == text
    marked = "#" + text.replace("\n", "\n#").replace("\r", "\r#")
    tree = guard.parse(marked.replace("\r#\n", "\r\n") + "\nlast = 1\n")
    assert (
        tree.body[-1].lineno
        == len(functions.split_lines(marked.replace("\r#\n", "\r\n") + "\n")) + 1
    )


def test_type_parameters_are_understood() -> None:
    found = functions.index_targets("m.py", "type A = int\ndef f[T](x: T) -> T:\n    return x\n")
    assert [t.qualname for t in found] == ["f"]
