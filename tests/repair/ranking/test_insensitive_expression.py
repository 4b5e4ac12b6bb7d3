from __future__ import annotations

from collections.abc import Sequence

import pytest

from heal_bot.core.model import (
    Attempt,
    CallResult,
    Calls,
    Candidate,
    Edit,
    Failure,
    Target,
    Verdict,
)
from heal_bot.repair.ranking.insensitive_expression import find_shifts
from heal_bot.repair.ranking.patch_ranking import choose_patches

SOURCE = '''    def settle(self, owed, due):
        """What is left of both."""
        paid = min(owed, due)
        left = [name for name in self.names if name]
        return (left[0], owed - paid)
'''
TARGET = Target("m.py", "Group.settle", 0, "function", 2, 6, SOURCE)


def _fix(number: int, prior: float, new: str, old: str = "owed - paid") -> Attempt:
    assert old in SOURCE
    edit = Edit(TARGET, SOURCE.replace(old, new))
    candidate = Candidate((edit,), "rules", "operand", f"change {number}", prior=prior)
    return Attempt(number, "c", candidate, Verdict("fixed", ("t",)))


@pytest.mark.parametrize(
    ("new", "more"),
    [("owed + paid", "abs(owed + paid) * 2 + 1"), ("paid", "abs(paid) * 2 + 1"),
     ("due - paid", "abs(due - paid) * 2 + 1"),
     ("len(owed) - paid", "abs(len(owed) - paid) * 2 + 1")],
)  # fmt: skip
def test_what_a_patch_computes_is_made_far_more(new: str, more: str) -> None:
    (shift,) = find_shifts([_fix(1, 1.0, new)])
    assert shift.member == 0
    (edit,) = shift.shifted.edits
    assert edit.target == TARGET
    assert f"        return (left[0], {more})\n" in edit.new_source


def test_a_sum_in_place_of_a_name_is_one() -> None:
    (shift,) = find_shifts([_fix(1, 1.0, "min(owed, due + 2)", "min(owed, due)")])
    assert "min(owed, abs(due + 2) * 2 + 1)" in shift.shifted.edits[0].new_source


@pytest.mark.parametrize(
    ("new", "old"),
    [("max(", "min("), ("if not name", "if name"), ("left[1]", "left[0]"),
     ("(due + 1, owed)", "(owed, due)"), ("paid = 2\n        paid += min(", "paid = min(")],
    ids=["no sum", "a condition", "a number", "two places", "another statement"],
)  # fmt: skip
def test_what_is_no_change_of_one_sum_is_not_asked(new: str, old: str) -> None:
    assert find_shifts([_fix(1, 1.0, new, old)]) == ()


class Called:
    """A session in which all that is more than the right sum does the same on two calls of three.

    `asks` tells whether the third call looks at the sum itself.
    """

    def __init__(self, *, asks: bool) -> None:
        self.asks = asks

    def call(self, candidates: Sequence[Candidate], seed: int = 0) -> Calls:
        sources = [candidate.edits[0].new_source for candidate in candidates]
        rows = [self._row(SOURCE), *map(self._row, sources)]
        return Calls(("settle(1, 2)", "settle(1, 3)", "settle(2, 3)"), 3, tuple(rows))

    def _row(self, source: str) -> tuple[CallResult, ...]:
        (told,) = [line for line in source.splitlines() if "left[0]" in line]
        right, unchanged = "due - paid" in told, "owed - paid" in told
        first = "wrong" if unchanged else "right"
        last = "right" if right and "+ 1" not in told else "else"
        marks = (first, "same", told if self.asks else last if right else "same")
        return tuple(CallResult("returned", "tuple", mark, mark) for mark in marks)


def _chosen(*sums: str, asks: bool) -> list[int]:
    fixes = [_fix(n, 1.2 + 0.2 * n, new) for n, new in enumerate(sums)]
    failures = (Failure("t", "AssertionError", ""),)
    ranked = choose_patches(Called(asks=asks), fixes, failures, lambda fix: False, 0.9)  # type: ignore[arg-type]
    return [fix.number for fix in ranked]


def test_sums_that_could_as_well_be_more_do_not_support_each_other() -> None:
    assert _chosen("owed + paid", "owed", "paid", "due - paid", asks=False) == [3, 0]


def test_sums_that_calls_look_at_are_as_likely_as_they_cost() -> None:
    assert _chosen("owed + paid", "due - paid", asks=True) == [0, 1]


def test_a_sum_too_deep_to_be_written_again_is_not_asked() -> None:
    assert find_shifts([_fix(1, 1.0, " + ".join(["due"] * 2000))]) == ()
