"""The patches of a cluster that pass its tests, and what each does on calls beside the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from heal_bot.core.model import Attempt, CallResult, Calls, Candidate, Edit
from heal_bot.ports import Session
from heal_bot.repair.ranking import behavioral_diff
from heal_bot.repair.ranking.behavioral_diff import Key

_MOST = 24


@dataclass(frozen=True, slots=True)
class Pool:
    """What patches do on the calls, row by row, beside unchanged code and the `former` one.

    `examples` are those of docstrings, of unchanged code first. `called` says whether unchanged
    code could be called at all; `uncompared` counts patches beyond those in `fixes`.
    """

    fixes: tuple[Attempt, ...]
    calls: Calls
    unchanged: tuple[CallResult, ...]
    rows: tuple[tuple[CallResult, ...], ...]
    examples: tuple[tuple[CallResult, ...], ...]
    keys: tuple[Key, ...]
    failures: int
    called: bool
    uncompared: int = 0
    former: tuple[CallResult, ...] = ()

    def find_changed(self, patch: int) -> list[int]:
        """The tests' calls that do something else with a patch."""
        pairs = zip(self.unchanged[: self.calls.recorded], self.rows[patch], strict=False)
        return [n for n, pair in enumerate(pairs) if behavioral_diff.is_other(*pair)]

    def find_spoiled(self, patch: int) -> list[int]:
        """Those that passing tests make, and that do not what the former code did either."""
        row, former = self.rows[patch], dict(enumerate(self.former))
        return [
            n for n in self.find_changed(patch)
            if n in self.calls.worked
            and (n not in former or former[n].how == "skipped"
                 or behavioral_diff.is_other(former[n], row[n]))
        ]  # fmt: skip

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
    session: Session, fixes: Sequence[Attempt], failures: int, former: Sequence[Edit] = ()
) -> Pool:
    """The cheapest patches that pass `failures`, as they do on the tests' calls and varied ones.

    Of the `former` functions those are called that the patches change.
    """
    few = tuple(sorted(fixes, key=lambda fix: fix.candidate.prior)[:_MOST])
    changed = {edit.target for fix in few for edit in fix.candidate.edits}
    before = tuple(edit for edit in former if edit.target in changed)
    last = [Candidate(before, "history", "reversal")] if before else []
    calls = session.call([*(fix.candidate for fix in few), *last])
    count = 1 + len(few)
    told = calls.rows if len(calls.rows) == count + len(last) else ((),) * (count + len(last))
    _, *keys = behavioral_diff.outcome_signatures(told[:count])
    unchanged, *rows = (row[: len(row) - calls.examples] for row in told[:count])
    return Pool(
        few, calls, unchanged, tuple(rows),
        examples=tuple(row[len(row) - calls.examples :] for row in told[:count]),
        keys=tuple(keys),
        failures=failures,
        called=any(result.how != "skipped" for result in unchanged),
        uncompared=len(fixes) - len(few),
        former=told[-1] if last else (),
    )  # fmt: skip
