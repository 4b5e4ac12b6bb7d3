"""Comments: where the result is in one line, then what a pull request says, and how to take it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from heal_bot.report import status_comment, step_summary
from heal_bot.report.proposed_change import render_claimed
from heal_bot.report.pull_request_body import ASK
from tests.github_server import records
from tests.report import recorded
from tests.report.tame import HOSTILE, assert_tame

MARK = "<!-- heal-bot request 7 -->"
URL = "http://forge/pull/9"
RECORD = recorded.list_recorded()["two_of_three_causes"]
SHOWN = replace(render_claimed(RECORD), commands=ASK)


@pytest.mark.parametrize(
    ("published", "told"),
    [
        ("created", f"**Fix proposed** in {URL}."),
        ("unchanged", f"**Fix proposed** in {URL}, as before."),
        ("branch_only", f"**Fix pushed**; [open the pull request]({URL}) by hand. Not allowed."),
        ("superseded", "**Superseded.** Not allowed."),
        ("summary", "**Fix found, and not pushed.** Not allowed."),
    ],
)
def test_a_result_is_one_line_in_plain_words(published: str, told: str) -> None:
    assert status_comment.render_result(RECORD, published, "not allowed", URL) == told


def test_a_proposal_says_how_to_take_it_and_its_numbers_once() -> None:
    text = status_comment.render_reply(MARK, RECORD, "created", "", URL, SHOWN)
    assert text.startswith(f"{MARK}\n**Fix proposed** in {URL}. Take it with `/heal apply`")
    assert text.count("14 of 17") == 1
    assert "`/heal apply` · `/heal retry <hint>`" in text
    assert "heal-bot memory" not in text


def test_what_is_not_pushed_says_why_and_holds_a_change_that_git_takes() -> None:
    text = status_comment.render_by_hand(MARK, RECORD, SHOWN, "a" * 40, HOSTILE)
    assert text.startswith(f"{MARK}\nNot pushed: ")
    whole = text.partition("<summary>The whole change</summary>")[2]
    assert RECORD.patch is not None
    assert RECORD.patch.diff.strip() in whole
    assert "git fetch" not in text
    assert_tame(text)


def test_nothing_is_asked_of_a_fork_that_is_not_served_there() -> None:
    text = status_comment.render_by_hand(MARK, RECORD, replace(SHOWN, commands=()), "a" * 40, "x")
    assert "/heal" not in text


def test_a_step_summary_names_no_branch_where_nothing_was_proposed() -> None:
    record = recorded.list_recorded()["no_fix"]
    text = step_summary.render_step(record, "nothing", "no patch", "")
    assert text.startswith("**No fix found.**")
    assert "git fetch" not in text
    assert "/heal" not in text


def test_the_text_above_a_review_is_what_was_fixed() -> None:
    text = status_comment.render_review(MARK, RECORD, SHOWN)
    assert text.splitlines()[1].startswith("**Fixes 14 of 17** failing tests;")
    assert text.endswith("Changed: `lib/nums.py::pages`, `lib/nums.py::clamp`.")


def test_a_request_that_is_not_served_or_broke_says_so_tamely() -> None:
    for text in (status_comment.render_refused(MARK, HOSTILE),
                 status_comment.render_failed(MARK, HOSTILE)):  # fmt: skip
        assert_tame(text)


def test_a_claimed_suggestion_offers_no_commands() -> None:
    record = records.record(records.suggested("5" * 40))
    text = status_comment.render_diagnosis(MARK, record, claimed=True)
    assert "An unprivileged run claims all of this" in text
    assert "/heal" not in text
