"""How usual a change is among those of its family: what a cost is looked up by."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher
from enum import IntEnum
from typing import TypeVar

_T = TypeVar("_T")

# Of options in order of likelihood, how many are usual, and how many of the rest seldom.
_USUAL, _SELDOM = 2, 6
# How alike names have to be spelled to be taken for each other: the default of `difflib`.
_ALIKE = 0.6


class Tier(IntEnum):
    """The place of a change in its family; what a tier costs is fitted, not set here."""

    USUAL = 0
    SELDOM = 1
    RARE = 2


def combine_tiers(*tiers: Tier) -> Tier:
    """The tier of a change that is unusual in several ways at once."""
    return Tier(min(sum(tiers), Tier.RARE))


def assign_tiers(options: Iterable[_T]) -> Iterator[tuple[_T, Tier]]:
    """Options with their tiers, given in order of likelihood."""
    for rank, option in enumerate(options):
        yield option, Tier((rank >= _USUAL) + (rank >= _USUAL + _SELDOM))


def is_spelled_alike(one: str, other: str) -> bool:
    """Whether one name may be meant where the other is written."""
    return SequenceMatcher(None, one.lower(), other.lower()).ratio() >= _ALIKE
