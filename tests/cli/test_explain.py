"""`heal-bot explain` tells each cause once, and of each attempt what it changed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from heal_bot.cli.explain import command, explain_record
from heal_bot.core.errors import UsageError
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


def explain(tmp_path: Path, *arguments: str) -> str:
    (tmp_path / "outcome.json").write_text(json.dumps(records.data("1" * 40)))
    given = [str(tmp_path), *arguments]
    result = CliRunner().invoke(command, given, standalone_mode=False)
    if result.exception:
        raise result.exception
    return result.output


def test_one_attempt_is_shown_with_its_diff_and_what_failed_after_it(tmp_path: Path) -> None:
    told = explain(tmp_path, "--attempt", "1").splitlines()
    assert told[0] == "attempt 1 by rules: fixes none"
    assert "  still fails: tests/test_pricing.py::test_total: assert 0 == 3" in told
    assert "+    return sum(prices[2:])" in told
    assert told[-1] == f"next: heal-bot apply --bundle {tmp_path} --attempt 1"


def test_an_attempt_that_is_not_there_is_an_error_that_says_how_many_are(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--attempt 9: the bundle records 2 attempts"):
        explain(tmp_path, "--attempt", "9")
