"""Changes that other runs found, proposed again: the union is judged like any other proposal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from heal_bot.events import Run
from heal_bot.model import Candidate, Cost, Edit
from heal_bot.outcome import PatchRecord
from heal_bot.ports import Recall, Tree
from heal_bot.source import edit, recheck
from heal_bot.source.guard import SourceRejected


@dataclass(slots=True)
class Replay:
    """Proposes the patches of bundles; implements the Proposer port.

    For each cluster first single edits on its suspects, then whole patches: a shard's patch may
    hold the repair of several causes. What does not fit the tree is a note.
    """

    patches: Sequence[PatchRecord]
    notes: list[str] = field(default_factory=list)

    name: str = field(default="bundle", init=False)
    streams: bool = field(default=False, init=False)

    def propose(self, run: Run, recall: Recall) -> Iterator[Candidate]:
        """The candidates for one cluster; the search ends at the first that fixes it."""
        brief = recall()
        found = [edits for patch in self.patches if (edits := self._edits(patch, brief.tree))]
        suspects = {suspect.target for suspect in brief.cluster.suspects}
        single = [(change,) for edits in found for change in edits if change.target in suspects]
        seen: set[tuple[Edit, ...]] = set()
        for edits in (*single, *found):
            if edits not in seen:
                seen.add(edits)
                yield Candidate(edits, self.name, "bundle", "found in another run")

    def spent(self) -> Cost:
        """Nothing: the other runs paid."""
        return Cost(usd=0.0)

    def _edits(self, patch: PatchRecord, tree: Tree) -> tuple[Edit, ...]:
        """The edits of a patch, read off the tree and not off the bundle; empty when they are none.

        Where a bundle and the tree disagree the bundle is left out.
        """
        try:
            if patch.base_sha != tree.sha:
                raise recheck.RecheckError(f"the bundle is about commit {patch.base_sha[:12]}")
            edits: list[Edit] = []
            for file in patch.files:
                if tree.blob(file.path) != file.base_blob:
                    raise recheck.RecheckError(f"{file.path} is another file here")
                named = {f.qualname for f in patch.functions if f.path == file.path}
                before = edit.text_of(tree, file.path)
                edits += recheck.edits(file.path, before, file.content, named)
        except (recheck.RecheckError, SourceRejected, edit.EditError, KeyError) as error:
            note = f"a bundle is left out: {error}"
            if note not in self.notes:
                self.notes.append(note)
            return ()
        return tuple(edits)
