"""Changes that other runs found, proposed again: the union is judged like any other proposal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from heal_bot.core.events import Run
from heal_bot.core.model import Candidate, Confidence, Cost, Edit
from heal_bot.core.outcome import OutcomeRecord, PatchRecord
from heal_bot.core.statuses import MENDING, ConfidenceLevel
from heal_bot.ports import Brief, Recall, Tree
from heal_bot.source import edit_recovery, reversal_check

# Who proposes what is no model's, or nobody knows whose.
_NO_MODELS = frozenset({"rules", "bundle"})


@dataclass(slots=True)
class Replay:
    """Proposes the patches and suggestions of bundles; implements the Proposer port.

    For each cluster first single edits on its suspects, then whole patches: a shard's patch may
    hold the repair of several causes. What does not fit the tree is a note. The evidence for what
    no model made is weighed again. A patch takes a commit back where this run found that commit.
    """

    records: Sequence[OutcomeRecord]
    notes: list[str] = field(default_factory=list)

    name: str = field(default="bundle", init=False)
    streams: bool = field(default=False, init=False)

    def propose(self, run: Run, recall: Recall) -> Iterator[Candidate]:
        """The candidates for one cluster; the search ends at the first that fixes it."""
        brief = recall()
        makers: dict[Edit, str] = {}
        found: list[tuple[Edit, ...]] = []
        undone: dict[tuple[Edit, ...], str | None] = {}
        rated: dict[Edit, Confidence] = {}
        for record in self.records:
            if record.patch and (edits := self._edits(record.patch, brief.tree)):
                found.append(edits)
                undone[edits] = undone.get(edits) or _undoes(record, edits, brief)
                makers.update(_makers(record, record.patch, edits))
                if told := record.patch.confidence:
                    known = Confidence(ConfidenceLevel(told.level), told.p, told.ground)
                    rated |= {change: min(rated.get(change, known), known, key=lambda one: one.rank)
                              for change in edits}  # fmt: skip
        strong = {change for edits in found for change in edits}
        weak: dict[Edit, tuple[str, ...]] = {}
        for other in (record.suggestion for record in self.records):
            if other and other.patch and (edits := self._edits(other.patch, brief.tree)):
                found.append(edits)
                weak.update((change, other.why) for change in edits if change not in strong)
        suspects = {suspect.target for suspect in brief.cluster.suspects}
        single = [(change,) for edits in found for change in edits if change.target in suspects]
        tries = dict.fromkeys((*single, *found))
        for edits in sorted(tries, key=lambda edits: not weak.keys().isdisjoint(edits)):
            by_models = all(change in makers for change in edits)
            maker = makers[edits[0]] if by_models else self.name
            sure = [rated[change] for change in edits if change in rated]
            least = min(sure, key=lambda one: one.rank) if len(sure) == len(edits) else None
            lacks = tuple(why for change in edits for why in weak.get(change, ()))
            yield Candidate(edits, maker, "bundle", "found in another run",
                            lacks=None if by_models else lacks,
                            undoes=undone.get(edits), confidence=least)  # fmt: skip

    def spent(self) -> Cost:
        """Nothing: the other runs paid."""
        return Cost(usd=0.0)

    def _edits(self, patch: PatchRecord, tree: Tree) -> tuple[Edit, ...]:
        """The edits of a patch, read off the tree and not off the bundle; empty when they are none.

        Where a bundle and the tree disagree the bundle is left out.
        """
        try:
            return edit_recovery.recover_patch(patch, tree)
        except edit_recovery.RecheckError as error:
            note = f"a bundle is left out: {error}"
            if note not in self.notes:
                self.notes.append(note)
            return ()


def _undoes(record: OutcomeRecord, edits: Sequence[Edit], brief: Brief) -> str | None:
    """The commit that a patch takes back whole, if it broke tests here too and that is so."""
    sha = record.certificate.undoes if record.certificate else ""
    broke = (one for one in brief.regressions if one.bad_sha == sha)
    taken = any(not reversal_check.explain_refusal(edits, one.files, sha) for one in broke)
    return sha if taken else None


def _makers(record: OutcomeRecord, patch: PatchRecord, edits: Sequence[Edit]) -> dict[Edit, str]:
    """The models whose attempts make edits of a patch."""
    lines = _changed(patch.diff)
    names = {
        name: attempt.proposer
        for attempt in record.attempts
        if attempt.proposer not in _NO_MODELS
        and attempt.verdict in MENDING
        and _changed(attempt.diff) <= lines
        for name in attempt.functions
    }
    places = ((f"{change.target.path}::{change.target.qualname}", change) for change in edits)
    return {change: names[place] for place, change in places if place in names}


def _changed(diff: str) -> set[str]:
    """The lines that a diff takes away and adds."""
    return {line for line in diff.splitlines() if line.startswith(("+", "-"))}
