"""Kept answers: found again, forgotten, bounded, and never trusted as a file."""

from __future__ import annotations

import json
import sqlite3
import stat
from pathlib import Path

import pytest

from heal_bot.core.errors import UsageError
from heal_bot.llm_clients.answer_cache import open_replies

KEY = "a" * 64
NAMES = ["replies.sqlite", "replies.jsonl"]


@pytest.mark.parametrize("name", NAMES)
def test_an_answer_is_there_in_the_next_run_until_it_is_dropped(tmp_path: Path, name: str) -> None:
    place = tmp_path / "deep" / name
    open_replies(place).put(KEY, "def f(): …\n\0 \u2028 'quoted'")
    open_replies(place).put("b" * 64, "other")
    assert open_replies(place).get(KEY) == "def f(): …\n\0 \u2028 'quoted'"
    open_replies(place).drop(KEY)
    assert open_replies(place).get(KEY) is None
    assert open_replies(place).get("b" * 64) == "other"


@pytest.mark.parametrize("name", NAMES)
def test_only_the_owner_can_read_it(tmp_path: Path, name: str) -> None:
    open_replies(tmp_path / name).put(KEY, "x")
    assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o600


@pytest.mark.parametrize("name", NAMES)
def test_the_newest_answers_are_kept_and_a_huge_one_is_not(tmp_path: Path, name: str) -> None:
    replies = open_replies(tmp_path / name)
    for number in range(520):
        replies.put(f"{number:064x}", "x")
    replies.put(KEY, "x" * 200_000)
    again = open_replies(tmp_path / name)
    assert again.get(KEY) is None
    assert again.get(f"{0:064x}") is None
    assert again.get(f"{519:064x}") == "x"


def _poisoned(path: Path) -> None:
    with sqlite3.connect(path) as base:
        base.execute("CREATE TABLE replies (other TEXT)")
    base.close()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("replies.sqlite", "this is no database, it only looks like a file\n" * 100),
        ("replies.jsonl", "[]"),
        ("replies.jsonl", json.dumps({"key": "../../x", "text": "y"})),
        ("replies.jsonl", json.dumps({"key": KEY, "text": "y", "run": "me"})),
        ("replies.jsonl", "[" * 100_000),
    ],
)
def test_a_file_that_holds_something_else_is_one_line_with_a_remedy(
    tmp_path: Path, name: str, text: str
) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(UsageError, match="delete it"):
        open_replies(tmp_path / name).get(KEY)


def test_another_table_of_that_name_is_told(tmp_path: Path) -> None:
    _poisoned(tmp_path / "replies.sqlite")
    with pytest.raises(UsageError, match="delete it"):
        open_replies(tmp_path / "replies.sqlite").get(KEY)


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").touch()
    (tmp_path / "replies.sqlite").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UsageError, match="cannot be used"):
        open_replies(tmp_path / "replies.sqlite")
