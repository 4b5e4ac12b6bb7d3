"""One change, one pull request: the open proposal that a change belongs to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from heal_bot.ports.code_host import ForgePull
from heal_bot.report import pull_request_body, pull_request_memory
from heal_bot.report.proposed_change import ProposedChange


@dataclass(frozen=True, slots=True)
class Twin:
    """An open pull request with the whole change or a part, and whether it is to have the rest."""

    pull: ForgePull
    whole: bool
    grows: bool


def find_twin(change: ProposedChange, pulls: Sequence[ForgePull]) -> Twin | None:
    """The open proposal for other failures that a change shares edits or repaired tests with.

    It is updated by what repairs all that it repairs, and more or otherwise. Else it stays as it
    is: a smaller change would take from it, and what is neither would be opened twice in part.
    """
    found = None
    for pull in pulls:
        there = read_change(pull)
        if there is None or not _shares(change, there):
            continue
        if change.change == there.change or set(change.parts) <= set(there.parts):
            return Twin(pull, True, set(change.fixed) > set(there.fixed))
        found = found or Twin(pull, False, set(change.fixed) >= set(there.fixed))
    return found


def holds_change(change: ProposedChange, pull: ForgePull) -> bool:
    """Whether an open pull request has all edits of a change."""
    there = read_change(pull)
    return there is not None and set(change.parts) <= set(there.parts)


def read_change(pull: ForgePull) -> ProposedChange | None:
    """The change of a pull request of ours; None where an older version wrote its body."""
    noted = pull_request_memory.read(pull.body)
    return noted.change if noted is not None else None


def is_for(fingerprint: str, pull: ForgePull) -> bool:
    """Whether a pull request is about exactly these failures, or does not say about which."""
    mark = pull_request_body.read_mark(pull.body)
    return mark is None or mark.fingerprint == fingerprint


def _shares(one: ProposedChange, other: ProposedChange) -> bool:
    return not set(one.parts).isdisjoint(other.parts) or not set(one.fixed).isdisjoint(other.fixed)
