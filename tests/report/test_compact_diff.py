"""A diff within so many lines: its places first, its context last."""

from __future__ import annotations

import pytest

from heal_bot.report.compact_diff import shorten_diff
from heal_bot.source import edit

BEFORE = "".join(f"line {n}\n" for n in range(1, 60))
AFTER = BEFORE.replace("line 10\n", "ten\n").replace("line 40\n", "forty\n")
DIFF = edit.diff("a/b.py", BEFORE, AFTER)


@pytest.mark.parametrize(("room", "lines"), [(18, 18), (17, 10), (9, 6), (5, 5), (2, 2)])
def test_context_goes_before_changes_do(room: int, lines: int) -> None:
    shown = shorten_diff(DIFF, room).splitlines()
    assert len(shown) == lines
    assert shown[0].startswith("@@ a/b.py:")


def test_each_place_is_named_by_the_line_after_the_change() -> None:
    assert shorten_diff(DIFF, 6).splitlines() == [
        "@@ a/b.py:10 @@", "-line 10", "+ten", "@@ a/b.py:40 @@", "-line 40", "+forty",
    ]  # fmt: skip


def test_what_is_cut_is_counted() -> None:
    assert shorten_diff(DIFF, 4).splitlines()[-1] == "@@ 3 more lines @@"


def test_changed_lines_that_look_like_heads_stay() -> None:
    diff = edit.diff("q.sql", "-- a\nx\n", "++ b\nx\n")
    assert shorten_diff(diff, 20).splitlines() == ["@@ q.sql:1 @@", "--- a", "+++ b", " x"]


def test_windows_line_ends_leave_no_carriage_return() -> None:
    assert shorten_diff(DIFF.replace("\n", "\r\n"), 6) == shorten_diff(DIFF, 6)


def test_no_diff_is_no_line() -> None:
    assert shorten_diff("", 10) == ""
