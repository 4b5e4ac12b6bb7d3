"""`heal-bot explain` tells each cause once, and of each attempt what it changed."""

from __future__ import annotations

from heal_bot.cli.explain import explain_record
from tests.github_server import records


def test_tests_with_one_cause_share_suspects_and_attempts() -> None:
    data = records.data("1" * 40)
    first = data["failures"][0]
    data["failures"].append(first | {"test": "tests/test_pricing.py::test_twice"})
    told = "\n".join(explain_record(records.record(data)))
    assert told.count("suspect 1: shop/pricing.py:6 total") == len(
        {tuple(failure["cluster_ids"]) for failure in data["failures"]}
    )
    lines = told.splitlines()
    at = lines.index("fixed: tests/test_pricing.py::test_twice")
    assert lines[at + 2] == f"  suspects and attempts as for {first['test']}"


def test_an_attempt_says_what_it_changed_and_what_came_of_it() -> None:
    told = explain_record(records.record(records.data("1" * 40)))
    assert "  attempt 1 by rules: unchanged: starts the slice at 0; no failing test passes" in told


def test_failures_without_a_cause_are_told_one_by_one() -> None:
    data = records.data("1" * 40)
    for failure in data["failures"]:
        failure["cluster_ids"] = []
    assert "as for" not in "\n".join(explain_record(records.record(data)))
