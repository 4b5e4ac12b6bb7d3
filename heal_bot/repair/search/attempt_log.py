"""The ledger: all that was tried and what came of it; the only mutable object stages share."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from heal_bot.core.events import AttemptJudged, Noted, ProposalConfirmed, Run
from heal_bot.core.model import (
    Attempt,
    Candidate,
    Choice,
    Cluster,
    Confirmed,
    Edit,
    Memory,
    Proposal,
    Question,
    Regression,
    Search,
    Spectrum,
    Suggestion,
    Target,
    Verdict,
)
from heal_bot.core.statuses import LASTING, SURE, VerdictStatus
from heal_bot.ports import Brief, Lab, Tree
from heal_bot.repair.search.attempt_history import digest, digest_answer
from heal_bot.source import edit, patch_policy
from heal_bot.source.guard import SourceRejected
from heal_bot.source.reversal import ReversedChange, survey_change

_PARTIAL = 30
# Why a search ended, the weightiest word last: of several clusters that one counts.
_ENDS = ("done", "exhausted", "stuck", "budget", "interrupted")
# And which limit a spent budget is one of, the weightiest last too.
_LIMITS = ("", "token", "model call", "spending", "attempt", "time")


@dataclass(slots=True)
class AttemptLog:
    """Attempts in order, searches by family, winners confirmed and pending, why the run stopped.

    `left` are failing tests that a commit is shown to have left behind where it means its change.
    """

    tree: Tree
    memory: Memory = field(default_factory=Memory)
    instruction: str = ""
    lock_hash: str = ""
    lab: Lab | None = None
    regressions: tuple[Regression, ...] = ()
    spectrum: Spectrum | None = None
    paths: tuple[str, ...] = ()
    python: str = ""
    passed: frozenset[str] = frozenset()
    left: frozenset[str] = frozenset()
    min_confidence: float = SURE
    stored: Mapping[str, str] = field(default_factory=dict)
    outdated: dict[str, str] = field(default_factory=dict)
    unsure: dict[str, str] = field(default_factory=dict)
    bases: dict[str, tuple[Edit, ...]] = field(default_factory=dict)
    attempts: list[Attempt] = field(default_factory=list)
    confirmed: Confirmed | None = None
    held: tuple[Attempt, ...] = ()
    suggestions: dict[str, Suggestion] = field(default_factory=dict)
    question: Question | None = None
    stopped: str = "done"
    limit: str = ""
    notes: list[str] = field(default_factory=list)
    _searches: dict[tuple[Target, str, str], list[int]] = field(default_factory=dict)
    _partial: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    _known: dict[str, str] = field(default_factory=dict)
    _refused: set[str] = field(default_factory=set)
    _surveys: dict[str, ReversedChange] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._known = {key: verdict for key, verdict in self.memory.tried if verdict in LASTING}

    @property
    def searches(self) -> tuple[Search, ...]:
        """What each proposer tried by families of changes, target by target."""
        return tuple(
            Search(proposer, target, family, tried, best)
            for (target, proposer, family), (tried, best) in self._searches.items()
        )

    def find_regression(self, cluster: Cluster) -> Regression | None:
        """The commit that broke tests of a cluster; None where there is none, or several."""
        tests = {failure.test for failure in cluster.failures}
        known = [one for one in self.regressions if not tests.isdisjoint(one.tests)]
        return known[0] if len(known) == 1 else None

    def survey(self, regression: Regression) -> ReversedChange:
        """What a commit changed, as far as the tree still has it; read once."""
        key = regression.bad_sha
        if key not in self._surveys:
            self._surveys[key] = survey_change(self.tree, regression.files)
        return self._surveys[key]

    def seen(self, candidate: Candidate) -> str:
        """The verdict that this change got before, here or in an earlier run; '' if it is new."""
        if not self._known and not self._refused:
            return ""
        key = digest(candidate)
        return VerdictStatus.UNCONFIRMED if key in self._refused else self._known.get(key, "")

    def count(self, candidate: Candidate, verdict: Verdict) -> None:
        """Add one judged candidate to its search."""
        key = (candidate.edits[0].target, candidate.proposer, candidate.family)
        row = self._searches.setdefault(key, [0, 0])
        row[0] += 1
        row[1] = max(row[1], len(verdict.fixed))

    def record(
        self, run: Run, cluster: Cluster, candidate: Candidate, verdict: Verdict, seconds: float
    ) -> Attempt:
        """Enter an attempt and tell it."""
        number = len(self.attempts) + 1
        diff = _diff(self.tree, candidate)
        attempt = Attempt(number, cluster.id, candidate, verdict, seconds, diff)
        self.attempts.append(attempt)
        if verdict.status == VerdictStatus.IMPROVED:
            ranked = sorted(
                (*self.partial(cluster), attempt),
                key=lambda a: (-len(a.verdict.fixed), len(a.diff)),
            )
            self._partial[cluster.id] = [a.number for a in ranked[:_PARTIAL]]
        run.emit(
            AttemptJudged(
                number=attempt.number,
                cluster=cluster.id,
                proposer=candidate.proposer,
                family=candidate.family,
                verdict=verdict.word,
                fixed=len(verdict.fixed),
                detail=verdict.detail,
                of=len(cluster.failures),
                change=_change(candidate),
            )
        )
        return attempt

    def best_partial(self, cluster: Cluster) -> Attempt | None:
        """What fixed most of the cluster's tests and broke none; the smallest of equals."""
        return next(iter(self.partial(cluster)), None)

    def partial(self, cluster: Cluster) -> tuple[Attempt, ...]:
        """What fixed a part of the cluster's tests and broke none, the best first."""
        return tuple(self.attempts[number - 1] for number in self._partial.get(cluster.id, ()))

    def recall(self, run: Run, cluster: Cluster) -> Recollection:
        """The view a proposer gets."""
        return Recollection(self, run, cluster)

    def settle(self, run: Run, proposal: Proposal, verified: Confirmed | Verdict) -> None:
        """Take what confirmation said: the patch stands, or its newest winners do not.

        One that lacks evidence is the suggestion of its cluster, or asks a question beside the one
        that it rivals. Several that are objected to together wait until each is proposed by itself.
        """
        new = [winner for winner in proposal.winners if winner not in self.held]
        why = self.lacks(proposal, verified)
        if isinstance(verified, Verdict):
            status, fixed, detail = verified.word, len(verified.fixed), verified.detail
            if len(new) == 1:
                self.refuse(new[0], verified)
                if verified.measured and len(proposal.winners) == 1:
                    self._refused.add(digest(new[0].candidate))
        elif why:
            status, fixed, detail = "suggestion", len(verified.patch.fixed), why[0]
            if len(new) == 1:
                self._suggest(new[0], verified, why)
        else:
            self.confirmed, self.held = verified, proposal.winners
            for winner in new:
                self.unsure.pop(winner.cluster, None)
            # Beside other edits what did not hold may.
            self._refused.clear()
            status, fixed, detail = "patch", len(verified.patch.fixed), ""
        self._drop_fixed()
        run.emit(ProposalConfirmed(status=status, fixed=fixed, detail=detail))

    def _suggest(self, attempt: Attempt, verified: Confirmed, why: tuple[str, ...]) -> None:
        """Keep what held and lacks evidence: as a suggestion, or in question with its rival."""
        first = self.suggestions.get(attempt.cluster)
        if first is not None and (told := first.attempt.rival) and told.attempt == attempt.number:
            held = ("A", first.attempt, first.confirmed), ("B", attempt, verified)
            alike = verified.patch.fixed == first.confirmed.patch.fixed and why == attempt.lacks
            choices = (Choice(*one, said) for one, said in zip(held, told.answers, strict=True))
            self.question = Question(told.call, tuple(choices)) if alike else None
            return
        base = self.confirmed.patch if self.confirmed else None
        self.suggestions[attempt.cluster] = Suggestion(attempt, verified, why, base)
        self.weigh([replace(attempt, lacks=why)])

    def take_answer(self, picked: str) -> None:
        """Call the choice the repair whose answer a person gave; of several answers the newest.

        `picked` is the choice that the run was asked for, '' for none.
        """
        call, choices = (self.question.call, self.question.choices) if self.question else ("", ())
        by_answer = {digest_answer(call, one.result): one for one in choices}
        known = [by_answer[given] for given in self.memory.answers if given in by_answer]
        if not known:
            if picked:
                self.notes.append(f"choice {picked} of an earlier run is none of this one")
            return
        chosen = known[-1]
        attempt = replace(chosen.attempt, lacks=(), confidence=None)
        self.weigh([attempt])
        self.confirmed, self.held, self.question = chosen.confirmed, (attempt,), None
        self.notes.append(f"a person answered that {call} gives {chosen.result}")
        self._drop_fixed()

    def rival(self) -> Proposal | None:
        """What rivals the suggestion, where to tell the two apart is all that it lacks."""
        found = self.suggestion
        if found is None or self.confirmed is not None or (told := found.attempt.rival) is None:
            return None
        other = self.attempts[told.attempt - 1]
        if found.why != found.attempt.lacks or self.has_failed(other):
            return None
        why = f"attempt {found.attempt.number} passes too: what should {told.call} give?"
        return Proposal((replace(other, lacks=(why,)),))

    def _drop_fixed(self) -> None:
        """Drop the suggestions whose tests all pass with the patch."""
        done = set(self.confirmed.patch.fixed) if self.confirmed else set()
        for cluster, suggestion in tuple(self.suggestions.items()):
            if done.issuperset(suggestion.fixed):
                del self.suggestions[cluster]

    def lacks(self, proposal: Proposal, verified: Confirmed | Verdict) -> tuple[str, ...]:
        """Why a proposal that was confirmed is not called the repair; empty where it is."""
        if isinstance(verified, Verdict):
            return ()
        new = [winner for winner in proposal.winners if winner not in self.held]
        reaches = (
            why for one in new for why in patch_policy.list_decisions(one.candidate, self.tree)
        )
        weighed = [winner.lacks for winner in new if winner.lacks is not None]
        objections = verified.objections if weighed else ()
        lacking = (why for lacks in weighed for why in lacks)
        return tuple(dict.fromkeys((*reaches, *objections, *lacking)))

    @property
    def suggestion(self) -> Suggestion | None:
        """Of those that held, one that is likely to be right, then the one that fixes most."""
        found = self.suggestions.values()
        return max(found, key=lambda one: (_is_likely(one), len(one.fixed)), default=None)

    def hear(self, suggestion: Suggestion, heard: Confirmed) -> None:
        """Keep what critics ask about a suggestion as what it lacks."""
        asked = [why for why in heard.objections if why not in suggestion.confirmed.objections]
        self.suggestions[suggestion.attempt.cluster] = replace(
            suggestion, confirmed=heard, why=(*suggestion.why, *asked)
        )

    def withdraw(self, suggestion: Suggestion, why: str) -> None:
        """Take a suggestion back, since it was shown to be wrong."""
        self.suggestions.pop(suggestion.attempt.cluster)
        self.refuse(suggestion.attempt, Verdict(VerdictStatus.UNCONFIRMED, detail=why))

    def accept_likely(self) -> None:
        """Call a suggestion the repair where it is likely enough to be right.

        It was confirmed together with what stands. What its evidence lacks is the first doubt.
        """
        found = self.suggestion
        if self.question or found is None or not _is_likely(found):
            return
        if found.base != (self.confirmed.patch if self.confirmed else None):
            return
        certificate = found.confirmed.certificate
        doubts = tuple(dict.fromkeys((*found.why, *certificate.doubts)))
        certificate = replace(certificate, doubts=doubts)
        self.confirmed = replace(found.confirmed, certificate=certificate)
        self.held = (*self.held, found.attempt)
        self._drop_fixed()

    def weigh(self, attempts: Sequence[Attempt]) -> None:
        """Keep what is known of attempts by now."""
        for attempt in attempts:
            self.attempts[attempt.number - 1] = attempt

    def refuse(self, winner: Attempt, verdict: Verdict) -> None:
        """Replace the verdict of an attempt that did not hold in the cold run.

        What was not measured there keeps what it fixed in the search, and what its evidence lacks.
        """
        if verdict.measured:
            winner = replace(winner, lacks=None)
        else:
            verdict = replace(verdict, fixed=winner.verdict.fixed)
        self.weigh([replace(winner, verdict=verdict)])
        kept = self._partial.get(winner.cluster, [])
        self._partial[winner.cluster] = [number for number in kept if number != winner.number]

    def has_failed(self, attempt: Attempt) -> bool:
        """Whether the cold run measured an attempt, and it did not hold."""
        verdict = self.attempts[attempt.number - 1].verdict
        return verdict.status == VerdictStatus.UNCONFIRMED and verdict.measured

    def end(self, why: str, limit: str = "") -> None:
        """Keep why a search ended, unless another one ended for a weightier reason."""
        self.stopped = max(self.stopped, why, key=_ENDS.index)
        self.limit = max(self.limit, limit, key=_LIMITS.index)

    def stop(self, run: Run, why: str, note: str, limit: str = "") -> None:
        """Say why the search ends before everything is fixed."""
        self.end(why, limit)
        if note not in self.notes:
            self.notes.append(note)
            run.emit(Noted(stage="repair", message=note))


