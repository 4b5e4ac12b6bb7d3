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


def test_a_change_that_was_not_measured_is_judged_twice() -> None:
    target = Target("m.py", "f", 0, "function", 1, 2, "def f(a):\n    return a\n")
    change = Candidate((Edit(target, ONE),), "model", "x")
    lost = Verdict("unconfirmed", cause=Cause.ENVIRONMENT)
    one, two = Attempt(1, "c", change, lost), Attempt(2, "c", change, lost)
    assert (twin(change.edits, [one]), twin(change.edits, [one, two])) == (None, two)
    assert (open_again([one]), given_up([one])) == ((1,), None)
    assert (open_again([one, two]), given_up([one, two])) == ((), two)
    failed = Attempt(2, "c", change, Verdict("unconfirmed"))
    assert twin(change.edits, [one, failed]) is failed
    assert (open_again([one, failed]), given_up([one, failed])) == ((), None)


def test_the_same_code_with_an_import_is_another_change() -> None:
    target = Target("m.py", "f", 0, "function", 1, 2, "def f(a):\n    return a\n")
    bare = Attempt(6, "c", Candidate((Edit(target, ONE),), "model", "x"), Verdict("regression"))
    assert twin((Edit(target, ONE, ("import math",)),), [bare]) is None
    assert twin((Edit(target, ONE),), [bare]) is bare
