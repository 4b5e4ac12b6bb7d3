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
        ("/heal apply", Command("apply")),
        ("/heal explain", Command("explain")),
        ("/heal stop", Command("stop")),
        ("/heal help", Command("help")),
        ("/heal apply now", Unknown("apply")),
        ("/heal @abc1234", Unknown("@abc1234")),
        ("/heal @" + "B" * 40, Unknown("@" + "B" * 40)),
        ("please /heal", None),
        ("/healthy", None),
        ("", None),
    ],
)
def test_a_comment_is_read(text: str, command: Command | Unknown | None) -> None:
    assert parse(text) == command


def test_on_a_line_of_a_review_the_text_is_the_hint() -> None:
    said = parse("/heal prices are in cents\nnot in euros", free=True)
    assert said == Command("heal", hint="prices are in cents not in euros")
    assert parse("/heal\nprices are in cents", free=True) == Command(
        "heal", hint="prices are in cents"
    )
