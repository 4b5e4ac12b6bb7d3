"""Lines of a diff that a remark can be on."""

from __future__ import annotations

import pytest

from heal_bot.github.comments import right_lines


@pytest.mark.parametrize(
    ("patch", "lines"),
    [
        ("", set()),
        ("@@ -1,2 +1,3 @@\n a\n-b\n+c\n+d", {1, 2, 3}),
        ("@@ -10 +12 @@ def f():\n-x\n+y\n@@ -30,1 +40,2 @@\n z\n+w", {12, 40, 41}),
        ("@@ -1 +0,0 @@\n-gone", set()),
        ("@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b", {1}),
        ("no hunk\n+a", set()),
    ],
)
def test_added_and_context_lines_are_shown(patch: str, lines: set[int]) -> None:
    assert right_lines(patch) == lines
