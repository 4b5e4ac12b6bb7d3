"""Foreign prose in Markdown."""

from __future__ import annotations

import pytest

from heal_bot.report.markdown import ended, prose, sentence


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("it broke", "It broke."),
        ("it broke...", "It broke."),
        ("did it break?", "Did it break?"),
        ("tests/m.py::a: it broke", "tests/m.py::a: it broke."),
        ("box/m.py gains it", "box/m.py gains it."),
        ("a_b takes it", "a\\_b takes it."),
        ("os.path.join takes it", "os.path.join takes it."),
        ("", ""),
    ],
)
def test_a_sentence_begins_with_a_capital_or_an_id_and_ends_once(text: str, shown: str) -> None:
    assert sentence(text) == shown


def test_what_ends_keeps_its_small_letter() -> None:
    assert ended("is deprecated. ") == "is deprecated."
    assert ended("...") == "..."


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("`a_b` broke c_d", "`a_b` broke c\\_d"),
        ("`a_b` broke `c_d", "`a_b` broke \\`c\\_d"),
        ("got ` from `a_b`", "got \\` from `a_b`"),
    ],
    ids=["in pairs", "one too many", "one before"],
)
def test_code_stays_code_and_an_odd_backtick_a_character(text: str, shown: str) -> None:
    assert prose(text) == shown
