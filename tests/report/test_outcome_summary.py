"""What is read before the folds: short for real outcomes, whole for what decides, tame for all."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import pytest

from heal_bot.core.outcome import OutcomeRecord
from heal_bot.report import outcome_summary, pull_request_body
from heal_bot.report.proposed_change import render_claimed
from tests.github_server import records
from tests.report import recorded
from tests.report.tame import HOSTILE, assert_tame
from tests.report.test_pull_request_body import hostile

BASE = "5" * 40
RECORDED = recorded.list_recorded()


def summary(record: OutcomeRecord, **shown: Any) -> str:
    return outcome_summary.summarize(record, replace(render_claimed(record), **shown))


@pytest.mark.parametrize("name", RECORDED)
def test_a_real_outcome_takes_no_more_than_25_lines_before_its_folds(name: str) -> None:
    record = RECORDED[name]
    _, body = pull_request_body.pull_request(record, recorded.show_whole(record))
    assert recorded.count_visible(body) <= outcome_summary.LINES
    assert_tame(body.replace(f"]({recorded.RUN})", "").replace("[run 123", "run 123"))


@pytest.mark.parametrize("name", RECORDED)
def test_nothing_is_said_twice_before_the_folds(name: str) -> None:
    lines = [line for line in summary(RECORDED[name]).splitlines() if len(line) > 40]
    assert len(lines) == len(set(lines))


def test_a_partly_healed_run_says_all_that_decides() -> None:
    text = summary(RECORDED["two_of_three_causes"], run_url=recorded.RUN)
    assert "| `clamp` in `lib/nums.py` | `lo` becomes `hi` on line 9. | 3 |" in text
    assert "`clamp(99, 5, 9)` gave `5`, expected `9`" in text
    assert "+        return hi" in text
    assert f"**Fixes 14 of 17** failing tests of [run 123]({recorded.RUN});" in text
    assert "66 passed, 3 failed (was 17), twice in a fresh checkout" in text
    assert "**Still failing (3):**" in text
    assert "Suggested below: attempt 7 (`len(values) + 1` becomes `len(values)`" in text
    assert "[!WARNING]" not in text


def test_the_commit_at_fault_is_proved_and_a_doubt_is_an_alert_before_all_else() -> None:
    text = summary(RECORDED["three_causes_of_a_commit"])
    assert text.startswith("> [!WARNING]\n> Takes back a part of `e1f8895` (Simplify numbers)")
    assert "**Proved:** `e1f8895` (Simplify numbers) broke these 17 tests;" in text


def test_one_cause_is_a_sentence_and_no_table() -> None:
    text = summary(RECORDED["syntax_error"])
    assert text.startswith("Line 13 of `lib/nums.py` made 1 test fail. `:` is missing in line 13.")
    assert "|" not in text.partition("\n\n")[0]
    assert "- Before: SyntaxError: expected ':'." in text


def test_without_a_patch_it_is_a_diagnosis_with_the_closest_attempt_and_no_branch() -> None:
    _, body = pull_request_body.pull_request(RECORDED["no_fix"])
    assert body.startswith("**No fix found.**")
    assert "`tests/test_roman.py::test_roman` (4 parameters)" in body
    assert "fixes 1 of 4" in body
    assert "+    return 'IV'" in body
    assert "git fetch" not in body
    assert "git checkout" not in body
    assert "```diff\n```" not in body


def test_places_of_ci_that_did_not_run_are_named() -> None:
    values = records.data(BASE)
    values["certificate"]["not_run"] = ["Python 3.10", "Windows"]
    assert "Python 3\\.12.4; not run: Python 3.10, Windows." in summary(records.record(values))


def test_a_suggestion_is_shown_with_what_speaks_against_it() -> None:
    text = summary(records.record(records.suggested(BASE)))
    assert (
        "> This change passes 1 failing test in cold runs, but is not proposed as the fix." in text
    )
    assert "One failing test alone vouches for it." in text
    assert "+    return sum(prices)" in text


def test_a_question_comes_first_with_both_answers_and_changes() -> None:
    text = summary(RECORDED["two_changes"])
    assert text.startswith(
        "**Two changes pass: one answer decides.** What should `passed(4, 8)` give?\n\n"
        "**A** gives `False` (as a test: `assert passed(4, 8) == False`):\n\n```diff\n"
    )
    assert "+    return points * 2 > total\n```\n\n**B** gives `True`" in text
    assert "+    return points * 2 >= total\n```" in text
    assert "Attempts 1 and 2 pass it, and a question decides between them." in text
    assert "WARNING" not in text


def test_a_question_of_foreign_words_is_tame() -> None:
    values = records.asked(BASE)
    words = " ".join(HOSTILE.split())
    values["question"]["call"] = words
    for answer in values["question"]["answers"]:
        answer["result"] = words
    for choice in values["choices"]:
        choice["diff"] = HOSTILE
    assert_tame(pull_request_body.pull_request(records.record(values))[1])


def _bulk(values: dict[str, Any]) -> None:
    first = values["failures"][1]
    values["failures"] += [
        first | {"test": f"tests/test_m.py::test_split[{n}]"} for n in range(5_000)
    ]


def _long(values: dict[str, Any]) -> None:
    name = "tests/t.py::test_" + "x" * 400
    values["failures"][1]["test"] = name


def _turned(values: dict[str, Any]) -> None:
    values["failures"][1]["test"] = "tests/t.py::test_\u202e\u05d0\u05d1\u05d2"


def _windows(values: dict[str, Any]) -> None:
    values["patch"]["diff"] = values["patch"]["diff"].replace("\n", "\r\n")


def _hostile(values: dict[str, Any]) -> None:
    values |= hostile(copy.deepcopy(values))
    values["request"]["trigger"] = "command"


@pytest.mark.parametrize("spoil", [_bulk, _long, _turned, _windows, _hostile])
@pytest.mark.parametrize("healed", [True, False])
def test_odd_outcomes_stay_short_and_tame(spoil: Any, healed: bool) -> None:
    values = records.data(BASE)
    spoil(values)
    if not healed:
        values |= {"patch": None, "certificate": None, "status": "not_healed"}
    text = summary(records.record(values))
    assert len(text.splitlines()) <= outcome_summary.LINES
    assert max(map(len, text.splitlines())) < 2_500
    assert not set("\u202e\r") & set(text)
    assert_tame(text)


def test_parameters_in_bulk_are_one_line() -> None:
    values = records.data(BASE)
    _bulk(values)
    text = summary(records.record(values))
    assert text.count("test_split") == 1
    assert "`tests/test_m.py::test_split` (5000 parameters)" in text


def test_nobody_is_mentioned_in_a_doubt() -> None:
    values = records.data(BASE)
    values["certificate"]["doubts"] = [HOSTILE]
    assert_tame(summary(records.record(values)))


def test_the_tests_of_a_command_are_not_called_the_whole_suite() -> None:
    values = records.data(BASE)
    assert "whole suite: 11 passed" in summary(records.record(values))
    values["certificate"]["environment"]["command"] = "pytest tests/unit"
    text = summary(records.record(values))
    assert "tests of `pytest tests/unit`: 11 passed" in text
    assert "whole suite" not in text
