"""What an answer of the warm session says of a candidate, and what says nothing of it."""

from __future__ import annotations

import pytest

from heal_bot.core.model import CaseResult, Cause, Failure
from heal_bot.testrun import verdict
from heal_bot.testrun.judge_protocol import Answer
from heal_bot.testrun.verdict import Expectation

FAILING, GUARD = "t.py::test_red", "t.py::test_green"
EXPECTED = Expectation((Failure(FAILING, "AssertionError", "1 != 2"),), (GUARD,))


def results(**outcomes: str) -> dict[str, CaseResult]:
    return {f"t.py::{name}": CaseResult(f"t.py::{name}", how) for name, how in outcomes.items()}


@pytest.mark.parametrize(
    ("answer", "status", "cause"),
    [
        (Answer("judged", "", results(test_red="passed", test_green="passed")), "fixed",
         Cause.CHANGE),
        (Answer("judged", "", results(test_red="passed")), "error", Cause.IDS),
        (Answer("judged", "", results(test_red="passed", test_green="failed")), "regression",
         Cause.CHANGE),
        (Answer("timeout", "ended after 9 s"), "timeout", Cause.CHANGE),
        (Answer("crashed", "the test process ended early"), "error", Cause.CHANGE),
    ],
)  # fmt: skip
def test_a_change_is_not_to_blame_for_tests_that_were_not_run(
    answer: Answer, status: str, cause: Cause
) -> None:
    found = verdict.of(answer, EXPECTED)
    assert (found.status, found.cause) == (status, cause)
