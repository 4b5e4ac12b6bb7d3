"""Counting over bitmaps, and the formulas."""

from __future__ import annotations

import random
import time
from math import inf, log, sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks._judged import dstar
from heal_bot.core.model.execution import bitmap, indices
from heal_bot.fault_localization import spectrum


@given(st.lists(st.integers(0, 2**20 - 1), max_size=40))
def test_counts_are_those_of_counting_bit_by_bit(bitmaps: list[int]) -> None:
    plain = [sum(one >> at & 1 for one in bitmaps) for at in range(20)]
    assert list(spectrum.count_bits(bitmaps, 20)) == plain


@given(st.sets(st.integers(0, 200)))
def test_positions_and_bitmaps_are_each_others_inverse(positions: set[int]) -> None:
    made = bitmap(positions, 201)
    assert made == sum(1 << at for at in positions)
    assert list(indices(made)) == sorted(positions)


@pytest.mark.parametrize(
    ("failing", "failed", "passed", "ochiai", "star"),
    [
        (4, 4, 0, 1.0, inf),
        (4, 4, 1, 4 / sqrt(20), 16.0),
        (4, 2, 2, 0.5, 1.0),
        (4, 0, 7, 0.0, 0.0),
        (1, 1, 3, 0.5, 1 / 3),
    ],
)
def test_formulas(failing, failed, passed, ochiai, star) -> None:
    assert spectrum.ochiai(failing, failed, passed) == pytest.approx(ochiai)
    assert dstar(failing, failed, passed) == pytest.approx(star)


def test_the_suspicion_of_one_cause_favours_what_all_failing_tests_executed() -> None:
    assert spectrum.cause(4, 4, 0) == 1.0
    assert spectrum.cause(4, 0, 7) == 0.0
    assert spectrum.cause(4, 4, 2) > spectrum.cause(4, 3, 0)
    assert spectrum.ochiai(4, 4, 2) < spectrum.ochiai(4, 3, 0)


def test_nobody_is_surprised_by_a_line_that_only_failing_tests_execute() -> None:
    assert spectrum.surprise(4, 0) == 0.0
    assert spectrum.surprise(1, 1) == pytest.approx(2 * log(2))
    assert spectrum.surprise(4, 3) > spectrum.surprise(4, 1.5)


def test_ten_thousand_tests_by_fifty_thousand_functions_are_counted_quickly() -> None:
    rng = random.Random(1)
    bitmaps = [rng.getrandbits(50_000) & rng.getrandbits(50_000) for _ in range(200)]
    tests = [bitmaps[n % 200] for n in range(10_000)]
    start = time.perf_counter()
    total = spectrum.count_bits(tests, 50_000)
    assert time.perf_counter() - start < 5
    assert total[7] == 50 * sum(one >> 7 & 1 for one in bitmaps)
