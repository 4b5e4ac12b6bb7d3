"""JSON objects as models write them."""

from __future__ import annotations

import pytest

from heal_bot.repair.llm.answer_parser import ReplyError
from heal_bot.repair.llm.code_looks import LookRequest
from heal_bot.repair.llm.json_answer import parse, take_json

GOOD = '{"looks": [{"tool": "search", "text": "off by one"}]}'


@pytest.mark.parametrize(
    "reply",
    [
        GOOD,
        f"Here it is:\n```json\n{GOOD}\n```\nHope that helps.",
        f"<think>{{not this}}</think>{GOOD}",
        '{"note": 1} ' + GOOD,
        '{"looks": [{"tool": "search", "text": "off\nby one",},],}',
        "{'looks': ({'tool': 'search', 'text': 'off by one'},)}",
        '{"looks": [{"tool": "search", "text": "off by one"',
        '```json\n{"answer": "```json\\n{\\"looks\\": [{\\"tool\\": \\"search\\",'
        ' \\"text\\": \\"off by one\\"}]}\\n```"}\n```',
    ],
    ids=["clean", "fenced", "thought", "second", "sloppy", "python", "cut", "in another"],
)
def test_a_reply_is_mended_as_far_as_it_can_be_read(reply: str) -> None:
    (look,) = parse(reply, LookRequest).looks
    assert (look.tool, look.text.split()) == ("search", ["off", "by", "one"])


def test_what_stands_beside_an_object_is_left() -> None:
    asked, rest = take_json(f"Here:\n{GOOD}\nThanks.", LookRequest)
    assert (len(asked.looks), rest) == (1, "Here:\n\nThanks.")


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ("", "no JSON object"),
        ("I am sure it is the loop.", "no JSON object"),
        ("{" * 5000, "no JSON object"),
        ('{"a": ' + "[" * 30_000, ""),
        ('{"looks": [{"text": "x"}]}', "looks.0.tool"),
        ('{"looks": [{"tool": "show", "line": "some"}]}', "looks.0.line"),
        ('{"looks": []}', "neither looks nor no_fault"),
    ],
)
def test_what_cannot_be_used_is_said_in_one_line(reply: str, said: str) -> None:
    with pytest.raises(ReplyError) as caught:
        parse(reply, LookRequest)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
