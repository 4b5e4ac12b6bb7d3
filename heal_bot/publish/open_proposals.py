"""One change, one pull request: the open proposal that a change belongs to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from heal_bot.ports.code_host import ForgePull
from heal_bot.report import pull_request_body, pull_request_memory
from heal_bot.report.pull_request_memory import Named


@dataclass(frozen=True, slots=True)
class Twin:
    """An open pull request with the whole change or a part, and whether it is to have the rest."""

    pull: ForgePull
    whole: bool
    grows: bool


def find_twin(named: Named, pulls: Sequence[ForgePull]) -> Twin | None:
    """The open proposal for other failures that a change shares edits or repaired tests with.

    It is updated by what repairs all that it repairs, and more or otherwise. Else it stays as it
    is: a smaller change would take from it, and what is neither would be opened twice in part.
    """
    found = None
    for pull in pulls:
        noted = pull_request_memory.read(pull.body)
        there = noted.named if noted is not None else Named()
        if not _shares(named, there):
            continue
        if named.change == there.change or set(named.parts) <= set(there.parts):
            return Twin(pull, True, set(named.fixed) > set(there.fixed))
        found = found or Twin(pull, False, set(named.fixed) >= set(there.fixed))
    return found


def holds_change(named: Named, pull: ForgePull) -> bool:
    """Whether an open pull request has all edits of a change."""
    noted = pull_request_memory.read(pull.body)
    there = noted.named.parts if noted is not None else ()
    return bool(named.parts) and set(named.parts) <= set(there)


def is_for(fingerprint: str, pull: ForgePull) -> bool:
    """Whether a pull request is about exactly these failures, or does not say about which."""
    mark = pull_request_body.read_mark(pull.body)
    return mark is None or mark.fingerprint == fingerprint


def _shares(one: Named, other: Named) -> bool:
    return not set(one.parts).isdisjoint(other.parts) or not set(one.fixed).isdisjoint(other.fixed)
