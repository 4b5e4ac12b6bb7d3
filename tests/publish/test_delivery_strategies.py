"""Titles in the style of a repository."""

from __future__ import annotations

import pytest

from heal_bot.publish.delivery_strategies import fit_style

CONVENTIONAL = ("feat(shop): carts", "fix: a typo", "chore!: drop 3.9", "Merge the rest")


@pytest.mark.parametrize(
    ("title", "styled"),
    [
        ("Fix total in shop/pricing.py", "fix: repair total in shop/pricing.py"),
        ('Take back the code of "x" (abc1234)', 'fix: take back the code of "x" (abc1234)'),
        ('Take back a part of "x" (abc1234)', 'fix: take back a part of "x" (abc1234)'),
    ],
)
def test_where_most_subjects_are_conventional_the_title_is_too(title: str, styled: str) -> None:
    assert fit_style(title, CONVENTIONAL) == styled


@pytest.mark.parametrize(
    "subjects", [(), ("Add carts", "fix: a typo"), ("fixes: nothing", "fix(a):b", "feature: x")]
)
def test_elsewhere_it_stays_as_it_is(subjects: tuple[str, ...]) -> None:
    assert fit_style("Fix total", subjects) == "Fix total"
