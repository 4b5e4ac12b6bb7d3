"""Answers that fixed something are tried again, without a call, and forgotten where they fail."""

from __future__ import annotations

import json

import pytest

from heal_bot.llm_clients.answer_cache import open_replies
from tests.llm_clients.scene import ROUND_RIGHT, ROUND_WRONG, sent

WRONG = [ROUND_WRONG.replace("7", str(number)) for number in range(11, 19)]


def test_an_answer_that_fixed_it_is_tried_without_a_call_next_time(play, bench, tmp_path) -> None:
    for name in ("replies.sqlite", "replies.jsonl"):
        kept = tmp_path / name
        assert play(WRONG[0], ROUND_RIGHT, replies=open_replies(kept)).statuses[-1] == "fixed"
        scene = play(WRONG[0], replies=open_replies(kept))
        assert scene.statuses == ["fixed"]
        assert bench.server.requests == []
        assert scene.ledger.attempts[0].candidate.cost.usd == 0
        assert [event.kind for event in scene.kinds("kept")] == ["kept"]


def test_a_kept_answer_that_fails_is_forgotten_and_counts_as_tried(play, bench, tmp_path) -> None:
    replies = open_replies(tmp_path / "replies.jsonl")
    play(ROUND_RIGHT, replies=replies)
    (stored,) = (tmp_path / "replies.jsonl").read_text().splitlines()
    record = json.loads(stored)
    (tmp_path / "replies.jsonl").write_text(json.dumps({**record, "text": WRONG[3]}))
    again = open_replies(tmp_path / "replies.jsonl")
    scene = play(WRONG[4], WRONG[5], WRONG[6], replies=again)
    assert scene.statuses[0] == "unchanged"
    assert "value * 100 + 14" in sent(bench, 0)
    assert again.get(record["key"]) is None


def test_a_kept_answer_that_says_nothing_is_forgotten(play, tmp_path) -> None:
    replies = open_replies(tmp_path / "replies.jsonl")
    play(ROUND_RIGHT, replies=replies)
    key = json.loads((tmp_path / "replies.jsonl").read_text())["key"]
    replies.put(key, "import os; os.system('x')")
    scene = play(WRONG[4], WRONG[5], WRONG[6], replies=replies)
    assert scene.statuses[0] == "rejected"
    assert replies.get(key) is None


@pytest.mark.parametrize("changed", ["tests", "model"])
def test_another_test_or_model_is_another_question(play, bench, tmp_path, changed) -> None:
    replies = open_replies(tmp_path / "replies.sqlite")
    play(ROUND_RIGHT, replies=replies)
    if changed == "tests":
        play(ROUND_RIGHT, tests={"tests/test_shop.py::test_total": "got 2.0"}, replies=replies)
    else:
        play(bench.says("gemini", ROUND_RIGHT), providers=("gemini",), replies=replies)
    assert bench.server.requests
