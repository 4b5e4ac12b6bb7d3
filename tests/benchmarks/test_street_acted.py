"""What the action did is told by its deeds, and a patch where none was due is wrong."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from benchmarks.street.acted import action_of, judged_by_hidden
from benchmarks.street.situation import Commit, Situation
from benchmarks.street.staged import Ended


@pytest.mark.parametrize(
    ("status", "outcome", "pulls", "comments", "action"),
    [
        ("explained", {}, 0, 0, "explain"),
        ("environment_error", {}, 0, 0, "explain"),
        ("explained", {"searches": [{}]}, 0, 0, "explain"),
        ("explained", {"searches": [{}], "suggestion": {}}, 0, 0, "explain"),
        ("explained", {"searches": [{}], "suggestion": {"diff": "x"}}, 0, 0, "repair"),
        ("not_healed", {"searches": [{}]}, 0, 0, "repair"),
        ("healed", {"attempts": [{}]}, 1, 0, "repair"),
        ("nothing_to_do", {}, 0, 0, "silent"),
        ("nothing_to_do", {}, 0, 1, "explain"),
    ],
)
def test_who_offers_or_searches_in_vain_repairs_and_who_says_nothing_is_silent(
    status: str, outcome: Mapping[str, object], pulls: int, comments: int, action: str
) -> None:
    ended = Ended(0, "", 1.0, {"status": status}, "", pulls, comments, outcome)
    assert action_of(ended) == action


def test_a_patch_where_none_was_due_is_wrong_without_a_run(tmp_path: Path) -> None:
    case = Situation("own/x", "network", "explain", (Commit("Start", {"a.py": ""}),))
    assert judged_by_hidden(case, tmp_path, tmp_path, tmp_path, {"a.py": "x = 1\n"}) == "wrong"
