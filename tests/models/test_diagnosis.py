"""Where a model is stuck: a diagnosis, looks in the sandbox, and where the search goes then."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from heal_bot.errors import SandboxError
from heal_bot.model import Edit
from heal_bot.models.cache import open_replies
from heal_bot.ports import Observed
from tests.models.scene import ROUND_RIGHT, ROUND_WRONG, sent

WRONG = [ROUND_WRONG.replace("7", str(number)) for number in range(11, 19)]


class NotedLab:
    """Stands where the sandbox is, and notes what it is asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def snippet(self, code: str, edits: Sequence[Edit] = ()) -> Observed:
        self.asked.append(code)
        return Observed("exited", 0, f"seen {len(self.asked)}\n")


def diagnosis(confidence: float, *looks: dict[str, object]) -> str:
    said = {"cause": "the addend", "confidence": confidence, "suspects": [1], "looks": looks}
    return json.dumps(said)


def test_a_stuck_model_looks_before_it_starts_afresh(play, bench) -> None:
    lab = NotedLab()
    looks = [
        {"tool": "run", "code": "print(1)"},
        {"tool": "values", "path": "shop/money.py", "line": 10, "test": "made up"},
        {"tool": "show", "path": "tests/test_shop.py", "name": "test_total"},
        {"tool": "compare", "attempts": [1, 2]},
        {"tool": "run", "code": "print('one too many')"},
    ]
    scene = play(*WRONG[:2], diagnosis(0.9, *looks), ROUND_RIGHT, lab=lab)
    assert scene.statuses == ["unchanged", "unchanged", "fixed"]
    assert scene.ledger.attempts[2].candidate.family == "fresh"
    assert len(lab.asked) == 2
    assert "tests/test_shop.py::test_round" in lab.asked[1]
    asked, after = sent(bench, 2), sent(bench, 3)
    assert '"looks"' in asked
    assert "json_schema" in json.dumps(bench.server.requests[2][2])
    for found in ("the addend", "seen 1", "seen 2", "def test_total", "value * 100 + 12"):
        assert found in after
    assert "one too many" not in after


class BrokenLab(NotedLab):
    def snippet(self, code: str, edits: Sequence[Edit] = ()) -> Observed:
        raise SandboxError("no usable slot is left")


def test_a_look_that_cannot_be_had_ends_nothing(play, bench) -> None:
    look = {"tool": "run", "code": "print(1)"}
    scene = play(*WRONG[:2], diagnosis(0.9, look), ROUND_RIGHT, lab=BrokenLab())
    assert scene.statuses[-1] == "fixed"
    assert "could not be run: no usable slot" in sent(bench, 3)


def test_low_confidence_widens_the_search(play) -> None:
    scene = play(*WRONG[:2], diagnosis(0.2), ROUND_RIGHT, lab=NotedLab())
    assert scene.ledger.attempts[2].candidate.family == "elsewhere"


@pytest.mark.parametrize("reply", ["I am not sure.", '{"cause": 1}', "{" * 3000])
def test_a_diagnosis_that_is_none_costs_a_call_and_nothing_else(play, bench, reply) -> None:
    scene = play(*WRONG[:2], reply, ROUND_RIGHT, lab=NotedLab())
    assert scene.statuses == ["unchanged", "unchanged", "fixed"]
    assert scene.kinds("reject")


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
