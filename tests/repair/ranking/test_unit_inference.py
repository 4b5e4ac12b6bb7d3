from __future__ import annotations

import ast

import pytest

from heal_bot.repair.ranking.unit_inference import gather_units

BUCKET = """
class Bucket:
    def __init__(self, size):
        self.size = self.tokens = size
        self.last = 0

    def fill(self, now):
        self.tokens = min(self.size, self.tokens + (now - self.last) * self.rate)

    def take(self, now, n):
        self.fill(now)
        if n > self.tokens:
            return False
        self.tokens -= n
        return True
"""


@pytest.mark.parametrize(
    ("one", "other", "differ"),
    [
        ("n", "now", True),
        (".tokens", "now", True),
        ("n", ".size", False),
        ("now", ".last", False),
        ("n", ".rate", False),
        ("n", "unknown", False),
    ],
)
def test_names_that_are_added_compared_or_assigned_count_the_same(
    one: str, other: str, differ: bool
) -> None:
    assert gather_units(ast.parse(BUCKET)).differ(one, other) is differ


def _prior(bench, text: str) -> float:
    return next(
        candidate.prior
        for candidate in bench.candidates(text, "Bucket.take")
        if "-= n + now\n" in candidate.edits[0].new_source
    )


def test_a_term_that_the_module_counts_differently_is_doubted(bench) -> None:
    unknown = BUCKET.replace("(now - self.last)", "now.since")
    assert _prior(bench, BUCKET) > _prior(bench, unknown) + 1.5
