"""Suggestions, applied as GitHub applies them, give the verified text."""

from __future__ import annotations

import re

import pytest

from heal_bot.publish.review_suggestions import _blocks, _suggestion
from tests.github_server import records

TEXTS = [
    (records.BROKEN, records.FIXED),
    ("a\nb\nc\n", "a\nc\n"),
    ("a\nb\nc\n", "new\na\nb\nc\n"),
    ("a\nb\nc\n", "a\nb\nnew\nc\n"),
    ("a\nb\nc\n", "a\nB\nC\nD\n"),
    ("a\nb\nc\n", "x\nb\ny\n"),
    ("a\nb", "a\nb2"),
]


@pytest.mark.parametrize(("before", "after"), TEXTS)
def test_taking_every_suggestion_gives_the_verified_text(before: str, after: str) -> None:
    lines = before.splitlines(keepends=True)
    for first, last, text in reversed(list(_blocks(before, after))):
        assert 1 <= first <= last <= len(lines)
        lines[first - 1 : last] = text.splitlines(keepends=True)
    assert "".join(lines) == after


@pytest.mark.parametrize("text", ["x = 1\n", "", "'''```'''\n", "a\n````\nb\n"])
def test_a_suggestion_cannot_be_closed_by_its_content(text: str) -> None:
    lines = _suggestion(text).split("\n")
    ticks = re.match(r"`+", lines[0])
    assert ticks is not None
    assert lines[0] == f"{ticks[0]}suggestion"
    assert lines[-1] == ticks[0]
    assert ticks[0] not in "\n".join(lines[1:-1])
    assert "\n".join(lines[1:-1]) == text.removesuffix("\n")
