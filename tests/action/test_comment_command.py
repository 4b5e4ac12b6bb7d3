"""The words of a `/heal` comment."""

from __future__ import annotations

import pytest

from heal_bot.action.comment_command import Command, Unknown, parse

SHA = "b" * 40


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("/heal", Command("heal")),
        ("  /heal  \n", Command("heal")),
        ("/heal t/test_a.py::test_b[x]", Command("heal", only=("t/test_a.py::test_b[x]",))),
        ("/heal shop/a.py::Cart.total", Command("heal", targets=("shop/a.py::Cart.total",))),
        (f"/heal @{SHA} a.py::f", Command("heal", targets=("a.py::f",), sha=SHA)),
        ("/heal retry the tax\nis rounded", Command("retry", hint="the tax is rounded")),
        ("/heal Retry", Command("retry")),
        ("/heal pick b", Command("pick", choice="B")),
        ("/heal apply", Command("apply")),
        ("/heal explain why", Command("explain")),
        ("/heal stop doing this", Command("stop")),
        ("/heal help", Command("help")),
        ("please /heal", None),
        ("/healthy", None),
        ("", None),
    ],
)
def test_a_comment_is_read(text: str, command: Command | None) -> None:
    assert parse(text) == command


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("/heal apply now", "apply"),
        ("/heal pick", "pick"),
        ("/heal pick A B", "pick"),
        ("/heal pick 2", "pick"),
        ("/heal aply", "aply"),
        ("/heal retr", "retr"),
        ("/heal @abc1234", "@abc1234"),
        ("/heal @" + "B" * 40, "@" + "B" * 40),
    ],
)
def test_what_is_nearly_a_command_starts_nothing(text: str, word: str) -> None:
    assert parse(text) == Unknown(word)


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("/heal prices are in cents\nnot in euros",
         Command("heal", hint="prices are in cents not in euros")),
        ("/heal\nprices are in cents", Command("heal", hint="prices are in cents")),
        ("/heal everything", Command("heal", hint="everything")),
        ("/heal a.py::f use limit - 1 instead",
         Command("heal", targets=("a.py::f",), hint="use limit - 1 instead")),
        ("\u200b/heal sum\u202e them\r\nall", Command("heal", hint="sum them all")),
    ],
)  # fmt: skip
def test_other_words_are_a_hint(text: str, command: Command) -> None:
    assert parse(text) == command
