"""Caps before any parser."""

from __future__ import annotations

import ast
import time

import pytest

from heal_bot.source import guard


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[" * 5_000 + "]" * 5_000, "brackets"),
        ("f(" * 2_000 + ")" * 2_000, "brackets"),
        ("f'" + "{[" * 2_000 + "]}" * 2_000 + "'", "brackets"),
        ("x = " + "-" * 5_000 + "1", "prefix operators"),
        ("x = " + "not " * 5_000 + "1", "prefix operators"),
        ("x = " + "lambda: " * 5_000 + "1", "prefix operators"),
        ("x = a" + ".b" * 20_000, "chains"),
        ("x = a" + "+b" * 20_000, "chains"),
        ("x = (a" + "\n+b" * 20_000 + ")", "chains"),
        ("x = a" + "(1)" * 20_000, "chains"),
        ("x = " + "a if b else " * 5_000 + "c", "chains"),
        ("x = '" + "a" * 200_000 + "'", "line of"),
        ("x = 1\0", "NUL"),
        ("#" + "\n" * 3_000_000, "bytes"),
    ],
)
def test_hostile_text_is_refused_in_words_and_quickly(text: str, reason: str) -> None:
    start = time.perf_counter()
    with pytest.raises(guard.SourceRejected, match=reason):
        guard.parse(text)
    assert time.perf_counter() - start < 2


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"x = '\xc3\xa4'\n", "x = 'ä'\n"),
        (b"# -*- coding: latin-1 -*-\nx = '\xe4'\n", "# -*- coding: latin-1 -*-\nx = 'ä'\n"),
        (b"#!/usr/bin/python\n# vim: set fileencoding=cp1252 :\nx='\x80'\n", None),
        (b"\xef\xbb\xbfx = 1\r\n", "\ufeffx = 1\r\n"),
        (b"", ""),
    ],
)
def test_bytes_are_decoded_by_mark_and_cookie(data: bytes, text: str | None) -> None:
    decoded = guard.check_text(data)
    assert decoded == text if text is not None else "€" in decoded
    guard.parse(data)


@pytest.mark.parametrize(
    "data", [b"x = '\xe4'\n", b"# coding: nonsense\n", b"\xef\xbb\xbf# coding: latin-1\n"]
)
def test_undecodable_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(guard.SourceRejected):
        guard.check_text(data)


@pytest.mark.parametrize("text", ["def f(:\n", "return = 1\n", "x = 1 +\n", "  x\n y\n"])
def test_a_syntax_error_names_its_line(text: str) -> None:
    with pytest.raises(guard.SourceRejected, match="does not parse"):
        guard.parse(text)


@pytest.mark.parametrize("margin", ["", "    ", "\t"])
def test_the_lines_of_a_part_are_counted_from_its_first(margin: str) -> None:
    tree = guard.parse_part(f"{margin}@once\n{margin}def f(x):\n{margin}    return x\n")
    (function,) = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))
    assert (function.lineno, function.body[0].lineno, function.end_lineno) == (2, 3, 3)


def test_ordinary_big_tables_pass() -> None:
    table = guard.parse("T = [\n" + "    (0x1F600, -1.5, 'a.b', x.y),\n" * 20_000 + "]\n")
    text = guard.parse('"""' + ":-( " * 250 + '"""\n')
    assert (len(table.body), len(text.body)) == (1, 1)
