"""Names of branches: git itself is the judge."""

from __future__ import annotations

import subprocess

import pytest

from heal_bot.ports.code_host import is_branch


@pytest.mark.parametrize(
    "name",
    [
        "main", "feature/ünicode", "x%20y", "fix(x)", "a+b", "a#1", "a@b", "日本", "a'b",
        'a"b', "$a",
        "a;b", "a&b", "{a}", "a!", "1", "_a", "=a", "a.b", "heads/x",
        "a..b", "a b", "a~1", "a^", "a:b", "a?", "a*", "a[b", "a\\b", "/a", "a/", "a//b", ".a",
        "a/.b",
        "a.lock", "a.lock/b", "a.", "@{a", "a@{b", "-a", "\x7f", "a\tb", "",
    ],
)  # fmt: skip
def test_a_name_is_a_branch_where_git_says_so(name: str) -> None:
    done = subprocess.run(["git", "check-ref-format", "--branch", name], capture_output=True)
    assert is_branch(name) == (done.returncode == 0)


def test_the_name_of_the_head_is_no_branch() -> None:
    assert not is_branch("@")
