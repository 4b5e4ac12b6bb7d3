"""What a model is told of an attempt that was not measured, and of a call that came to no end."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from heal_bot.core.model import Cause, Memory, Proposal, Verdict
from heal_bot.repair.search import attempt_history
from tests.llm_clients.scene import ROUND, ROUND_RIGHT, ROUND_WRONG, Scene, sent

WRONG_INSTRUCTIONS = ("did not do", "Start anew", "another suspect", "correct your idea")


def refusing(cause: Cause, times: int = 99) -> Callable[[Proposal], Verdict | None]:
    """A confirmation that refuses so often for that cause, and then holds."""
    left = iter(range(times))

    def confirm(proposal: Proposal) -> Verdict | None:
        refused = Verdict("unconfirmed", detail="2 tests no longer collected", cause=cause)
        return refused if next(left, None) is not None else None

    return confirm


UNMEASURED = [cause for cause in Cause if cause is not Cause.CHANGE]


@pytest.mark.parametrize("cause", UNMEASURED)
def test_what_was_not_measured_may_be_right_and_is_judged_again(play, bench, cause) -> None:
    scene = play(ROUND_RIGHT, ROUND_RIGHT, confirm=refusing(cause, 1))
    assert scene.statuses == ["unconfirmed", "fixed"]
    assert "# Attempt 1: not measured" in sent(bench, 1)
    assert "may be right" in sent(bench, 1)
    assert not any(wrong in sent(bench, 1) for wrong in WRONG_INSTRUCTIONS)
    assert "came closest" not in sent(bench, 1)
    assert scene.proposer.notes == []


def test_what_could_not_be_measured_twice_ends_the_tier_and_says_why(play, bench) -> None:
    scene = play(ROUND_RIGHT, confirm=refusing(Cause.IDS))
    assert scene.statuses == ["unconfirmed", "unconfirmed"]
    assert len(bench.server.requests) == 2
    assert scene.ledger.stopped == "stuck"
    (note,) = scene.proposer.notes
    assert note.startswith("attempt 2 may be right")
    assert note.endswith("2 tests no longer collected")


def test_what_was_not_measured_is_nothing_to_remember(play) -> None:
    scene = play(ROUND_RIGHT, confirm=refusing(Cause.FLAKY))
    assert attempt_history.extend_memory(Memory(), tuple(scene.ledger.attempts)) == Memory()


def test_what_the_change_itself_failed_is_not_judged_again(play, bench) -> None:
    scene = play(ROUND_RIGHT, ROUND_RIGHT, ROUND_WRONG, confirm=refusing(Cause.CHANGE))
    assert scene.statuses[:2] == ["unconfirmed", "rejected"]
    assert "did not do" in sent(bench, 1)
    assert "may be right" not in sent(bench, 1)
    tried = attempt_history.extend_memory(Memory(), tuple(scene.ledger.attempts)).tried
    assert "unconfirmed" in dict(tried).values() or "rejected" in dict(tried).values()


def late(bench, provider: str):
    """An answer that takes longer than a hasty client waits."""
    return bench.says(provider, ROUND_RIGHT, drip=0.2)


def test_after_a_call_that_ended_at_its_limit_the_next_model_is_asked(hasty) -> None:
    hasty.server.plays(late(hasty, "openai"), hasty.says("claude", ROUND_RIGHT))
    scene = Scene([hasty.models["openai"], hasty.models["claude"]], ROUND)
    assert scene.statuses == ["fixed"]
    assert [path.rpartition("/")[2] for path, _, _ in hasty.server.requests] == [
        "completions", "messages",
    ]  # fmt: skip


def test_a_model_whose_call_ended_at_its_limit_is_not_asked_again(hasty) -> None:
    hasty.server.plays(late(hasty, "openai"))
    scene = Scene([hasty.models["openai"]], ROUND)
    assert (scene.statuses, len(hasty.server.requests)) == ([], 1)
    assert "no complete answer" in scene.proposer.notes[0]
