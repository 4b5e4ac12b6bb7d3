"""The patches of a cluster that pass its tests, and what each does on calls beside the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from heal_bot.core.model import Attempt, CallResult, Calls, Failure
from heal_bot.ports import Session
from heal_bot.repair.ranking import behavioral_diff
from heal_bot.repair.ranking.behavioral_diff import Key
from heal_bot.repair.ranking.vacuity_probes import ProbeFindings, Scrutiny, plan_probes

_MOST = 24
_ASSERTIONS = {"AssertionError", "Failed", ""}


@dataclass(frozen=True, slots=True)
class Pool:
    """What patches do on the calls, row by row, beside unchanged code, and what was asked of them.

    `examples` are those of docstrings, of unchanged code first. `crashes` are exceptions that the
    failing tests ended with, other than assertions, `faults` those that no statement raises, and
    `least` the share of calls that end with one after the best patch. `called` says whether
    unchanged code could be called at all; `uncompared` counts patches beyond those in `fixes`.
    """

    fixes: tuple[Attempt, ...]
    calls: Calls
    unchanged: tuple[CallResult, ...]
    rows: tuple[tuple[CallResult, ...], ...]
    examples: tuple[tuple[CallResult, ...], ...]
    keys: tuple[Key, ...]
    findings: ProbeFindings
    failures: int
    crashes: frozenset[str]
    faults: frozenset[str]
    least: float
    called: bool
    uncompared: int = 0

    def find_changed(self, patch: int) -> list[int]:
        """The tests' calls that do something else with a patch."""
        pairs = zip(self.unchanged[: self.calls.recorded], self.rows[patch], strict=False)
        return [n for n, pair in enumerate(pairs) if behavioral_diff.is_other(*pair)]

    def count_inputs(self, patch: int) -> int | None:
        """How many calls of failing tests a patch changes; None where none can be repeated."""
        if not self.rows[patch] or not self.called:
            return None
        mine = self.calls.recorded - self.calls.green
        return sum(n < mine and n not in self.calls.worked for n in self.find_changed(patch))

    def groups(self) -> list[tuple[int, ...]]:
        """The patches by behaviour, cheapest first; without calls each is on its own."""
        found: dict[object, list[int]] = {}
        for at in range(len(self.fixes)):
            found.setdefault(self.keys[at] or at, []).append(at)
        return [tuple(members) for members in found.values()]


def compare_patches(
    session: Session, fixes: Sequence[Attempt], failures: Sequence[Failure]
) -> Pool:
    """The cheapest patches that pass `failures`, as they do on the tests' calls and varied ones."""
    few = tuple(sorted(fixes, key=lambda fix: fix.candidate.prior)[:_MOST])
    asked = plan_probes(few)
    calls = session.call([*(fix.candidate for fix in few), *asked.candidates])
    return _pool(few, asked, calls, failures, len(fixes) - len(few))


def _pool(
    fixes: tuple[Attempt, ...],
    asked: Scrutiny,
    calls: Calls,
    failures: Sequence[Failure],
    uncompared: int,
) -> Pool:
    """After the patches, `calls` hold what was `asked` about them; nothing where none were made."""
    crashes = frozenset(f.kind for f in failures) - _ASSERTIONS
    faults = crashes - behavioral_diff.find_refusals(
        e.target.source for f in fixes for e in f.candidate.edits
    )
    count = 1 + len(fixes) + len(asked.candidates)
    told = calls.rows if len(calls.rows) == count else ((),) * count
    keys = behavioral_diff.outcome_signatures([*told[1:], told[0]], len(fixes))
    some = told[: 1 + len(fixes)]
    unchanged, *rows = (row[: len(row) - calls.examples] for row in some)
    examples = tuple(row[len(row) - calls.examples :] for row in some)
    return Pool(
        fixes, calls, unchanged, tuple(rows), examples, tuple(keys), asked.found(keys),
        len(failures), crashes, faults,
        least=min((behavioral_diff.crashing_share(row, faults) for row in rows), default=0.0),
        called=any(result.how != "skipped" for result in unchanged),
        uncompared=uncompared,
    )  # fmt: skip
