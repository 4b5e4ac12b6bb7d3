"""What a run of failing tests says of each of them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from heal_bot.core.model import CaseResult, Failure
from heal_bot.history.bisection import state_of
from tests.fakes import failed, passed, quiet_run, suite

ONE, TWO = "tests/test_a.py::test_one", "tests/test_a.py::test_two"
RED = replace(failed(ONE), kind="ValueError")


@pytest.mark.parametrize(
    ("test", "results", "said"),
    [
        (ONE, [passed(ONE), failed(TWO)], "passed"),
        (ONE, [passed(f"{ONE}[1]"), failed(f"{ONE}[2]")], "failed"),
        (ONE, [passed(f"{ONE}_more")], ""),
        (ONE, [CaseResult(ONE, "xfailed")], "passed"),
        (ONE, [CaseResult(ONE, "skipped")], ""),
        (ONE, [CaseResult(ONE, "error")], "failed"),
        ("tests/test_a.py", [passed(ONE), CaseResult(TWO, "skipped")], "passed"),
        ("tests/test_a.py", [passed(ONE), failed(TWO)], "failed"),
        ("tests/test_a.py", [passed("tests/test_a.py.py::test_one")], ""),
    ],
)
def test_a_run_says_of_a_test_or_of_those_beneath_whether_they_pass(
    test: str, results: list[CaseResult], said: str
) -> None:
    assert state_of(test, suite(*results)) == said


def test_what_is_red_for_another_exception_says_nothing() -> None:
    assert state_of(ONE, suite(RED), Failure(ONE, "ValueError", "")) == "failed"
    assert state_of(ONE, suite(RED), Failure(ONE, "AssertionError", "")) == ""


def test_a_run_that_did_not_finish_says_only_what_fails() -> None:
    cut = replace(suite(passed(ONE), failed(TWO)), ended="timeout")
    assert (state_of(ONE, cut), state_of(TWO, cut)) == ("", "failed")
    run, heard = quiet_run()
    run.tell_suite("history", "failing tests at abc1234", cut)
    (event,) = heard
    assert (event.passed, event.failed, event.ended) == (1, 1, "timeout")
