from __future__ import annotations

import pytest

from heal_bot.core.model import Attempt, Candidate, Cause, Edit, Target, Verdict
from heal_bot.repair.llm.patch_equivalence import find_twin, given_up

ONE = "def f(a):\n    total = a + 1\n    return total\n"


@pytest.mark.parametrize(
    ("status", "found"), [("unchanged", True), ("rejected", True), ("timeout", False)]
)
def test_a_twin_counts_unless_it_was_never_judged(status, found) -> None:
    target = Target("m.py", "f", 0, "function", 1, 2, "def f(a):\n    return a\n")
    attempt = Attempt(3, "c", Candidate((Edit(target, ONE),), "rules", "x"), Verdict(status))
    again = ONE.replace("a + 1", "(a +\n        1)  # why")
    assert (
        find_twin(Candidate((Edit(target, again),), "claude", "x"), [attempt]) is attempt
    ) == found


LOST, FAILED = Verdict("unconfirmed", cause=Cause.ENVIRONMENT), Verdict("unconfirmed")


def made(number: int, verdict: Verdict, source: str = ONE, proposer: str = "claude") -> Attempt:
    target = Target("m.py", "f", 0, "function", 1, 2, "def f(a):\n    return a\n")
    return Attempt(number, "c", Candidate((Edit(target, source),), proposer, "x"), verdict)


def test_a_change_that_was_not_measured_is_judged_twice() -> None:
    one, two, failed = made(1, LOST), made(2, LOST), made(2, FAILED)
    again = one.candidate
    assert (find_twin(again, [one]), find_twin(again, [one, two])) == (None, two)
    assert find_twin(again, [one, failed]) is failed


@pytest.mark.parametrize(
    ("attempts", "number"),
    [
        ([made(1, LOST)], 0),
        ([made(1, LOST), made(2, LOST)], 2),
        ([made(1, LOST), made(2, LOST, "def f(a):\n    return 2\n")], 2),
        ([made(1, LOST), made(2, Verdict("unchanged"), "x = 1"), made(3, LOST)], 3),
        ([made(1, LOST), made(2, FAILED, "x = 1"), made(3, LOST)], 0),
        ([made(1, LOST, proposer="rules"), made(2, LOST)], 0),
    ],
    ids=["once", "twice", "in other words", "with a miss between", "measured between", "rules"],
)
def test_two_answers_in_a_row_that_were_not_measured_are_enough(attempts, number) -> None:
    found = given_up(attempts, {"claude"})
    assert (found.number if found else 0) == number


def test_the_same_code_with_an_import_is_another_change() -> None:
    target = Target("m.py", "f", 0, "function", 1, 2, "def f(a):\n    return a\n")
    bare = Attempt(6, "c", Candidate((Edit(target, ONE),), "model", "x"), Verdict("regression"))
    more = Candidate((Edit(target, ONE, ("import math",)),), "model", "x")
    assert find_twin(more, [bare]) is None
    assert find_twin(bare.candidate, [bare]) is bare
