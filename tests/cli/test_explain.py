"""`heal-bot explain` shows one attempt with all that is known of it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner

from heal_bot.cli.explain import command
from heal_bot.core.errors import UsageError
from tests.github_server import records


def explain(tmp_path: Path, *arguments: str, breaks: Sequence[str] = ()) -> str:
    data = records.data("1" * 40)
    data["attempts"][0]["newly_failing"] = [*breaks]
    (tmp_path / "outcome.json").write_text(json.dumps(data))
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


def test_what_breaks_a_test_is_not_to_be_taken_as_it_is(tmp_path: Path) -> None:
    told = explain(tmp_path, "--attempt", "1", breaks=["tests/test_cart.py::test_sum"]).splitlines()
    assert "  breaks: tests/test_cart.py::test_sum" in told
    assert told[-1].startswith("next: mend what it breaks; heal-bot apply")


def test_an_attempt_that_is_not_there_is_an_error_that_says_how_many_are(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--attempt 9: the bundle records 2 attempts"):
        explain(tmp_path, "--attempt", "9")


def test_a_bundle_is_named_by_a_word_or_by_an_option_and_once(tmp_path: Path) -> None:
    data = records.data("1" * 40)
    (tmp_path / "outcome.json").write_text(json.dumps(data))
    by_option = CliRunner().invoke(command, ["--bundle", str(tmp_path)], standalone_mode=False)
    assert by_option.output == explain(tmp_path)
    twice = CliRunner().invoke(command, [str(tmp_path), "--bundle", "x"], standalone_mode=False)
    assert isinstance(twice.exception, UsageError)
    assert "name one" in str(twice.exception)
