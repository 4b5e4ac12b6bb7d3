"""The question of a run as people are asked it, and the test that would hold the answer."""

from __future__ import annotations

import pytest

from heal_bot.core.outcome import OutcomeRecord
from heal_bot.report.deciding_question import list_answers
from tests.github_server import records


def _asked(call: str, result: str) -> OutcomeRecord:
    values = records.asked("1" * 40)
    values["question"]["call"] = call
    values["question"]["answers"][0]["result"] = result
    return records.record(values)


def test_each_choice_has_what_it_gives() -> None:
    answers = list_answers(records.record(records.asked("1" * 40)))
    assert [(one.choice.id, one.result) for one in answers] == [
        ("A", "0"), ("B", "raises IndexError"),
    ]  # fmt: skip
    assert [one.test for one in answers] == ["assert total([]) == 0", ""]


def test_a_run_without_a_question_has_no_answers() -> None:
    assert list_answers(records.record(records.data("1" * 40))) == ()


@pytest.mark.parametrize(
    ("call", "result", "test"),
    [
        ("total([1, -2])", "-1", "assert total([1, -2]) == -1"),
        ("total(prices=[1.5])", "{'a': (None, True)}",
         "assert total(prices=[1.5]) == {'a': (None, True)}"),
        ("total([])", "<Basket object>", ""),
        ("total([])", "Basket(1)", ""),
        ("total([])", "nan", ""),
        ("total([])", "0; import os", ""),
        ("total(<Basket object>)", "0", ""),
        ("total(Basket())", "0", ""),
        ("total(*[1])", "0", ""),
        ("total.pop([1])", "0", ""),
        ("discount(1, 2)", "0", ""),
        ("total(['***'])", "0", ""),
        ("total(['<U+200B>'])", "0", ""),
        ("total([])", "(" * 900, ""),
        ("total([])", "", ""),
    ],
)  # fmt: skip
def test_the_test_is_written_where_call_and_answer_are_plain_literals(
    call: str, result: str, test: str
) -> None:
    assert list_answers(_asked(call, result))[0].test == test
