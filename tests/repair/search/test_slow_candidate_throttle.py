from __future__ import annotations

import itertools

from heal_bot.core.model import Candidate, Edit, Target
from heal_bot.repair.search.slow_candidate_throttle import CandidateThrottle

SLOW, QUICK = (Target("m.py", name, 0, "function", 1, 1, "") for name in ("slow", "quick"))


def _many(target: Target, count: int) -> list[Candidate]:
    return [Candidate((Edit(target, str(n)),), "rules", "number") for n in range(count)]


def _names(turns: CandidateThrottle, count: int) -> list[str]:
    return [c.edits[0].target.qualname for c in itertools.islice(turns, count)]


def test_without_slow_targets_the_order_stays() -> None:
    mixed = [*_many(SLOW, 2), *_many(QUICK, 2), *_many(SLOW, 1)]
    assert list(CandidateThrottle(mixed)) == mixed


def test_changes_of_a_slow_target_take_one_turn_in_twenty_six() -> None:
    turns = CandidateThrottle([*_many(SLOW, 5), *_many(QUICK, 60)])
    turns.delay(_many(SLOW, 1)[0])
    assert _names(turns, 52) == [*["quick"] * 25, "slow", *["quick"] * 25, "slow"]


def test_when_nothing_else_is_left_the_slow_ones_come_in_their_order() -> None:
    mixed = [*_many(SLOW, 3), *_many(QUICK, 1)]
    turns = CandidateThrottle(mixed)
    turns.delay(mixed[0])
    assert list(turns) == [mixed[3], *mixed[:3]]


def test_no_more_than_600_are_read_ahead_for_the_next_candidate() -> None:
    read: list[Candidate] = []

    def source():
        for candidate in _many(SLOW, 1000):
            read.append(candidate)
            yield candidate

    turns = CandidateThrottle(source())
    turns.delay(_many(SLOW, 1)[0])
    assert _names(turns, 3) == ["slow"] * 3
    assert len(read) == 602
