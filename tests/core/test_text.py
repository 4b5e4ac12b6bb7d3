from __future__ import annotations

import base64
import json
import quopri
import re
import textwrap
import time
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heal_bot.core.text import (
    Secret,
    clip,
    code_span,
    cut_end,
    fence,
    for_command,
    for_log,
    for_markdown,
    hide_values,
    name_first,
    one_line,
    printable,
    redact,
)


def test_a_secret_never_prints_itself() -> None:
    secret = Secret("hunter2-hunter2")
    assert f"{secret} {secret!r} {[secret]}" == "*** *** [***]"
    assert secret.reveal() == "hunter2-hunter2"
    assert not Secret("")


@given(st.text(max_size=300), st.integers(0, 120))
def test_clipped_text_fits_and_short_text_is_unchanged(text: str, limit: int) -> None:
    assert len(clip(text, limit)) <= limit
    assert clip(text, len(text)) == text


def test_what_was_cut_is_counted_where_there_is_room_for_it() -> None:
    kept = clip("a" * 500 + "z" * 500, 300)
    head, cut, tail = re.split(r" \[…(\d+) characters cut…\] ", kept)
    assert len(head) + int(cut) + len(tail) == 1_000
    assert clip("quantity > tier.quantity and (best is None)", 24) == "quantity > tie … s None)"


@pytest.mark.parametrize(
    "hostile",
    ["\x1b[31mred", "a\x00b", "a\u202eb", "a\u2066b", "a\x9bb", "\x1b]0;title\x07x", "a\u200bb"],
)
def test_controls_and_bidi_marks_do_not_reach_a_terminal(hostile: str) -> None:
    assert all(char.isprintable() for char in printable(hostile))


UNSEEN = (
    "\x00", "\x85", "\xad", "\u034f", "\u061c", "\u115f", "\u180e", "\u200b", "\u200d", "\u2028",
    "\u202e", "\u2060", "\u2066", "\u206a", "\u3164", "\ufe0f", "\ufeff", "\uffa0", "\U000e0041",
    "\U000e0100", "\ud800",
)  # fmt: skip


@pytest.mark.parametrize("unseen", UNSEEN, ids=ascii)
def test_what_nobody_sees_is_told_wherever_text_is_shown(unseen: str) -> None:
    told = f"<U+{ord(unseen):04X}>"
    text = f"a{unseen}b"
    assert printable(text) == one_line(text) == for_log(text) == f"a{told}b"
    assert told in fence(text)
    assert told in code_span(text)
    assert "U+" in for_markdown(text)
    assert printable(printable(text)) == printable(text)


KEY = "ghp_" + "Ab1" * 12
SPLITS = (*UNSEEN, "\x1b[0m", "\x9b31m", "\x1b]0;title\x07", "<U+200B>", "\u200b\x1b[1m\u2066")


@pytest.mark.parametrize("split", SPLITS, ids=ascii)
@pytest.mark.parametrize("order", [redact, lambda t, s: redact(printable(t), s)])
@pytest.mark.parametrize("secrets", [(), (Secret(KEY),)], ids=["by its looks", "by its value"])
def test_a_key_in_pieces_is_redacted_as_one(split, order, secrets) -> None:
    text = order(f"before {split}{split.join(KEY)}{split} after", secrets)
    assert "***" in text
    assert "Ab" not in text
    assert text.startswith("before ")
    assert text.endswith(" after")


@pytest.mark.parametrize("split", SPLITS, ids=ascii)
def test_a_short_value_in_pieces_is_hidden_where_nothing_else_changes(split: str) -> None:
    value = Secret("s3cret")
    rest = f"https://user:word@host {split} ghp_{'x' * 36}\r\n"
    assert hide_values(f"{split.join(value.reveal())} {rest}", (value,)) == f"*** {rest}"


@pytest.mark.parametrize(
    "line",
    [
        "::error::x",
        "  ::set-output name=a::b",
        "a ##[command]b",
        "x\r::warning::y",
        "\u2028::add-mask::x",
    ],
)
def test_no_runner_command_survives_in_a_log(line: str) -> None:
    for printed in for_log(line).split("\n"):
        assert not printed.lstrip().startswith("::")
        assert "##[" not in printed


def test_a_command_value_keeps_to_its_line_and_property() -> None:
    assert for_command("a%\r\nb") == "a%25%0D%0Ab"
    assert for_command("a:b,c", prop=True) == "a%3Ab%2Cc"


@pytest.mark.parametrize(
    "hostile",
    [
        "@everyone",
        "![x](http://evil/x.png)",
        "<img src=x onerror=alert(1)>",
        "[click](javascript:alert(1))",
        "| a | b |",
        "```\nfoo",
        "# heading",
        "closes #1",
        "https://evil.example/x",
        "www.evil.example",
        "12. item",
        "1) item",
        "$x^2$ and $y$",
    ],
)
def test_nothing_foreign_is_markup_in_markdown(hostile: str) -> None:
    shown = for_markdown(hostile)
    assert "\n" not in shown
    assert "<" not in shown
    assert "@everyone" not in shown
    assert "://" not in shown
    assert "#1" not in shown
    assert "](" not in shown.replace("\\]", "")
    assert "www." not in shown
    assert "$" not in shown
    assert not re.match(r"[-+#|`>=]|[0-9]{1,9}[.)]", shown)


