"""Syntax newer than the running Python."""

from __future__ import annotations

import ast

import pytest

from heal_bot.source import capability_scan, functions, syntax_backport
from heal_bot.source.name_resolution import Names

TEXT = '''\
type Pair[T] = tuple[T, T]


def f[T: int](x: T, sep=","
) -> T:
    return f"{sep.join(['"' + "a" for n in range(3)])} {x!r:{len(f"{x}")}}" "b" f"""
    {x["a"]}
    """


class Box[T]:
    label = "x" "y"

    def g(self): return t"{self.a.__class__}"
'''


def test_the_older_text_parses_with_the_same_lines() -> None:
    older = syntax_backport.lower_syntax(TEXT)
    assert older is not None
    tree = ast.parse(older)
    assert [(n.lineno, n.end_lineno) for n in tree.body] == [(1, 1), (4, 8), (11, 14)]
    assert 'label = "x" "y"' in older


def test_the_index_reads_it_with_the_true_source() -> None:
    found = functions.index_targets("m.py", TEXT)
    assert [(t.qualname, t.kind, t.first_line, t.last_line) for t in found] == [
        ("f", "function", 4, 8),
        ("f.sep", "default", 4, 4),
        ("Box.label", "class_attribute", 12, 12),
        ("Box.g", "function", 14, 14),
    ]
    assert found[0].source.startswith("def f[T: int]")


def test_what_an_f_string_reaches_for_stays_visible(tree) -> None:
    older = syntax_backport.lower_syntax('x = f"{a.__globals__} {eval("1")!r:>{open("x")}}" "z"\n')
    assert older is not None
    place = capability_scan.Place(Names(tree(m="")), "m.py")
    found = capability_scan.list_facts(ast.parse(older), older, place)
    assert found == {"uses .__globals__", "uses a", "uses eval", "uses open"}


@pytest.mark.parametrize("text", ["def f(:\n", "x = (\n", "x = f'{'\n"])
def test_what_no_parser_reads_is_none(text: str) -> None:
    assert syntax_backport.lower_syntax(text) is None
