"""How long a search goes on once a change passes all tests."""

from __future__ import annotations

import pytest

from heal_bot.core.model import Attempt, Candidate, Verdict
from heal_bot.repair.search.stopping_criteria import StoppingState


def _candidate(prior: float) -> Candidate:
    return Candidate((), "rules", "number", prior=prior)


def _fixed(prior: float) -> Attempt:
    return Attempt(1, "c", _candidate(prior), Verdict("fixed"), 0.0, "")


def _after(prior: float, left: float = 600.0) -> StoppingState:
    tally = StoppingState(tried=40)
    tally.take(_fixed(prior), 0.0, left)
    return tally


def test_without_a_fix_nothing_is_too_dear_and_nothing_enough() -> None:
    tally = StoppingState(tried=5_000)
    assert not any(tally.is_too_dear(_candidate(9.0)) for _ in range(100))
    assert not tally.has_enough(1e9)


@pytest.mark.parametrize(("prior", "dear"), [(1.0, False), (5.0, False), (5.1, True)])
def test_what_is_much_dearer_than_the_first_fix_is_passed_over(prior: float, dear: bool) -> None:
    assert _after(2.0).is_too_dear(_candidate(prior)) is dear


def test_a_dearer_second_fix_does_not_raise_the_roof() -> None:
    tally = _after(2.0)
    tally.take(_fixed(4.9), 1.0, 600.0)
    assert tally.is_too_dear(_candidate(5.1))


@pytest.mark.parametrize(
    ("tried", "now", "enough"), [(249, 0.0, False), (250, 0.0, True), (41, 20.0, True)]
)
def test_it_ends_after_two_hundred_and_a_quarter_more_or_twenty_seconds(
    tried: int, now: float, enough: bool
) -> None:
    tally = _after(2.0)
    tally.tried = tried
    assert tally.has_enough(now) is enough


@pytest.mark.parametrize(("now", "enough"), [(2.9, False), (3.0, True)])
def test_a_fix_that_comes_late_leaves_time_for_the_choice(now: float, enough: bool) -> None:
    tally = _after(2.0, left=10.0)
    tally.tried = 41
    assert tally.has_enough(now) is enough


def test_it_ends_when_only_dear_ones_come() -> None:
    tally = _after(2.0)
    for _ in range(39):
        tally.is_too_dear(_candidate(6.0))
    tally.is_too_dear(_candidate(2.5))
    for _ in range(39):
        tally.is_too_dear(_candidate(6.0))
    assert not tally.has_enough(0.0)
    tally.is_too_dear(_candidate(6.0))
    assert tally.has_enough(0.0)


def _partial(*fixed: str) -> Attempt:
    return Attempt(1, "c", _candidate(1.0), Verdict("improved", fixed=fixed), 0.0, "")


def test_a_partial_fix_ripens_when_nothing_better_came_for_long_and_goes_out_once() -> None:
    tally = StoppingState(tried=40)
    tally.set_apart(_partial("t"))
    tally.tried = 339
    assert not tally.is_ripe()
    tally.tried += 1
    assert tally.is_ripe()
    assert tally.take_apart() == (_partial("t"),)
    assert not tally.is_ripe()


def test_those_that_fix_the_same_are_kept_beside_it_and_what_fixes_more_in_its_place() -> None:
    tally = StoppingState()
    for fix in (_partial("a"), _partial("a"), _partial("a", "b")):
        tally.set_apart(fix)
        assert tally.is_beside(fix.verdict)
    assert not tally.is_beside(_partial("a").verdict)
    assert tally.take_apart() == (_partial("a", "b"),)


def test_a_partial_fix_is_not_offered_beside_a_full_one() -> None:
    tally = _after(2.0)
    tally.set_apart(_partial("t"))
    tally.tried = 1_000
    assert not tally.is_ripe()
    assert tally.take_apart() == ()


def test_what_takes_too_long_is_kept_for_later() -> None:
    tally, late = StoppingState(), _candidate(2.0)
    tally.count(_candidate(1.0), Verdict("regression", fixed=("a",)))
    tally.count(late, Verdict("timeout"))
    assert tally.late == [late]
