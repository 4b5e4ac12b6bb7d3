"""A run in plain text: each cause once, of each attempt what it changed, and both choices."""

from __future__ import annotations

from heal_bot.report.explanation import explain_record
from tests.github_server import records


def test_tests_with_one_cause_share_suspects_and_attempts() -> None:
    data = records.data("1" * 40)
    first = data["failures"][0]
    data["failures"].append(first | {"test": "tests/test_pricing.py::test_twice"})
    more = [first | {"test": f"tests/test_pricing.py::test_split[{n}]"} for n in range(293)]
    data["failures"] += more
    told = "\n".join(explain_record(records.record(data)))
    assert told.count("suspect 1: shop/pricing.py:6 total") == len(
        {tuple(failure["cluster_ids"]) for failure in data["failures"]}
    )
    assert "  also fixed: tests/test_pricing.py::test_twice\n" in told
    assert "  also fixed: tests/test_pricing.py::test_split: 293 parameters\n" in told
    assert told.count("test_split") == 1


def test_an_attempt_says_what_it_changed_and_what_came_of_it() -> None:
    told = explain_record(records.record(records.data("1" * 40)))
    assert "  attempt 1 by rules fixes none: starts the slice at 0; no failing test passes" in told


def test_failures_without_a_cause_are_told_one_by_one() -> None:
    data = records.data("1" * 40)
    for failure in data["failures"]:
        failure["cluster_ids"] = []
    assert "as for" not in "\n".join(explain_record(records.record(data)))


def test_a_question_is_told_with_both_choices() -> None:
    told = explain_record(records.record(records.asked("1" * 40)))
    assert "what should total([]) give?" in told
    assert {"  A: 0", "  B: raises IndexError"} <= {*told}
