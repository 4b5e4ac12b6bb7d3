"""The glossary says what the code has."""

from __future__ import annotations

import re

from tests.docs.pages import ROOT

ROWS = re.findall(
    r"^\| ([a-z -]+) \| .+ \| `([\w/]+)` \|$", (ROOT / "docs/glossary.md").read_text(), re.MULTILINE
)
PACKAGE = ROOT / "heal_bot"


def test_each_word_stands_once_in_order_and_there_are_at_most_sixty() -> None:
    words = [word for word, _ in ROWS]
    assert words == sorted(set(words))
    assert 30 < len(words) <= 60


def test_what_a_word_names_is_in_the_code() -> None:
    classes = {
        name
        for path in PACKAGE.rglob("*.py")
        for name in re.findall(r"^class (\w+)", path.read_text(), re.MULTILINE)
    }
    for word, name in ROWS:
        there = name in classes or any((PACKAGE / f"{name}{end}").exists() for end in ("", ".py"))
        assert there, (word, name)
