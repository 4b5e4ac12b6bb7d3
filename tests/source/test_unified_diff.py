"""Diffs are read back, and put into the file that they were made of and no other."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heal_bot.source import edit
from heal_bot.source.unified_diff import DiffError, apply_diff, parse_diff

LINES = st.lists(st.sampled_from(["a", "b", "c", "--- x", "+++ b/y", "@@ -1 +1 @@", ""]))
OLD = "".join(f"line {n}\n" for n in range(30))
NEW = OLD.replace("line 3\n", "3\nthree\n").replace("line 25\n", "")


@given(LINES, LINES)
def test_a_diff_of_ours_makes_the_new_text_of_the_old(old: list[str], new: list[str]) -> None:
    before, after = ("".join(f"{line}\n" for line in lines) for lines in (old, new))
    if before != after:
        (file,) = parse_diff(edit.diff("src/x.py", before, after))
        assert file.path == "src/x.py"
        assert apply_diff(before, file) == after


def test_each_hunk_knows_where_it_stands() -> None:
    (file,) = parse_diff(edit.diff("x.py", OLD, NEW))
    assert [(hunk.old_start, hunk.new_start) for hunk in file.hunks] == [(1, 1), (23, 24)]
    assert apply_diff(OLD, file) == NEW


def test_lines_end_as_those_of_the_file_do() -> None:
    (file,) = parse_diff(edit.diff("x.py", OLD, NEW))
    assert apply_diff(OLD.replace("\n", "\r\n"), file) == NEW.replace("\n", "\r\n")


def test_a_last_line_without_an_end_stays_without() -> None:
    for newline in ("\n", "\r\n"):
        before, after = (f"a{newline}{last}" for last in ("b", "c"))
        (file,) = parse_diff(edit.diff("x.py", "a\nb", "a\nc"))
        assert apply_diff(before, file) == after


def test_what_another_change_moved_is_found_where_it_stands_once() -> None:
    (file,) = parse_diff(edit.diff("x.py", OLD, NEW))
    assert apply_diff(f"first\n{OLD}", file) == f"first\n{NEW}"
    (file,) = parse_diff(edit.diff("x.py", "a\nb\n", "a\nc\n"))
    with pytest.raises(DiffError):
        apply_diff("first\na\nb\na\nb\n", file)


def test_a_change_that_is_made_already_is_left() -> None:
    (file,) = parse_diff(edit.diff("x.py", OLD, NEW))
    assert apply_diff(NEW, file) == NEW
    (file,) = parse_diff(edit.diff("x.py", "a\n", ""))
    with pytest.raises(DiffError):
        apply_diff("b\n", file)


def test_a_file_that_changed_since_is_refused_with_the_place() -> None:
    (file,) = parse_diff(edit.diff("x.py", OLD, NEW))
    with pytest.raises(DiffError, match=r"x\.py:1 is not what"):
        apply_diff(OLD.replace("line 4", "mine"), file)


@pytest.mark.parametrize(
    "text",
    ["", "def f():\n    return 1\n", "+++ b/x.py\n", "+++ b/x.py\n@@ -1,2 +1,2 @@\n a\n",
     "+++ b/x.py\n@@ -1 +1 @@\nno sign\n"],
)  # fmt: skip
def test_what_is_no_diff_is_refused(text: str) -> None:
    with pytest.raises(DiffError):
        parse_diff(text)
