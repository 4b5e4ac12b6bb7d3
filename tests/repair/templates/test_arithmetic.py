"""What stands for an operator is the likelier the more its operands ask for it."""

from __future__ import annotations


def test_a_text_with_a_place_for_a_value_is_filled_before_it_loses_the_value(bench) -> None:
    text = 'def f(a):\n    return "%s{2,}" * a\n'
    filled = bench.position(text, text.replace(" * a", " % a"), 50)
    lost = bench.position(text, text.replace(" * a", ""), 200)
    assert filled is not None
    assert lost is None or filled < lost


def test_whether_something_holds_is_not_added_up(bench) -> None:
    text = "def f(a, k):\n    a.new = k not in a\n    return a\n"
    sources = [c.edits[0].new_source for c in bench.candidates(text)]
    assert any("a.new |= k not in a" in source for source in sources)
    assert not any("a.new += " in source for source in sources)
