"""State of an instance that is set once, and what a method lacks for it."""

from __future__ import annotations

import pytest

CLOCK = """
class Clock:
    def __init__(self, rate):
        self.rate = rate
        self.last = 0
        self.seen = 0

    def tick(self, now):
        passed = now - self.last
        return passed * self.rate
"""
SET = CLOCK.replace(
    "self.last\n        return", "self.last\n        self.last = now\n        return"
)


def test_what_is_counted_with_and_never_set_again_is_set_early(bench) -> None:
    place = bench.position(CLOCK, SET, 400, "Clock.tick")
    assert (place or 9999) < 150


@pytest.mark.parametrize(
    "other",
    [
        "self.last = None\n",
        "self.rate = 0\n        self.last = rate\n",
    ],
)
def test_what_is_set_elsewhere_or_begins_with_a_parameter_is_left_alone(bench, other: str) -> None:
    text = CLOCK.replace("self.last = 0\n", other, 1)
    if "None" in other:
        text += "\n    def stop(self):\n        self.last = None\n"
    families = {
        c.family
        for c in bench.candidates(text, "Clock.tick")
        if "self.last = now" in c.edits[0].new_source
    }
    assert "never filled" not in families
