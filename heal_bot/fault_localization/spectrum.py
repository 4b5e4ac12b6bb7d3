"""Suspicion from who executed what: counts over bitmaps, and the formulas over them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import compress
from math import log, sqrt

from heal_bot.core.model.execution import flags


def count_bits(bitmaps: Iterable[int], width: int) -> Sequence[int]:
    """How many of the bitmaps have each bit set.

    The bitmaps are added as columns: plane k holds bit k of every position's count, so that one
    bitmap costs two operations on average, whatever the number of positions.
    """
    planes: list[int] = []
    for carry in bitmaps:
        for level, plane in enumerate(planes):
            if not carry:
                break
            planes[level] = plane ^ carry
            carry &= plane  # noqa: PLW2901
        if carry:
            planes.append(carry)
    totals = [0] * width
    for level, plane in enumerate(planes):
        weight = 1 << level
        for position in compress(range(width), flags(plane, width)):
            totals[position] += weight
    return totals


def ochiai(failing: int, failed: int, passed: int) -> float:
    """Ochiai: failed / sqrt(failing * (failed + passed)), from 0 to 1.

    `failed` and `passed` count the tests that executed the element, `failing` all failing tests.
    """
    return failed / sqrt(failing * (failed + passed)) if failed else 0.0


def cause(failing: int, failed: int, passed: int) -> float:
    """Suspicion of the one cause of all failing tests, from 0 to 1.

    The share of the failing tests that executed the element, times the share of failing ones
    among those that executed it to the power 0.4. Ochiai is the same with 0.5 for both powers: it
    forgives an element that some failing tests did not execute, and passing tests less. The tests
    of a cluster fail for one cause, and many tests pass although they execute it.
    """
    return failed / failing * (failed / (failed + passed)) ** 0.4 if failed else 0.0


def surprise(failed: int, passed: float) -> float:
    """The words it takes to say who failed and who passed, when this line alone is to blame."""
    fails = failed / (failed + passed)
    return -failed * log(fails) - (passed * log(1 - fails) if passed else 0.0)
