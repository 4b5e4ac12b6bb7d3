"""What the stages conclude: suspects, clusters, verdicts, certificates, the outcome."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from heal_bot.core.model.change import Candidate, Confidence, Cost, Edit, Patch, Target
from heal_bot.core.model.execution import Environment, Isolation, SuiteRun
from heal_bot.core.model.failures import Failure, HealRequest, Report
from heal_bot.core.model.regression import History
from heal_bot.core.statuses import (
    EXPECTED,
    ConfidenceLevel,
    FailureStatus,
    OutcomeStatus,
    VerdictStatus,
)


@dataclass(frozen=True, slots=True)
class Suspect:
    """A target that may hold the fault; `evidence` in words, `lines` (suspicion by line)."""

    target: Target
    score: float
    evidence: tuple[str, ...] = ()
    lines: Mapping[int, float] | None = None


@dataclass(frozen=True, slots=True)
class Cluster:
    """Failures that share a cause, with the suspects for it, best first.

    `stale` where nothing that a patch may change was executed or named: the tests look out of date.
    """

    id: str
    failures: tuple[Failure, ...]
    suspects: tuple[Suspect, ...]
    signature: str = ""
    stale: bool = False


@dataclass(frozen=True, slots=True)
class Reproduced:
    """A reported failure after the baseline.

    `explained` is one that is known, with nothing to repair in the code, `not_attempted` where the
    time given ended the suite before it.
    """

    failure: Failure
    status: FailureStatus
    flake_rate: float | None = None

    @property
    def confirmed(self) -> bool:
        """Whether it is worth a repair."""
        return self.status == FailureStatus.CONFIRMED

    def marked(self, status: FailureStatus, reasons: Mapping[str, str]) -> Reproduced:
        """This one, of that status where it was confirmed and its test has one of the reasons."""
        if not self.confirmed or not (reason := reasons.get(self.failure.test)):
            return self
        return replace(self, status=status, failure=replace(self.failure, reason=reason))


@dataclass(frozen=True, slots=True)
class Baseline:
    """The suite before any patch: what was confirmed, what passed, what ran where.

    `selected` are the tests that ran where the whole suite does not fit into the time given,
    `unsteady` the functions whose ids were seen to change from run to run, `outdated` the tests
    that contradict what the commit which broke them says that it means, `stored` those that only
    hold the output against a stored one, each with what to do where the change is meant.
    """

    reproduced: tuple[Reproduced, ...]
    suite: SuiteRun
    runs: int
    selected: tuple[str, ...] | None = None
    unsteady: tuple[str, ...] = ()
    outdated: tuple[str, ...] = ()
    stored: Mapping[str, str] = field(default_factory=dict)

    @property
    def whole(self) -> bool:
        """Whether the suite ran as a whole."""
        return self.selected is None

    @property
    def confirmed(self) -> tuple[Failure, ...]:
        """The failures worth a repair."""
        return tuple(r.failure for r in self.reproduced if r.confirmed)

    @property
    def passed(self) -> frozenset[str]:
        """The tests that passed before the patch and must pass after it."""
        return frozenset(r.test for r in self.suite.results if r.outcome in EXPECTED)

    def marked(self, status: FailureStatus, reasons: Mapping[str, str]) -> Baseline:
        """This one, with the confirmed failures that have one of the reasons of that status."""
        reproduced = tuple(item.marked(status, reasons) for item in self.reproduced)
        return replace(self, reproduced=reproduced)


class Cause(StrEnum):
    """Whose doing a verdict is: the change's, or what kept it from being measured."""

    CHANGE = "change"
    IDS = "ids"
    ENVIRONMENT = "environment"
    BUDGET = "budget"
    FLAKY = "flaky"


