"""What was wrong, read off the attempts and the patch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from heal_bot.report import sections
from heal_bot.report.causes import (
    describe_attempt,
    find_closest,
    find_suspect,
    list_causes,
)
from tests.github_server import records

BASE = "5" * 40
Make = Callable[[str], dict[str, Any]]


def _causes(data: dict[str, Any]) -> list[tuple[int, str, tuple[str, ...]]]:
    return [(c.attempt.number, c.said, c.tests) for c in list_causes(records.record(data))]


def test_an_attempt_in_the_patch_is_a_cause_with_the_tests_it_was_first_to_fix() -> None:
    data = records.data(BASE)
    test = data["failures"][0]["test"]
    assert _causes(data) == [(2, "`assert 2 == 3` fails", (test,))]
    data["attempts"].append(data["attempts"][1] | {"number": 3})
    assert [number for number, _, _ in _causes(data)] == [2]


def test_what_is_not_in_the_patch_is_no_cause() -> None:
    data = records.data(BASE)
    data["attempts"][1]["diff"] = data["attempts"][1]["diff"].replace("sum(prices)", "max(prices)")
    assert _causes(data) == []
    assert _causes(records.data(BASE) | {"patch": None, "certificate": None}) == []


def test_an_attempt_tells_what_it_changed_and_what_came_of_it() -> None:
    first, second = records.record(records.data(BASE)).attempts
    assert describe_attempt(first) == "starts the slice at 0; no failing test passes"
    assert describe_attempt(second) == "sums every price"
    looked = second.model_copy(update={"rationale": "sums every price\n\nlook: run\nprint(1)"})
    assert describe_attempt(looked) == "sums every price"


def test_a_fix_that_was_not_taken_is_accounted_for() -> None:
    data = records.data(BASE)
    assert "the likeliest was taken" not in sections.list_attempts(records.record(data))
    other = data["attempts"][1]["diff"].replace("sum(prices)", "sum(prices[0:])")
    data["attempts"].append(data["attempts"][1] | {"number": 3, "diff": other})
    assert "the likeliest was taken" in sections.list_attempts(records.record(data))


def test_what_is_suggested_comes_closest_also_where_another_change_is_shorter() -> None:
    data = records.suggested(BASE)
    suggested = data["attempts"][1]
    other = suggested | {"number": 3, "diff": suggested["diff"][:-2]}
    data["attempts"] = [other, suggested]
    data["failures"] = [data["failures"][0] | {"status": "still_failing"}]
    record = records.record(data)
    closest = find_closest(record, record.failures[0])
    assert closest is not None
    assert closest.number == data["suggestion"]["attempt"]


@pytest.mark.parametrize("make", [records.data, records.suggested, records.asked])
def test_where_a_change_held_no_function_that_it_leaves_is_suspected(make: Make) -> None:
    data = make(BASE)
    suspect = data["failures"][0]["suspects"][0]
    data["failures"][0]["suspects"] = [suspect | {"qualname": "discount"}, suspect]
    record = records.record(data)
    assert find_suspect(record, record.failures[0]) == record.failures[0].suspects[1]
    data["failures"][0]["suspects"].pop()
    record = records.record(data)
    assert find_suspect(record, record.failures[0]) is None
    unlike = {"patch": None, "certificate": None, "suggestion": None, "status": "not_healed"}
    record = records.record(data | unlike | {"choices": [], "question": None})
    assert find_suspect(record, record.failures[0]) is not None
