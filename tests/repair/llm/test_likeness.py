from __future__ import annotations

import pytest

from heal_bot.model import Attempt, Candidate, Cause, Edit, Target, Verdict
from heal_bot.repair.llm.likeness import given_up, normal, open_again, twin

ONE = "def f(a):\n    total = a + 1\n    return total\n"


@pytest.mark.parametrize(
    "other",
    [
        ONE.replace("total", "result"),
        ONE.replace("    total", "    # why\n    total"),
        ONE.replace("a + 1", "(a +\n        1)"),
        'def f(a: int) -> int:\n    """Add."""\n    total = a + 1\n    return total\n',
        "    def f(a):\n        total = a + 1\n        return total\n",
    ],
)
def test_layout_comments_and_local_names_make_no_difference(other) -> None:
    assert normal(other) == normal(ONE)


@pytest.mark.parametrize(
    "other",
    [
        ONE.replace("+ 1", "+ 2"),
        ONE.replace("(a)", "(b)").replace("= a", "= b"),
        ONE.replace("return total", "return a"),
        "def f(a):\n    global total\n    total = a + 1\n    return total\n",
        "@cache\n" + ONE,
        "def f(a:",
    ],
)
def test_what_behaves_otherwise_is_something_else(other) -> None:
    assert normal(other) != normal(ONE)


@pytest.mark.parametrize(
    ("status", "found"), [("unchanged", True), ("rejected", True), ("timeout", False)]
)
def test_a_twin_counts_unless_it_was_never_judged(status, found) -> None:
    target = Target("m.py", "f", 0, "function", 1, 2, "def f(a):\n    return a\n")
    attempt = Attempt(3, "c", Candidate((Edit(target, ONE),), "rules", "x"), Verdict(status))
    edits = (Edit(target, ONE.replace("total", "t")),)
    assert (twin(edits, [attempt]) is attempt) == found


LOST, FAILED = Verdict("unconfirmed", cause=Cause.ENVIRONMENT), Verdict("unconfirmed")


def made(number: int, verdict: Verdict, source: str = ONE, proposer: str = "claude") -> Attempt:
    target = Target("m.py", "f", 0, "function", 1, 2, "def f(a):\n    return a\n")
    return Attempt(number, "c", Candidate((Edit(target, source),), proposer, "x"), verdict)


def test_a_change_that_was_not_measured_is_judged_twice() -> None:
    one, two, failed = made(1, LOST), made(2, LOST), made(2, FAILED)
    edits = one.candidate.edits
    assert (twin(edits, [one]), twin(edits, [one, two])) == (None, two)
    assert (open_again([one]), open_again([one, two])) == ((1,), ())
    assert twin(edits, [one, failed]) is failed
    assert open_again([one, failed]) == ()


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
    assert twin((Edit(target, ONE, ("import math",)),), [bare]) is None
    assert twin((Edit(target, ONE),), [bare]) is bare
