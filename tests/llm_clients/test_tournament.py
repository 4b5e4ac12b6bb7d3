"""Several answers to one question, judged against each other before one is taken."""

from __future__ import annotations

import pytest

from heal_bot.llm_clients.answer_cache import open_replies
from heal_bot.repair.llm.budget import Budget
from tests.llm_clients.scene import ROUND_RIGHT, ROUND_WRONG, sent

WIDE = ROUND_RIGHT.replace(
    "    return math.floor(value * 100 + 0.5) / 100  # cents",
    "    cents = value * 100\n    cents = cents + 0.5\n    return math.floor(cents) / 100",
)


def test_of_those_that_fix_everything_the_smallest_change_is_offered(play, bench) -> None:
    scene = play(WIDE, ROUND_RIGHT, ROUND_WRONG, candidates=3)
    assert scene.statuses == ["fixed", "fixed", "unchanged"]
    assert [winner.number for winner in scene.proposal.winners] == [2]
    assert len(bench.server.requests) == 3
    tasks = ("the smallest change", "Start anew", "another suspect")
    for number, task in enumerate(tasks):
        assert task in sent(bench, number)
        assert "# Attempt 1" not in sent(bench, number)


def test_the_next_round_knows_all_of_the_last_one(play, bench) -> None:
    other = ROUND_WRONG.replace("7", "8")
    scene = play(ROUND_WRONG, other, ROUND_RIGHT, WIDE, candidates=2)
    assert scene.statuses == ["unchanged", "unchanged", "fixed", "fixed"]
    assert [winner.number for winner in scene.proposal.winners] == [3]
    for number in (2, 3):
        assert "value * 100 + 7" in sent(bench, number)
        assert "value * 100 + 8" in sent(bench, number)


def test_the_same_answer_twice_is_run_once(play) -> None:
    scene = play(ROUND_RIGHT, ROUND_RIGHT, ROUND_WRONG, candidates=3)
    assert scene.statuses == ["rejected", "fixed", "unchanged"]
    assert "another candidate of this round" in scene.ledger.attempts[0].verdict.detail


def test_what_was_paid_for_is_judged_where_the_budget_ends_a_round(play, bench) -> None:
    scene = play(ROUND_WRONG, ROUND_RIGHT, WIDE, candidates=3, budget=Budget(calls=2))
    assert scene.statuses == ["unchanged", "fixed"]
    assert len(bench.server.requests) == 2
    assert scene.proposal is not None


@pytest.mark.parametrize("answers", [(WIDE, ROUND_RIGHT), (ROUND_RIGHT, WIDE)])
def test_the_answer_that_is_offered_is_the_one_that_is_kept(play, tmp_path, answers) -> None:
    kept = tmp_path / "replies.jsonl"
    play(*answers, candidates=2, replies=open_replies(kept))
    scene = play(replies=open_replies(kept))
    assert scene.statuses == ["fixed"]
    assert "+ 0.5) / 100" in scene.ledger.attempts[0].diff


def test_a_round_without_a_fix_leaves_the_cap_on_attempts_as_it_is(play) -> None:
    wrong = [ROUND_WRONG.replace("7", str(number)) for number in range(11, 25)]
    scene = play(*wrong, candidates=3)
    assert len(scene.statuses) == 8
    assert scene.ledger.stopped == "budget"