def _is_likely(suggestion: Suggestion) -> bool:
    """Whether a suggestion is likely to be right, and nobody objects to it."""
    return suggestion.attempt.is_likely and suggestion.why == suggestion.attempt.lacks


def _change(candidate: Candidate) -> str:
    """Where an attempt changes code, and what its proposer says of it; '' where it changes none."""
    places = dict.fromkeys(change.target.path for change in candidate.edits)
    why = candidate.rationale.partition("\n")[0] or candidate.family
    return f"{', '.join(places)}: {why}" if places else ""


def _diff(tree: Tree, candidate: Candidate) -> str:
    """The diff of a candidate; what does not apply is shown as it was proposed."""
    try:
        return edit.diff_all(tree, edit.patch_files(tree, candidate.edits))
    except (edit.EditError, SourceRejected):
        return "\n".join(change.new_source for change in candidate.edits)


@dataclass(frozen=True, slots=True)
class Recollection:
    """A proposer's view of the ledger: what was tried in one cluster, up to now."""

    ledger: AttemptLog
    run: Run
    cluster: Cluster

    def __call__(self) -> Brief:
        """Everything known about the cluster at this moment."""
        ledger = self.ledger
        return Brief(
            cluster=self.cluster,
            tree=ledger.tree,
            attempts=tuple(self._shown()),
            partial=ledger.partial(self.cluster),
            lessons=ledger.memory.lessons,
            instruction=ledger.instruction,
            base=ledger.bases.get(self.cluster.id, ()),
            lock_hash=ledger.lock_hash,
            lab=ledger.lab,
            regressions=ledger.regressions,
            spectrum=ledger.spectrum,
            paths=ledger.paths,
            python=ledger.python,
            passed=ledger.passed,
        )

    def _shown(self) -> Iterator[Attempt]:
        """The attempts of the cluster; not those that pass, so that who proposes is not led."""
        for attempt in self.ledger.attempts:
            if attempt.cluster == self.cluster.id and attempt.lacks is None:
                yield attempt

    def reject(self, candidate: Candidate, reason: str) -> None:
        """Enter a proposal that was refused before any run."""
        self.ledger.record(
            self.run, self.cluster, candidate, Verdict(VerdictStatus.REJECTED, detail=reason), 0.0
        )

    def end(self, why: str, limit: str = "") -> None:
        """Enter why the proposer has no more to say."""
        self.ledger.end(why, limit)
