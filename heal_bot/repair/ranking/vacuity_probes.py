"""What tells that patches pass whatever they do: each is asked beside them, as one more change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from heal_bot.core.model import Attempt, Candidate
from heal_bot.repair.ranking.behavioral_diff import Key, is_same
from heal_bot.repair.ranking.dead_statement_probe import Omission, find_omissions
from heal_bot.repair.ranking.insensitive_expression import Shift, find_shifts
from heal_bot.repair.ranking.vacuous_condition import Probe, find_probes


@dataclass(frozen=True, slots=True)
class Scrutiny:
    """What is asked about some patches."""

    conditions: tuple[Probe, ...]
    statements: tuple[Omission, ...]
    sums: tuple[Shift, ...]

    @property
    def candidates(self) -> tuple[Candidate, ...]:
        """What has to be called after the patches, in the order in which `found` takes it."""
        always_and_never = [c for probe in self.conditions for c in (probe.always, probe.never)]
        left_out = [omission.without for omission in self.statements]
        return (*always_and_never, *left_out, *(shift.shifted for shift in self.sums))

    def found(self, keys: Sequence[Key]) -> ProbeFindings:
        """What came of it; `keys` tell what patches, candidates and, last, unchanged code do."""
        first = len(keys) - 1 - len(self.candidates)
        after = first + 2 * len(self.conditions)
        last = after + len(self.statements)
        vacuous: set[int] = set()
        for probe, at in zip(self.conditions, range(first, after, 2), strict=True):
            vacuous |= probe.vacuous(keys[-1], keys, keys[at], keys[at + 1])
        inert: set[int] = set()
        for omission, key in zip(self.statements, keys[after:last], strict=True):
            inert |= {member for member in omission.members if is_same(keys[member], key)}
        # What there was no time for may have shown the difference.
        sums = [(s.member, key) for s, key in zip(self.sums, keys[last:-1], strict=True)]
        indifferent = {at for at, key in sums if None not in key and is_same(keys[at], key)}
        return ProbeFindings(frozenset(vacuous), frozenset(inert), frozenset(indifferent))


@dataclass(frozen=True, slots=True)
class ProbeFindings:
    """The numbers of patches by what is known of them.

    After a `vacuous` one a condition decides nothing that did; an `inert` one does what the program
    does without the statement that it changes; what an `indifferent` one computes could be more.
    """

    vacuous: frozenset[int]
    inert: frozenset[int]
    indifferent: frozenset[int]


def plan_probes(fixes: Sequence[Attempt]) -> Scrutiny:
    """What to ask about patches, the cheapest of them first."""
    return Scrutiny(find_probes(fixes), find_omissions(fixes), find_shifts(fixes))
