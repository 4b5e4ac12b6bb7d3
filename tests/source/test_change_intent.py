"""What a commit tells of its own change."""

from __future__ import annotations

import pytest

from heal_bot.core.model import ChangedFile, Edit, Regression
from heal_bot.source import functions
from heal_bot.source.change_intent import find_told, only_adds

ROLES = 'ROLES = {"guest": Can.READ | Can.COMMENT, "member": Can.READ | Can.COMMENT}\n'
READ_ALONE = 'ROLES = {"guest": Can.READ, "member": Can.READ | Can.COMMENT}\n'


def _find(old: str, new: str, title: str = "", changelog: str = "") -> str:
    """What a commit from old to new tells of what would go back."""
    (target, *_) = functions.index_targets("m.py", new)
    (before, *_) = functions.index_targets("m.py", old)
    files = (
        ChangedFile("m.py", old.encode(), new.encode()),
        ChangedFile("CHANGELOG.md", b"# 1.0\n", f"# 1.0\n{changelog}\n".encode()),
    )
    regression = Regression("a" * 40, "b" * 40, title, ("t.py::t",), files=files)
    return find_told((Edit(target, before.source),), regression)


@pytest.mark.parametrize(
    ("old", "new", "changelog", "value"),
    [
        ("TRIES = 3\n", "TRIES = 5\n", "- Try five times (was: three).", "five"),
        ("DELAY = 2.0\n", "DELAY = 4.0\n", "- Wait for four seconds.", "four"),
        ("TRIES = 3\n", "TRIES = 5\n", "- Try more often.", ""),
        ("TRIES = 3\n", "TRIES = True\n", "- One try.", ""),
    ],
)
def test_a_number_is_told_of_in_words_too(old: str, new: str, changelog: str, value: str) -> None:
    said = f"the commit tells of `{value}` in CHANGELOG.md"
    assert _find(old, new, changelog=changelog) == (said if value else "")


@pytest.mark.parametrize(
    ("title", "named"),
    [
        ("Revoke COMMENT from guests", True),
        ("Guests have to sign up", False),
        ("Let guests read", False),
    ],
)
def test_a_constant_that_the_title_names_is_a_value(title: str, named: bool) -> None:
    said = "the commit's title names `comment`"
    assert _find(ROLES, READ_ALONE, title) == (said if named else "")


@pytest.mark.parametrize(
    ("more", "adds"), [("    log(x)\n", True), ("    log(\n", False)], ids=["code", "no code"]
)
def test_what_leaves_no_code_adds_nothing(more: str, adds: bool) -> None:
    (target,) = functions.index_targets("m.py", "def go(x):\n    check(x)\n")
    assert only_adds((Edit(target, target.source + more),)) is adds
