"""The smallest part of the commit that broke the tests whose reversal makes them pass.

Hierarchical delta debugging (Misherghi and Su 2006): hunks first, then the statements and
expressions in those that matter; at each level as few as do (Zeller and Hildebrandt 2002).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from heal_bot.core.events import Run, SearchProgressed
from heal_bot.core.model import (
    Attempt,
    Candidate,
    Cluster,
    Regression,
    Target,
    Verdict,
    doubt_reversal,
)
from heal_bot.core.statuses import VerdictStatus
from heal_bot.core.text import one_line
from heal_bot.ports import Session
from heal_bot.repair.ranking.patch_probability import load_model
from heal_bot.repair.search.attempt_log import AttemptLog
from heal_bot.repair.search.reversal_completion import Pieces, ReversalCompletion
from heal_bot.source import change_intent, line_targets, patch_policy
from heal_bot.source.reversal import (
    Piece,
    ReversedChange,
    brought_tests,
    list_lines,
    place_extracted,
    place_lost,
    place_missed,
    read_part,
)
from heal_bot.source.similar_changes import Outline, outline_change

# Parts of one level that are judged alone; a commit of more is taken as a whole first.
_WIDTH = 400
_RIVALS = 4
# What a reversal may take of the time left, before the templates have any.
_SHARE = 0.25
PROPOSER = "history"
MEANT = "it looks like a change that was meant"
_CLIP = 120
_HALF = "it puts back a part of a statement, and the whole of it does not pass"


def find_reversals(
    run: Run, cluster: Cluster, session: Session, ledger: AttemptLog
) -> Iterator[Attempt]:
    """Attempts that put back a part of what broke the cluster's tests, the smallest first.

    Where several parts do so independently of each other, nobody can say which of them is the
    fault: each lacks evidence.
    """
    tests = {failure.test for failure in cluster.failures}
    run = replace(run, deadline=run.clock() + _SHARE * run.left())
    for regression in ledger.regressions:
        # Tests that are newer than the commit can fail for the same cause.
        if tests.isdisjoint(regression.tests):
            continue
        change = ledger.survey(regression)
        brought = brought_tests(regression.files)
        search = _Search(run, cluster, session, ledger, regression, change, brought)
        found, told = search.find()
        run.emit(SearchProgressed(
            cluster=cluster.id, proposer=PROPOSER, tried=search.tried,
            best_fixed=len(tests) if found else 0,
        ))  # fmt: skip
        if not found and (test := search.contradicted()):
            search.tell_contradiction(test)
            return
        rival = "another part of the commit can be put back instead, and the tests pass as well"
        for pieces in found[:_RIVALS]:
            lacks = (rival,) * (len(found) > 1) + (_HALF,) * search.halved(pieces)
            if len(found) == 1 and (why := search.explain_meant(pieces, told)):
                lacks = (*lacks, f"{MEANT}: {why}")
                ledger.unsure[cluster.id] = change_intent.explain_unsure(regression, why)
            yield search.attempt(pieces, lacks or None)


def _size(pieces: Pieces) -> tuple[int, int]:
    """How much a reversal changes: smallest parts, then bytes."""
    parts = [part for _, part in pieces]
    cuts = itertools.chain.from_iterable(part.cuts() for part in parts)
    return sum(p.leaves for p in parts), sum(len(c.before) + c.end - c.start for c in cuts)


@dataclass(slots=True)
class _Search:
    """The parts of one commit, judged in sets on the failing tests of a cluster.

    `brought` are the tests that the commit added or changed.
    """

    run: Run
    cluster: Cluster
    session: Session
    ledger: AttemptLog
    regression: Regression
    change: ReversedChange
    brought: frozenset[str]
    lost: Pieces = ()
    missed: Pieces = ()
    tried: int = 0
    judged: dict[Pieces, Verdict] = field(default_factory=dict)
    green: dict[str, set[int]] | None = None

    @property
    def code(self) -> Pieces:
        """The parts of functions: an import that goes can be needed by what is not taken back."""
        return tuple(one for one in self.change.places if one[0].kind != line_targets.KIND)

    def find(self) -> tuple[list[Pieces], str]:
        """The smallest sets that pass, and what the commit tells of the only one, if anything.

        What is lost may stand in for that one.
        """
        fewest = self.reduce(self.change.places)
        if not fewest and len(self.code) < len(self.change.places):
            fewest = self.reduce(self.code)
        found = sorted({one for pieces in fewest for one in self.allowed(pieces)}, key=_size)
        told = self.explain_told(found[0]) if len(found) == 1 else ""
        completion = ReversalCompletion(self.change, self.permitted, self.works)
        if len(found) != 1 or not self.is_slip(found[0]):
            lost = self.restored()
            alone = len(lost) == 1 or not found
            found = lost if lost and alone else [completion.unmix(one) for one in found]
        completed = [completion.widen(completion.rejoin(one)) for one in found]
        self.lost = (*self.lost, *completion.lost)
        return [*{frozenset(self.change.put_back(one)): one for one in completed}.values()], told

    def reduce(self, pieces: Sequence[Piece]) -> set[Pieces]:
        """The smallest sets of parts in these that pass; none where not even all of them do."""
        pieces = tuple(pieces)
        if not pieces or self.run.over():
            return set()
        alone = self.passing([(piece,) for piece in pieces]) if len(pieces) <= _WIDTH else []
        if alone:
            return set().union(*(self.descend(one[0]) for one in alone[:_RIVALS]))
        if together := len(pieces) > 1 and bool(self.passing([pieces])):
            pieces = self.fewest(pieces)
        # What passes as a statement is put back as one.
        below = tuple(
            (target, inner)
            for target, part in pieces
            for inner in ((part,) if together and part.atomic else part.parts or (part,))
        )
        smaller = self.reduce(below) if below != pieces else set()
        return smaller or ({pieces} if together else set())

    def restored(self) -> list[Pieces]:
        """What the commit lost while it moved or rewrote code, or forgot, if that alone passes.

        What takes something of the commit back is left out where there is anything that does not.
        """
        known = {self.change.put_back(pieces) for pieces in self.judged}
        self.missed = tuple(place_missed(self.change))
        for lost in (*place_extracted(self.change), (*place_lost(self.change), *self.missed)):
            new = self.change.select_new(lost, known)
            self.lost = (*self.lost, *new)
            if found := self.select_lost(new):
                return found
        return []

    def select_lost(self, lost: Pieces) -> list[Pieces]:
        """Those of some lost parts that pass, each as small as it passes, one of each text."""
        found: dict[object, Pieces] = {}
        passing = self.passing([(one,) for one in lost])
        for pieces in passing:
            ((target, part),) = pieces
            if any(t == target and part.holds(other) for ((t, other),) in passing):
                continue
            text = b" ".join(part.before.split())
            found.setdefault(pieces if self.is_missed(pieces) else text, pieces)
        adding = [p for p in found.values() if self.is_missed(p) or p[0][1].start == p[0][1].end]
        return adding or list(found.values())

    def halved(self, pieces: Pieces) -> bool:
        """Whether a part is but an expression of a statement that does not pass as a whole.

        A test of the commit that passes with it vouches for the mixture.
        """
        whole = {p for _, top in (*self.change.places, *self.lost) for p in top.statements()}
        return not self.is_tested(pieces) and any(part not in whole for _, part in pieces)

    def explain_meant(self, pieces: Pieces, told: str = "") -> str:
        """Why what is put back looks meant; '' for a slip.

        `told` is what the commit tells of the reversal that something lost stands in for. What it
        only forgot goes along with what it means, unless it tells of that place.
        """
        edits = self.change.put_back(pieces)
        if self.is_missed(pieces):
            return change_intent.find_told(edits, self.regression)
        if told:
            return told
        if not self.ledger.left.isdisjoint(self.regression.tests):
            return "other tests that it broke are out of date"
        kinds = {failure.kind for failure in self.cluster.failures}
        held = {edit for attempt in self.ledger.held for edit in attempt.candidate.edits}
        edits = tuple(one for one in edits if one not in held)
        unused = bool(self.change.list_unused(pieces))
        tested, whole = self.is_tested(pieces), self.is_whole(pieces)
        single = len(pieces) == 1 and pieces[0] in self.lost and pieces[0][1].atomic
        return change_intent.explain_meant(
            edits, self.regression, kinds, unused=unused, tested=tested, whole=whole, single=single
        )

    def is_missed(self, pieces: Pieces) -> bool:
        """Whether nothing is put back, but a replacement made where the commit left it out."""
        return set(pieces) <= {*self.missed}

    def only_adds(self, pieces: Pieces) -> bool:
        """Whether what was lost on the way is put back, and nothing of the commit taken away."""
        return set(pieces) <= {*self.lost} and change_intent.only_adds(self.change.put_back(pieces))

    def explain_told(self, pieces: Pieces) -> str:
        """What the commit tells of what is put back, where that looks meant; else ''."""
        told = change_intent.find_told(self.change.put_back(pieces), self.regression)
        return told if told and self.explain_meant(pieces) else ""

    def is_whole(self, pieces: Pieces) -> bool:
        """Whether all of the commit goes back; what it lost by the way is not that."""
        return not set(pieces).intersection(self.lost) and self.change.is_whole(pieces)

    def is_slip(self, pieces: Pieces) -> bool:
        """Whether what is put back is one statement, for which the commit brought nothing."""
        one = change_intent.is_one_statement(self.change.put_back(pieces))
        return one and not self.change.list_unused(pieces)

    def is_tested(self, pieces: Pieces) -> bool:
        """Whether tests that the commit brought, and that pass, execute each function put back."""
        tests = [test for test in self.ledger.passed if test.partition("[")[0] in self.brought]
        ran = self.list_executed(pieces, self.read_lines(tests))
        return bool(ran) and ran == {target for target, _ in pieces}

    def works(self, piece: Piece) -> bool:
        """Whether tests that pass execute what stands at a part."""
        if self.green is None:
            self.green = self.read_lines(self.ledger.passed)
        return bool(self.list_executed((piece,), self.green))

    def read_lines(self, tests: Iterable[str]) -> dict[str, set[int]]:
        """The lines that some tests execute, by their files."""
        spectrum = self.ledger.spectrum
        return spectrum.list_lines(*tests) if spectrum else {}

    def list_executed(self, pieces: Pieces, lines: Mapping[str, set[int]]) -> set[Target]:
        """The targets of the parts of which lines are among these."""
        return {
            target for target, part in pieces for cut in part.cuts()
            if lines.get(target.path, set()) & set(list_lines(target, cut))
        }  # fmt: skip

    def descend(self, piece: Piece) -> set[Pieces]:
        """The smallest sets of parts inside a part that pass as it does; else the part itself."""
        target, part = piece
        if part.atomic:
            return {(piece,)}
        return self.reduce(tuple((target, inner) for inner in part.parts)) or {(piece,)}

    def fewest(self, pieces: Pieces) -> Pieces:
        """As few of the parts as pass together, halving what can be left out."""
        size = len(pieces) // 2
        while size:
            for start in range(0, len(pieces), size):
                fewer = pieces[:start] + pieces[start + size :]
                if fewer and not self.run.over() and self.passing([fewer]):
                    return self.fewest(fewer)
            size //= 2
        return pieces

    def allowed(self, pieces: Pieces) -> Iterator[Pieces]:
        """The set, or where it is more than a small change may be the whole commit."""
        for one in (pieces, self.change.places):
            if self.permitted([one]):
                yield one
                break

    def permitted(self, sets: Sequence[Pieces]) -> list[Pieces]:
        """Those of the sets that pass, and that a patch may be."""
        return [
            one for one in self.passing(sets)
            if not patch_policy.check_candidate(self.candidate(one), self.ledger.tree)
        ]  # fmt: skip

    def passing(self, sets: Sequence[Pieces]) -> list[Pieces]:
        """Those of the sets with which all failing tests pass and none breaks."""
        new = [one for one in dict.fromkeys(sets) if one not in self.judged]
        candidates = [(one, self.candidate(one)) for one in new]
        # On the way to the fewest a set may be as large as the whole commit.
        whole = [(one, replace(c, undoes=self.regression.bad_sha)) for one, c in candidates]
        tree = self.ledger.tree
        asked = [(one, c) for one, c in whole if not patch_policy.check_candidate(c, tree)]
        verdicts = self.session.judge([candidate for _, candidate in asked])
        for (one, candidate), verdict in zip(asked, verdicts, strict=False):
            self.tried += 1
            self.ledger.count(candidate, verdict)
            self.judged[one] = verdict
        judged = ((one, self.judged.get(one)) for one in sets)
        return [one for one, v in judged if v and v.status == VerdictStatus.FIXED]

    def contradicted(self) -> str:
        """A test of the commit, where one fails with each reversal that passes; else ''."""
        tests = {failure.test for failure in self.cluster.failures}
        broken = [
            next((f.test for f in v.newly_failing if f.test.partition("[")[0] in self.brought), "")
            for v in self.judged.values()
            if tests <= set(v.fixed)
        ]
        return broken[0] if broken and all(broken) else ""

    def tell_contradiction(self, test: str) -> None:
        """Say that the commit and its failing tests want different things, as far as that is so."""
        regression = self.regression
        said = (
            f"{regression.said}; it cannot go back: without it {test} fails, which the same"
            " commit brought."
        )
        failures, tree = self.cluster.failures, self.ledger.tree
        claims = all(change_intent.is_claimed(one, regression, tree) for one in failures)
        if claims and not change_intent.says_nothing_changes(regression):
            told = "Undecided: the tests are out of date, or the code has to serve both"
            self.ledger.unsure[self.cluster.id] = f"{said} {told}"
        else:
            self.ledger.notes.append(f"{said} The code has to serve both")

    def list_same_changes(self, pieces: Pieces) -> list[str]:
        """The lines where the commit changed as these parts did, and that stay as they are.

        A slip made twice can be reached by tests only once.
        """
        wanted = self.outline(pieces) - {((), ())}
        lines = {(t, n) for t, part in pieces for c in part.cuts() for n in list_lines(t, c)}
        others = (
            (target, inner)
            for target, part in self.change.places if wanted
            for inner in part.statements() if inner.start >= 0
            if lines.isdisjoint((target, line) for line in list_lines(target, inner))
        )  # fmt: skip
        same = [
            (target, list_lines(target, part))
            for target, part in itertools.islice(others, _WIDTH)
            if not self.run.over() and wanted & self.outline(((target, part),))
        ]
        # A block around the only such statement has changed as that has.
        return list(dict.fromkeys(
            f"{target.path}:{where[0]}"
            for target, where in same
            if not any(t == target and set(w) < set(where) for t, w in same)
        ))  # fmt: skip

    def outline(self, pieces: Pieces) -> set[Outline]:
        """What parts change in each function."""
        edits = self.change.put_back(pieces)
        return {outline_change(one) for one in edits if one.target.kind != line_targets.KIND}

    def candidate(self, pieces: Pieces) -> Candidate:
        """The change that puts parts back, or makes the replacement that is missing there."""
        whole = self.is_whole(pieces)
        family, why = "reversal", "puts back what it was before"
        if self.is_missed(pieces):
            ((target, part),) = pieces
            told = f"`{read_part(target, part)}` by `{part.before.decode()}`"
            family, why = "missed place", f"replaces {one_line(told, _CLIP)} as in"
        elif whole:
            why = "takes back the code of"
        elif self.only_adds(pieces):
            why = "puts back what was lost in"
        why = f"{why} `{self.regression.bad_sha[:7]}`"
        undoes = self.regression.bad_sha if whole else ""
        return Candidate(self.change.put_back(pieces), PROPOSER, family, why, undoes=undoes)

    def attempt(self, pieces: Pieces, lacks: tuple[str, ...] | None) -> Attempt:
        """The attempt of a set that passed."""
        candidate = self.candidate(pieces)
        attempt = self.ledger.record(self.run, self.cluster, candidate, self.judged[pieces], 0.0)
        # Nobody can say that what is put back was not meant: a person decides.
        commit = f"`{self.regression.bad_sha[:7]}` ({self.regression.title})"
        what = "takes back the code of" if candidate.undoes else "takes back a part of"
        left = ", ".join(f"`{name}`" for name in self.change.list_unused(pieces))
        unused = (f"leaves {left} unused in its file",) if left else ()
        same = ", ".join(self.list_same_changes(pieces)[:_RIVALS])
        alike = (f"the commit made the same change at {same}, and that stays",) if same else ()
        missing = f"{candidate.rationale}: right unless it was left out on purpose"
        added = self.is_missed(pieces) or self.only_adds(pieces)
        doubt = missing if added else doubt_reversal(f"{what} {commit}")
        # Whoever decides on it has to know what it leaves behind.
        lacks = (*lacks, *unused, *alike) if lacks else None
        rated = None if lacks else load_model().rate_reversal()
        doubts = (doubt, *unused, *alike)
        attempt = replace(attempt, lacks=lacks, doubts=doubts, confidence=rated)
        self.ledger.weigh([attempt])
        return attempt
