from __future__ import annotations

import pytest

from heal_bot.core.errors import SandboxError
from heal_bot.core.model import CaseResult
from heal_bot.testrun.baseline_calibration import Unchanged, measure
from heal_bot.testrun.candidate_pacing import LONGEST, SHORT, measure_pace
from heal_bot.testrun.judge_protocol import JudgeRequest, JudgeResponse


def _results(**seconds: float) -> dict[str, CaseResult]:
    return {name: CaseResult(name, "failed", seconds=taken) for name, taken in seconds.items()}


def _guard(seconds: float) -> CaseResult:
    return CaseResult("guard", "passed", seconds=seconds)


@pytest.mark.parametrize(
    ("taken", "hung", "guards", "first", "limit"),
    [
        ({"a": 0.001, "b": 0.002}, (), (), ("a", "b"), 0.06),
        ({"a": 0.02, "b": 1.7}, (), (), ("a",), 0.4),
        ({"a": 1.7}, (), (), ("a",), LONGEST),
        ({"a": 0.001}, ("b",), (), ("a",), SHORT),
        ({}, ("a", "b"), (_guard(0.004),), ("a",), 0.08),
        ({}, ("a", "b"), (), ("a",), 0.25),
    ],
)
def test_quick_tests_come_first_and_set_the_limit(
    taken: dict[str, float],
    hung: tuple[str, ...],
    guards: tuple[CaseResult, ...],
    first: tuple[str, ...],
    limit: float,
) -> None:
    names = (*taken, *hung)
    found = measure_pace(names, Unchanged(_results(**taken), hung, guards), 0.5)
    assert (found.first, found.rest) == (first, tuple(n for n in names if n not in first))
    assert found.limit == pytest.approx(limit)
    assert found.longer > found.limit


def test_a_change_that_passes_shortens_the_limit_of_tests_that_hang() -> None:
    before = measure_pace(("a",), Unchanged({}, ("a",), ()), 0.5)
    assert before.knowing(_results(a=0.001)).limit == SHORT
    assert before.knowing(_results(a=60.0)).limit == before.limit


def _asked(*answers: JudgeResponse) -> tuple[list[JudgeRequest], object]:
    orders: list[JudgeRequest] = []
    left = list(answers)

    def ask(order: JudgeRequest) -> JudgeResponse:
        orders.append(order)
        return left.pop(0)

    return orders, ask


def test_a_test_that_takes_all_the_time_hangs_and_the_others_are_run_without_it() -> None:
    orders, ask = _asked(
        JudgeResponse("timeout", results=_results(a=0.1), seconds=2.1),
        JudgeResponse("judged", results=_results(c=0.1)),
    )
    found = measure(ask, ("a", "b", "c"), ())  # type: ignore[arg-type]
    assert (found.hung, set(found.failing)) == (("b",), {"a", "c"})
    assert [order.first for order in orders] == [("a", "b", "c"), ("c",)]


def test_what_cannot_be_swapped_is_run_from_its_files() -> None:
    orders, ask = _asked(JudgeResponse("unsound"), JudgeResponse("judged", results=_results(a=0.1)))
    assert measure(ask, ("a",), ()).hung == ()  # type: ignore[arg-type]
    assert [order.files for order in orders] == [None, {}]


def test_a_failing_test_that_passes_warm_is_refused() -> None:
    _, ask = _asked(JudgeResponse("judged", results={"a": CaseResult("a", "passed")}))
    with pytest.raises(SandboxError, match="pass in a warm process"):
        measure(ask, ("a",), ())  # type: ignore[arg-type]
