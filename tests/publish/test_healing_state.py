"""The remembered state as a document: closed, capped, forgotten by age."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import ValidationError

from heal_bot.core.outcome import ConfidenceRecord
from heal_bot.publish import healing_state
from heal_bot.publish.healing_state import Entry, Proposal, Settled, State
from heal_bot.report.proposed_change import ProposedChange, Rating

SHA = "a" * 40
DIGEST = "b" * 64
CHANGE = ProposedChange(sha=SHA, change=DIGEST, reported=("c" * 16,), parts=(DIGEST,))


def entry(day: int = 100, **changes: Any) -> Entry:
    return Entry.model_validate(
        {"base": "main", "day": day, "sha": SHA, "status": "healed"} | changes
    )


def test_a_state_is_read_as_it_was_written() -> None:
    proposal = Proposal(pull=7, change=CHANGE)
    settled = Settled(proposal=proposal, how="refused", by="ada")
    known = entry(tried={"unchanged": (DIGEST,)}, proposal=proposal, settled=(settled,))
    state = State(entries={"0" * 12: known}, spent={"100": 0.25})
    assert healing_state.parse(healing_state.dump(state, 100)) == state


def test_an_empty_state_is_a_state() -> None:
    assert healing_state.parse(healing_state.dump(State(), 1)) == State()


WRONG: dict[str, Any] = {
    "another schema": {"schema": 2, "entries": {}},
    "a field too many": {"schema": 1, "entries": {}, "more": 1},
    "source text in a digest": {
        "schema": 1,
        "entries": {"0" * 12: {"base": "main", "day": 1, "sha": SHA, "status": "healed",
                               "tried": {"unchanged": ["def f(): pass"]}}},
    },
    "a verdict of its own": {
        "schema": 1,
        "entries": {"0" * 12: {"base": "main", "day": 1, "sha": SHA, "status": "healed",
                               "tried": {"good": [DIGEST]}}},
    },
    "a negative cost": {"schema": 1, "entries": {}, "spent": {"1": -1.0}},
    "a list": [],
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_whatever_was_not_written_like_this_is_no_state(name: str) -> None:
    assert healing_state.parse(json.dumps(WRONG[name])) is None


def test_what_is_larger_than_the_limit_is_no_state() -> None:
    text = healing_state.dump(State(), 1)
    assert healing_state.parse(text + " " * healing_state.LIMIT) is None


def test_what_is_older_than_thirty_days_is_forgotten() -> None:
    state = State(entries={"0" * 12: entry(100), "1" * 12: entry(131)}, spent={"90": 1.0})
    kept = healing_state.parse(healing_state.dump(state, 131))
    assert kept is not None
    assert list(kept.entries) == ["1" * 12]
    assert kept.spent == {}


def test_what_people_refused_is_kept_longer_than_what_was_tried() -> None:
    settled = Settled(proposal=Proposal(pull=7, change=CHANGE), how="refused", by="ada")
    tried = tuple(f"{number:064x}" for number in range(150))
    state = State(
        entries={
            f"{number:012x}": entry(100 + number // 10, tried={"unchanged": tried},
                                    settled=(settled,))
            for number in range(100)
        }
    )  # fmt: skip
    text = healing_state.dump(state, 110)
    kept = healing_state.parse(text)
    assert len(text) <= healing_state.LIMIT
    assert kept is not None
    assert len(kept.entries) == 100
    assert all(one.settled for one in kept.entries.values())
    assert kept.entries[f"{0:012x}"].tried == {}
    assert kept.entries[f"{99:012x}"].tried != {}


def test_a_change_of_one_entry_is_one_line_for_git() -> None:
    state = State(entries={"0" * 12: entry(), "1" * 12: entry()})
    changed = state.with_entries({"1" * 12: entry(101)})
    before, after = (healing_state.dump(one, 101).splitlines() for one in (state, changed))
    assert sum(one != other for one, other in zip(before, after, strict=True)) == 1


def test_what_a_record_may_say_of_a_rating_fits_into_a_pull_request() -> None:
    said: dict[str, Any] = {"level": "medium", "p": 0.8, "ground": "x" * 1_000}
    assert Rating(**ConfidenceRecord(**said).model_dump()).ground == said["ground"]
    with pytest.raises(ValidationError):
        ConfidenceRecord(**{**said, "ground": "x" * 1_001})
