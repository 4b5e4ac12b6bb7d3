from __future__ import annotations

import pytest

from heal_bot.repair.templates.change_tiers import (
    Tier,
    assign_tiers,
    combine_tiers,
    is_spelled_alike,
)


def test_the_first_options_are_usual_and_the_last_ones_rare() -> None:
    tiers = [tier for _, tier in assign_tiers("abcdefghij")]
    assert tiers == sorted(tiers)
    assert set(tiers) == set(Tier)


@pytest.mark.parametrize(
    ("tiers", "whole"),
    [
        ((Tier.USUAL, Tier.USUAL), Tier.USUAL),
        ((Tier.SELDOM, Tier.USUAL), Tier.SELDOM),
        ((Tier.SELDOM, Tier.SELDOM), Tier.RARE),
        ((Tier.RARE, Tier.RARE), Tier.RARE),
    ],
)
def test_what_is_unusual_in_two_ways_is_rarer(tiers: tuple[Tier, ...], whole: Tier) -> None:
    assert combine_tiers(*tiers) is whole


@pytest.mark.parametrize(
    ("one", "other", "alike"), [("total", "totals", True), ("low", "high", False)]
)
def test_names_are_alike_by_their_letters(one: str, other: str, alike: bool) -> None:
    assert is_spelled_alike(one, other) is alike