@given(st.lists(st.sampled_from(["\\", "<", ">", "&", "*", "a", "$", ":"]), max_size=8))
def test_each_character_is_escaped_by_itself(letters: list[str]) -> None:
    assert for_markdown(f"x{''.join(letters)}") == "x" + "".join(
        for_markdown(f"x{letter}").removeprefix("x") for letter in letters
    )


@given(st.text(alphabet="`a |\n", max_size=20))
def test_a_code_span_cannot_be_closed_from_inside(text: str) -> None:
    span = code_span(text)
    ticks = len(span) - len(span.lstrip("`"))
    assert span.endswith("`" * ticks)
    assert "`" * ticks not in span[ticks:-ticks].strip(" ")
    assert "\n" not in span


@given(st.text(alphabet="`~a\n", max_size=40))
def test_a_fence_cannot_be_closed_from_inside(text: str) -> None:
    first, *body, last = fence(text, "python").split("\n")
    assert first == last + "python"
    assert all(not line.strip().startswith(last) for line in body)


@pytest.mark.parametrize(
    "text",
    [
        "ghp_" + "a" * 36,
        "sk-ant-" + "b" * 40,
        "AKIA" + "A" * 16,
        "https://user:pass@host/x",
        "-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----",
        "Authorization: Bearer " + "c" * 30,
    ],
)
def test_what_looks_like_a_credential_is_redacted_and_no_known_value(text: str) -> None:
    assert "***" in redact(text)
    assert hide_values(text, (Secret("another-secret"),)) == text


def test_the_given_values_are_redacted_longest_first() -> None:
    secrets = (Secret("abcdef"), Secret("abcdefgh"))
    assert redact("x abcdefgh y", secrets) == "x *** y"


VALUE = "p4ss/W\u00f6rd+with=odd&chars%and'quotes"
SPELLED = {
    "base64 of more": base64.b64encode(b"user:" + VALUE.encode() + b":x").decode(),
    "base64 for addresses": base64.urlsafe_b64encode(VALUE.encode()).decode(),
    "percent": quote(VALUE, safe=""),
    "form": quote_plus(VALUE),
    "hex": VALUE.encode().hex().upper(),
    "repr": repr(VALUE),
    "json": json.dumps(VALUE),
    "reversed": VALUE[::-1],
    "base64, reversed": base64.b64encode(VALUE.encode()).decode()[::-1],
    "base32 of more": base64.b32encode(b"user:" + VALUE.encode() + b":x").decode(),
    "quoted-printable": quopri.encodestring(VALUE.encode()).decode(),
    "dashes": "-".join(VALUE),
    "full stops": ".".join(VALUE),
    "commas": ", ".join(VALUE),
    "a list of its letters": str(list(VALUE)),
    "a list of its bytes": str([*VALUE.encode()]),
    "escapes": "".join(f"\\x{byte:02x}" for byte in VALUE.encode()),
    "octal": "".join(f"\\{byte:03o}" for byte in VALUE.encode()),
    "entities": "".join(f"&#{byte};" for byte in VALUE.encode()),
    "lines": "\nE       ".join(textwrap.wrap(VALUE, 7)),
    "literals": f'"{VALUE[:9]}" + \\\n    "{VALUE[9:]}"',
    "folded white space": f"{VALUE[:20]} {VALUE[20:]}",
}


@pytest.mark.parametrize("spelled", SPELLED.values(), ids=SPELLED)
def test_a_value_is_redacted_however_it_is_spelled(spelled: str) -> None:
    left = redact(f"before {spelled} after", (Secret("another-secret"), Secret(VALUE)))
    assert "***" in left
    assert left.startswith("before ")
    assert left.endswith(" after")
    # Of base64 and base32 a letter at each end belongs to what stands beside the value.
    assert len(left) <= len("before '***' after") + 14


def test_a_value_of_little_but_marks_hides_nothing_else() -> None:
    assert redact("a 1 b - E + 1", (Secret("--EE-++--1"),)) == "a 1 b - E + 1"


def test_redacting_a_megabyte_of_near_misses_takes_no_time() -> None:
    start = time.monotonic()
    redact((VALUE[:-1] + " \n") * 5_000, (Secret(VALUE),))
    assert time.monotonic() - start < 3


@pytest.mark.parametrize(("number", "said"), [(1, "1 entry, a.py"), (2, "2 entries, first a.py")])
def test_the_first_is_called_so_where_there_are_more(number: int, said: str) -> None:
    assert name_first(number, "a.py", "entry", "entries") == said


def test_one_line_folds_white_space() -> None:
    assert one_line(" a\n\tb\r\nc ") == "a b c"


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("a\nb\n", "a\nb\n"),
        ("one\ntwo\nthree\nfour\n", "one\ntwo\n[… 2 lines more, cut here]"),
        ("x" * 30, "xxxxxxxxxx\n[… 20 characters more, cut here]"),
    ],
)
def test_a_text_is_cut_at_its_end_with_what_is_missing(text: str, cut: str) -> None:
    assert cut_end(text, 10) == cut
