"""The last lines of a run on a terminal."""

from __future__ import annotations

import pytest

from heal_bot.report import console
from tests.github_server import records

BASE = "5" * 40


def test_a_doubt_is_told_before_the_patch_can_be_applied() -> None:
    data = records.data(BASE)
    assert not any(
        line.startswith("doubt") for line in console.render_closing(records.record(data), "out")
    )
    data["certificate"]["doubts"] = ["total newly swallows an exception", "a b\n::error::c"]
    told = console.render_closing(records.record(data), "out")
    assert told[-4:-2] == (
        "doubt: total newly swallows an exception",
        "doubt: a b ::error::c",
    )
    assert told[-1].startswith("next: heal-bot apply --bundle out")


def test_what_is_proved_is_told_apart_from_what_is_inferred_and_what_is_not_shown() -> None:
    data = records.data(BASE) | {"proved": [f"{n}\u202e" for n in range(40)]}
    told = console.render_closing(records.record(data), "out")
    assert told[1:11] == tuple(f"proved: {n}<U+202E>" for n in range(10))
    assert told[11].startswith("inferred: the fault is where the patch changes code")
    assert told[12] == "not shown: isolation layer missing: landlock: the kernel has none"


def test_a_suggestion_is_told_with_what_it_lacks_and_its_diff() -> None:
    told = console.render_closing(records.record(records.suggested(BASE)), "out")
    at = told.index("suggestion, no repair (by rules): a change of shop/pricing.py::total; but")
    assert told[at + 1] == "  one failing test alone vouches for it"
    assert "  +    return sum(prices)" in told
    assert told[-1].startswith("next: read out/suggestion.diff")


@pytest.mark.parametrize(
    ("status", "stopped", "words"),
    [
        ("sandbox_error", "done", "heal-bot doctor"),
        ("stale_test", "done", "look at the test"),
        ("budget_exhausted", "budget", "--max-minutes"),
        ("not_healed", "interrupted", "or heal again"),
        ("not_healed", "exhausted", "heal-bot explain out"),
    ],
)
def test_without_a_patch_the_next_step_fits_the_end(status: str, stopped: str, words: str) -> None:
    data = records.data(BASE) | {"patch": None, "certificate": None}
    record = records.record(data | {"status": status, "stopped": stopped})
    assert words in console.render_closing(record, "out")[-1]
