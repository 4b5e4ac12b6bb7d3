"""What stands for an operator is the likelier the more its operands ask for it."""

from __future__ import annotations


def test_a_text_with_a_place_for_a_value_is_filled_before_one_without(bench) -> None:
    costs = [
        next(c.prior for c in bench.candidates(text) if c.edits[0].new_source == fixed)
        for text in ('def f(a):\n    return "%s{2,}" * a\n', 'def f(a):\n    return "s{2,}" * a\n')
        for fixed in (text.replace(" * a", " % a"),)
    ]
    assert costs[0] < costs[1]


def test_a_text_with_a_place_for_a_value_is_filled_at_once(bench) -> None:
    text = 'def f(a):\n    return "%s{2,}" * a\n'
    assert bench.position(text, text.replace(" * a", " % a"), 3) is not None


def test_whether_something_holds_is_not_added_up(bench) -> None:
    text = "def f(a, k):\n    a.new = k not in a\n    return a\n"
    sources = [c.edits[0].new_source for c in bench.candidates(text)]
    assert any("a.new |= k not in a" in source for source in sources)
    assert not any("a.new += " in source for source in sources)
