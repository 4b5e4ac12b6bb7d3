"""Patterns of files that may change."""

from __future__ import annotations

import pytest

from heal_bot.source.allowed_paths import explain_outside, permits


@pytest.mark.parametrize(
    ("patterns", "path", "allowed"),
    [
        ((), "a.py", True),
        (("src",), "src/a/b.py", True),
        (("src/",), "src/a.py", True),
        (("src",), "srcs/a.py", False),
        (("src/*.py",), "src/a/b.py", True),
        (("a.py",), "b/a.py", False),
        (("!gen",), "gen/a.py", False),
        (("!gen",), "src/a.py", True),
        (("src", "!src/gen"), "src/gen/a.py", False),
        (("SRC",), "src/a.py", False),
    ],
)
def test_a_pattern_means_files_and_folders(
    patterns: tuple[str, ...], path: str, allowed: bool
) -> None:
    assert permits(patterns, path) is allowed


def test_the_first_file_that_is_not_meant_is_named() -> None:
    assert "b.py lies outside" in explain_outside(("a.py",), ["a.py", "b.py", "c.py"])
    assert explain_outside(("a.py",), ["a.py"]) == ""
