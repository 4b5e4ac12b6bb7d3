"""JSON objects as models write them."""

from __future__ import annotations

import pytest

from heal_bot.repair.llm.diagnosis import Diagnosis
from heal_bot.repair.llm.reply import ReplyError
from heal_bot.repair.llm.structured import parse

GOOD = '{"cause": "off by one", "confidence": 0.4, "suspects": [2], "looks": []}'


@pytest.mark.parametrize(
    "reply",
    [
        GOOD,
        f"Here it is:\n```json\n{GOOD}\n```\nHope that helps.",
        f"<think>{{not this}}</think>{GOOD}",
        '{"note": 1} ' + GOOD,
        '{"cause": "off\nby one", "confidence": 0.4, "suspects": [2,], "looks": [],}',
        "{'cause': 'off by one', 'confidence': 0.4, 'suspects': (2,), 'looks': []}",
        '{"cause": "off by one", "confidence": 0.4, "suspects": [2',
        '{"cause": "off by one", "confidence": 0.4, "suspects": [2], "looks": [',
    ],
    ids=["clean", "fenced", "thought", "second", "sloppy", "python", "cut", "cut deeper"],
)
def test_a_reply_is_mended_as_far_as_it_can_be_read(reply: str) -> None:
    found = parse(reply, Diagnosis)
    assert found.cause.split() == ["off", "by", "one"]
    assert (found.confidence, found.suspects, found.looks) == (0.4, (2,), ())


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ("", "no JSON object"),
        ("I am sure it is the loop.", "no JSON object"),
        ("{" * 5000, "no JSON object"),
        ('{"a": ' + "[" * 30_000, ""),
        ('{"cause": "x", "confidence": "very"}', "confidence"),
        ('{"cause": "x", "confidence": 7}', "confidence"),
        ('{"cause": "x", "confidence": 1, "looks": [{"tool": "shell", "code": "rm"}]}', "tool"),
    ],
)
def test_what_cannot_be_used_is_said_in_one_line(reply: str, said: str) -> None:
    with pytest.raises(ReplyError) as caught:
        parse(reply, Diagnosis)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
