from __future__ import annotations

import pytest

pytest.importorskip("scipy")

from benchmarks.fit import costs
from heal_bot.repair.templates.change_tiers import Tier

TABLE = [["comparison", 0, 4], ["comparison", 1, 4], ["number", 0, 4], ["sibling", 2, 200]]


def _row(project: str, *equal: str, tier: int = 0) -> dict:
    return {"project": project, "equal": [[name, tier] for name in equal], "candidates": TABLE}


ROWS = [
    *(_row(f"p{n}", "comparison") for n in range(6)),
    *(_row(f"p{n}", "number") for n in range(2)),
    *(_row(f"p{n}") for n in range(8)),
]
POOLS = [
    {
        "project": "p1",
        "groups": [
            {"family": "sibling", "right": False, "rest": 0.5},
            {"family": "number", "right": True, "rest": 1.0},
        ],
    },
    {"project": "p2", "groups": [{"family": "number", "right": True, "rest": 0.0}]},
]


def test_a_family_that_fixes_more_costs_less_than_one_of_as_many_candidates() -> None:
    fitted = costs.describe(ROWS, POOLS, "2026-11-29")["families"]
    assert fitted["comparison"] < fitted["number"] < fitted["sibling"]


def test_a_tier_never_costs_less_than_a_more_usual_one() -> None:
    rows = [*ROWS, *(_row(f"q{n}", "comparison", tier=1) for n in range(20))]
    steps = costs.describe(rows, [], "2026-11-29")["steps"]
    assert steps == sorted(steps)
    assert len(steps) == len(Tier)


def test_the_place_of_a_fix_counts_what_is_cheaper_and_half_of_what_is_as_dear() -> None:
    choices = costs.read(ROWS)
    fitted = costs.fit(choices)
    first, other = choices[0], choices[6]
    assert costs.rank(first, fitted) == 1.5
    assert costs.rank(other, fitted) > costs.rank(first, fitted)


def test_each_fix_is_ranked_by_what_other_projects_say() -> None:
    found = costs.measure_order(ROWS, POOLS)
    assert found["fixes"] == 16
    assert found["equalled"] == 8
    assert found["covered"] == 8
    assert "comparison" not in found["families_that_equal_none"]


def test_a_fix_that_two_families_make_has_the_place_of_the_cheaper_one() -> None:
    fitted = costs.fit(costs.read(ROWS))
    first, both = costs.read([_row("p", "comparison"), _row("p", "comparison", "number")])
    assert costs.rank(first, fitted) == costs.rank(both, fitted)


def test_a_fix_that_two_families_make_speaks_for_both() -> None:
    shared = [_row(f"q{n}", "comparison", "number") for n in range(6)]
    alone = [_row(f"q{n}", "comparison") for n in range(6)]
    number = [
        costs.describe([*ROWS, *more], [], "")["families"]["number"] for more in (shared, alone)
    ]
    assert number[0] < number[1]


def test_what_is_fitted_says_on_how_many_fixes_and_projects() -> None:
    told = costs.describe(ROWS, POOLS, "2026-11-29")["provenance"]
    assert told == {
        "date": "2026-11-29", "fixes": 16, "equalled": 8, "searches": 1, "projects": 8,
    }  # fmt: skip


def test_what_is_right_among_what_passes_costs_less() -> None:
    without = costs.describe(ROWS, [], "2026-11-29")["families"]
    fitted = costs.describe(ROWS, POOLS, "2026-11-29")["families"]
    gap = [found["sibling"] - found["number"] for found in (without, fitted)]
    assert gap[0] < gap[1]
    assert costs.measure_order(ROWS, POOLS)["searches"] == 1


def test_a_patch_of_two_edits_costs_what_both_families_do() -> None:
    pools = [{"groups": [{"family": "number + gone", "rest": 0.5}]}]
    costs.price(pools, {"families": {"number": 1.0, "sibling": 3.0}})
    assert pools[0]["groups"][0]["prior"] == 4.5