NOT_MEASURED = "not measured"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a candidate.

    `afresh`: the project was imported anew for it, which takes long. With any `cause` but the
    change itself it was not measured: it may be right, and has not failed.
    """

    status: VerdictStatus
    fixed: tuple[str, ...] = ()
    still_failing: tuple[Failure, ...] = ()
    newly_failing: tuple[Failure, ...] = ()
    detail: str = ""
    afresh: bool = False
    cause: Cause = Cause.CHANGE

    @property
    def measured(self) -> bool:
        """Whether it says anything of the change."""
        return self.cause is Cause.CHANGE

    @property
    def word(self) -> str:
        """The verdict in a word."""
        return self.status if self.measured else NOT_MEASURED


@dataclass(frozen=True, slots=True)
class CallResult:
    """What one call did, `kind` being the type returned or raised.

    how: returned | raised | late | skipped; of an example held | broken | skipped. `mark` is equal
    for equal results; it covers the arguments as the call left them.

    `value` is as `mark` without the arguments; `kept` says that the call changed none of them.
    """

    how: str
    kind: str
    text: str
    mark: str
    value: str = ""
    kept: bool = False


@dataclass(frozen=True, slots=True)
class Calls:
    """Calls of changed functions, the first `recorded` of them as tests make them.

    The last `green` of those no failing test makes; `worked` are the places of what passing tests
    call that comes out alike by itself. The last `examples` are those of docstrings: each is
    `held`, `broken` or `skipped`. `rows` hold one result per call: first those of the code
    unchanged, then of each candidate; a row is empty where a candidate could not be called. What
    ended well with the first candidate in a test, and raises with copied arguments, is skipped.
    """

    calls: tuple[str, ...] = ()
    recorded: int = 0
    rows: tuple[tuple[CallResult, ...], ...] = ()
    examples: int = 0
    worked: frozenset[int] = frozenset()
    green: int = 0


@dataclass(frozen=True, slots=True)
class Rival:
    """An attempt that passes the same tests, a call that tells both apart, and what each answers.

    `alone` is the one that it rivals as it would be rated without, where it has no other rival.
    """

    attempt: int
    call: str
    answers: tuple[str, str]
    alone: Attempt | None = None


@dataclass(frozen=True, slots=True)
class Attempt:
    """A candidate judged on all failing tests of its cluster, or rejected by the rails.

    `diff` is against the tree; where a rejected candidate does not apply, its new source.
    `doubts` are what speaks against a fix, for a person. `lacks` says what the evidence lacks for
    one that was found among many to be called the repair; None where it stands by itself. With a
    `rival`, either of both lacks nothing but that the other passes too.
    `confidence` is None where nothing was fitted for patches of its kind.
    """

    number: int
    cluster: str
    candidate: Candidate
    verdict: Verdict
    seconds: float = 0.0
    diff: str = ""
    doubts: tuple[str, ...] = ()
    lacks: tuple[str, ...] | None = None
    rival: Rival | None = None
    confidence: Confidence | None = None

    @property
    def is_likely(self) -> bool:
        """Whether it is likely enough to be right, though it lacks something, for a draft.

        One failing test alone is not enough: `likely` and `single` of `python -m benchmarks fit`.
        """
        known, fixed = self.confidence, self.verdict.fixed
        return known is not None and known.level is ConfidenceLevel.MEDIUM and len(fixed) > 1


@dataclass(frozen=True, slots=True)
class Search:
    """How many candidates of one family were tried on one target, and the most tests one fixed."""

    proposer: str
    target: Target
    family: str
    tried: int
    best_fixed: int


@dataclass(frozen=True, slots=True)
class SuiteTotals:
    """The whole suite in numbers, after the patch."""

    complete: bool
    passed: int
    failed: int
    skipped: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Certificate:
    """How the patch was verified, in terms a reviewer can repeat.

    `undoes` is the commit under test whose changes the patch takes back, or ''.
    """

    base_sha: str
    tree_sha: str
    tests_hash: str
    environment: Environment
    isolation: Isolation
    baseline_runs: int
    verify_runs: int
    before_after: tuple[tuple[str, str, str], ...]
    full_suite: SuiteTotals
    tests_unchanged: bool
    methods: tuple[tuple[str, str], ...] = ()
    gates: tuple[tuple[str, str], ...] = ()
    doubts: tuple[str, ...] = ()
    suite_before: SuiteTotals | None = None
    undoes: str = ""


@dataclass(frozen=True, slots=True)
class Memory:
    """What earlier runs tried: digests of patches with their verdict, lessons by fixed name.

    `answers` are the digests of what people answered to questions, the newest last.
    """

    tried: tuple[tuple[str, str], ...] = ()
    lessons: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Proposal:
    """The attempts that won their clusters so far: to be confirmed together."""

    winners: tuple[Attempt, ...]

    @property
    def edits(self) -> tuple[Edit, ...]:
        """All edits of the winners; equal ones once."""
        return tuple(
            dict.fromkeys(edit for winner in self.winners for edit in winner.candidate.edits)
        )


@dataclass(frozen=True, slots=True)
class Confirmed:
    """What held in the cold runs, doubts about the change itself, and whether critics heard it."""

    patch: Patch
    certificate: Certificate
    objections: tuple[str, ...] = ()
    heard: bool = False

    def with_gate(self, name: str, result: str) -> Confirmed:
        """The same after one more check beside the tests."""
        gates = (*self.certificate.gates, (name, result))
        return replace(self, certificate=replace(self.certificate, gates=gates))

    def with_doubt(self, doubt: str) -> Confirmed:
        """The same with one more doubt about how it was verified."""
        doubts = (*self.certificate.doubts, doubt)
        return replace(self, certificate=replace(self.certificate, doubts=doubts))


@dataclass(frozen=True, slots=True)
class Opinion:
    """What a critic makes of a patch: why it is wrong, shown by a check, and what it asks."""

    refusal: str = ""
    questions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A change that held in the cold runs on top of `base`, and is not called the repair."""

    attempt: Attempt
    confirmed: Confirmed
    why: tuple[str, ...]
    base: Patch | None = None

    @property
    def fixed(self) -> tuple[str, ...]:
        """The tests that passed in the cold runs with it, and not with its base alone."""
        before = self.base.fixed if self.base else ()
        return tuple(test for test in self.confirmed.patch.fixed if test not in before)


@dataclass(frozen=True, slots=True)
class Choice:
    """One of two changes that held in the cold runs; `result` is its answer to the question."""

    id: str
    attempt: Attempt
    confirmed: Confirmed
    result: str


@dataclass(frozen=True, slots=True)
class Question:
    """A call whose right answer decides between changes that hold alike."""

    call: str
    choices: tuple[Choice, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """The whole result of a run; `outcome.json` is this, flattened.

    `limit` is the one that ended it where it `stopped` for its budget: before a search only time.
    """

    request: HealRequest
    status: OutcomeStatus
    stopped: str
    reason: str
    report: Report
    baseline: Baseline | None = None
    clusters: tuple[Cluster, ...] = ()
    searches: tuple[Search, ...] = ()
    attempts: tuple[Attempt, ...] = ()
    patch: Patch | None = None
    certificate: Certificate | None = None
    memory: Memory = Memory()
    cost: Cost = field(default_factory=Cost)
    seconds: float = 0.0
    notes: tuple[str, ...] = ()
    suggestion: Suggestion | None = None
    question: Question | None = None
    history: History = field(default_factory=History)
    confidence: Confidence | None = None
    limit: str = "time"
