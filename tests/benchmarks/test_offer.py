"""What the offer is judged by: bodies that hold answers, and rows of pools."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.offer import FUNCTION, LOOKUPS, MODULE, RIGHT, judge_honest, judge_offers

CALLS = {(1, 1): 340, (2, 3): 420, (8, 2): 540, (6, 4): 580, (4, 0): 300}


def _answers(source: str) -> dict[tuple[int, int], int]:
    made: dict[str, Any] = {}
    exec(source, made)
    return {call: made[FUNCTION](*call) for call in CALLS}


@pytest.mark.parametrize("name", LOOKUPS)
def test_each_lookup_gives_what_the_tests_ask_for(name: str) -> None:
    assert _answers(f"def {FUNCTION}(weight, zone):{LOOKUPS[name]}") == CALLS
    assert _answers(RIGHT) == CALLS
    assert _answers(MODULE) != CALLS


def _pool(*right: bool | None, **offer: Any) -> dict[str, Any]:
    told = {"at": 0, "lacks": True, "likely": False, "rival": None} | offer
    groups = [{"right": one} for one in right]
    return {"project": "a/b", "origin": "planted", "groups": groups, "offer": told}


def test_an_offer_counts_as_it_is_rated_and_a_question_for_both_choices() -> None:
    pools = [
        _pool(True, lacks=False),
        _pool(False, True, likely=True, rival=1),
        _pool(False, True, rival=1),
        _pool(True, None, rival=1),
        _pool(None, True),
        _pool(False),
    ]
    found = judge_offers(pools)
    rated = {level: (found[level]["n"], found[level]["right"]) for level in ("high", "medium")}
    assert rated == {"high": (1, 1), "medium": (1, 0)}
    assert (found["low"]["n"], found["low"]["right"]) == (3, 1)
    assert (found["asked"], found["right_among_choices"]) == (2, 1.0)
    assert (found["with_right_patch"], found["offered"], found["calls_saved"]) == (5, 0.6, 1)


def test_a_right_change_counts_where_it_was_called() -> None:
    rows = [
        {"origin": "fix", "honest": {"varied": 20, "refused": True}},
        {"origin": "planted", "honest": {"varied": 20, "refused": False}},
        {"origin": "planted", "honest": {"varied": 0, "refused": False}},
        {"origin": "planted", "honest": None},
        {"origin": "planted"},
    ]
    assert judge_honest(rows) == {"honest": 2, "honest_real": 1, "honest_refused": 0.5}
