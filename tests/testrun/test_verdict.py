"""What an answer of the warm session says of a candidate, and what says nothing of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from heal_bot.core.model import CaseResult, Cause, Failure
from heal_bot.testrun import verdict
from heal_bot.testrun.judge_protocol import JudgeResponse
from heal_bot.testrun.verdict import Expectation

FAILING, GUARD = "t.py::test_red", "t.py::test_green"
EXPECTED = Expectation((Failure(FAILING, "AssertionError", "1 != 2"),), (GUARD,))


def results(**outcomes: str) -> dict[str, CaseResult]:
    return {f"t.py::{name}": CaseResult(f"t.py::{name}", how) for name, how in outcomes.items()}


@pytest.mark.parametrize(
    ("answer", "status", "cause"),
    [
        (JudgeResponse("judged", "", results(test_red="passed", test_green="passed")), "fixed",
         Cause.CHANGE),
        (JudgeResponse("judged", "", results(test_red="passed")), "error", Cause.IDS),
        (JudgeResponse("judged", "", results(test_red="passed", test_green="failed")), "regression",
         Cause.CHANGE),
        (JudgeResponse("timeout", "ended after 9 s"), "timeout", Cause.CHANGE),
        (JudgeResponse("crashed", "the test process ended early"), "error", Cause.CHANGE),
    ],
)  # fmt: skip
def test_a_change_is_not_to_blame_for_tests_that_were_not_run(
    answer: JudgeResponse, status: str, cause: Cause
) -> None:
    found = verdict.make_verdict(answer, EXPECTED)
    assert (found.status, found.cause) == (status, cause)


def test_the_judge_in_the_sandbox_stops_after_as_many_broken_tests_as_the_verdict_thinks() -> None:
    judge = Path(verdict.__file__).with_name("agent") / "_heal_judge.py"
    assert f"_ENOUGH_BROKEN = {verdict.ENOUGH_BROKEN}\n" in judge.read_text()


def test_a_bracket_in_a_path_makes_no_parameter_of_what_lies_below() -> None:
    known = {name: CaseResult(name, "passed") for name in ("[a]/t.py::C::test_x", "[a]/t.py::y")}
    for name, number in (("[a]/t.py", 2), ("[a]/t.py::C", 1), ("[a]/t.py::C::test_x[1]", 0)):
        assert len(verdict.find_results(known, name)) == number
