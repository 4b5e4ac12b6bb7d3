"""The schema of `outcome.json`, the one file of a bundle that programs read (schema 2).

What a schema adds stands at the end, with what it is where an older one lacks it.
`publish` reads it as written by an attacker: unknown fields, wrong types and anything over the
caps are refused before a value is looked at.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from heal_bot.core.model import NOT_MEASURED, Suite

SCHEMA = 2
MAX_CONTENT = 2 << 20
MAX_SENTENCES = 50

Name = Annotated[str, StringConstraints(max_length=1_000)]
Text = Annotated[str, StringConstraints(max_length=20_000)]
Diff = Annotated[str, StringConstraints(max_length=4_000_000)]
Sha = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{40}([0-9a-f]{24})?$")]
Hash = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{0,64}$")]
Names = Annotated[tuple[Name, ...], Field(max_length=20_000)]
Texts = Annotated[tuple[Text, ...], Field(max_length=1_000)]
Sentence = Annotated[str, StringConstraints(max_length=1_000, pattern=r"^[^\r\n]*$")]
Sentences = Annotated[tuple[Sentence, ...], Field(max_length=MAX_SENTENCES)]
Count = Annotated[int, Field(ge=0, le=10**12)]
Amount = Annotated[float, Field(ge=0, le=1e12, allow_inf_nan=False)]

Status = Literal[
    "healed", "partly_healed", "not_healed", "flaky", "stale_test", "not_reproduced",
    "nothing_to_do", "refused", "superseded", "budget_exhausted", "sandbox_error",
    "environment_error", "explained", "needs_answer",
]  # fmt: skip
Stopped = Literal["done", "exhausted", "stuck", "budget", "interrupted"]
FailureStatus = Literal[
    "fixed", "still_failing", "flaky", "order_dependent", "not_reproduced", "environment",
    "stale_test", "not_attempted", "explained", "collection_error",
]  # fmt: skip
VerdictStatus = Literal[
    "fixed", "improved", "unchanged", "regression", "rejected", "timeout", "error", "unconfirmed",
]  # fmt: skip
ChoiceId = Literal["A", "B"]


class Record(BaseModel):
    """What all records share: closed, frozen, finite."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


class RequestRecord(Record):
    """What was asked; informative only, since `publish` takes its facts from the event."""

    repo: Name
    base_sha: Sha
    base_ref: Name
    tested_sha: Annotated[str, StringConstraints(pattern=r"^([0-9a-f]{40}([0-9a-f]{24})?)?$")]
    head_repo: Name
    trigger: Name
    actor: Name
    trust: Literal["trusted", "keyless", "refused"]
    run_id: Count | None
    pull_number: Count | None
    verb: Name
    instruction: Text


class SuspectRecord(Record):
    """A target that may hold the fault."""

    path: Name
    qualname: Name
    nth: Count
    kind: Literal["function", "class_attribute", "assignment", "default", "lines"]
    first_line: Count
    score: Annotated[float, Field(ge=-1e6, le=1e6)]
    evidence: Texts


class FailureRecord(Record):
    """A failing test; the source that keeps it from being collected, since which commit.

    `failed_on` names the systems or Pythons of CI where it failed, if it passes here.
    """

    test: Name
    status: FailureStatus
    kind: Name
    message: Text
    reason: Text
    flake_rate: Annotated[float, Field(ge=0, le=1)] | None
    best_attempt: Count | None
    cluster_ids: Names
    suspects: Annotated[tuple[SuspectRecord, ...], Field(max_length=20)]
    source: Name = ""
    line: Count = 0
    commit: Annotated[str, StringConstraints(pattern=r"^([0-9a-f]{40}([0-9a-f]{24})?)?$")] = ""
    title: Name = ""
    failed_on: Annotated[tuple[Name, ...], Field(max_length=20)] = ()


class ClusterRecord(Record):
    """Failures that share a cause."""

    id: Name
    tests: Names
    suspects: Annotated[tuple[SuspectRecord, ...], Field(max_length=20)]
    signature: Text


class SearchRecord(Record):
    """How many candidates of a family were tried on a target."""

    proposer: Name
    path: Name
    qualname: Name
    family: Name
    tried: Count
    best_fixed: Count


class AttemptRecord(Record):
    """One attempt; `messages` holds what each test said after it."""

    number: Count
    cluster: Name
    proposer: Name
    family: Name
    rationale: Text
    functions: Names
    diff: Diff
    verdict: VerdictStatus
    detail: Text
    fixed: Names
    still_failing: Names
    newly_failing: Names
    messages: Annotated[dict[Name, Text], Field(max_length=1_000)]
    seconds: Amount
    cost_usd: Amount | None
    tokens: Annotated[dict[Name, Count], Field(max_length=10)]
    cause: Literal["change", "ids", "environment", "budget", "flaky"] = "change"

    @property
    def reason(self) -> str:
        """Why it was made, without what was looked at before."""
        return self.rationale.partition("\n\n")[0]

    @property
    def word(self) -> str:
        """The verdict in a word."""
        return self.verdict if self.cause == "change" else NOT_MEASURED


class FileRecord(Record):
    """A file after the patch."""

    path: Name
    base_blob: Sha
    content: Annotated[str, StringConstraints(max_length=MAX_CONTENT)]


class FunctionRecord(Record):
    """A target the patch changes."""

    path: Name
    qualname: Name


class ConfidenceRecord(Record):
    """How likely a patch is to be right, and how often patches that are rated so were."""

    level: Literal["high", "medium", "low"]
    p: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
    ground: Sentence


class PatchRecord(Record):
    """The verified change; without a confidence where nothing was fitted for its kind."""

    base_sha: Sha
    diff: Diff
    files: Annotated[tuple[FileRecord, ...], Field(min_length=1, max_length=50)]
    functions: Annotated[tuple[FunctionRecord, ...], Field(min_length=1, max_length=200)]
    fixed: Names
    still_failing: Names
    confidence: ConfidenceRecord | None = None


class EnvironmentRecord(Record):
    """Where the tests ran, and by which command of a person."""

    python: Name
    lock_hash: Hash
    manifest_hash: Hash
    added: Names = ()
    doctests: Names = ()
    network: Names = ()
    variables: Names = ()
    command: Name = ""

    @property
    def suite(self) -> Suite:
        """What ran where all tests did."""
        return Suite(self.command)


class IsolationRecord(Record):
    """What held while they ran."""

    mode: Literal["strict", "reduced"]
    layers: Names
    missing: Names


class ChangeRecord(Record):
    """One test before and after the patch."""

    test: Name
    before: Name
    after: Name


class SuiteRecord(Record):
    """The whole suite after the patch."""

    complete: bool
    passed: Count
    failed: Count
    skipped: Count
    seconds: Amount


class GateRecord(Record):
    """A check beside the tests, and what it said."""

    name: Name
    result: Name


class CertificateRecord(Record):
    """How the patch was verified; `not_run` are systems and Pythons of CI that are not at hand."""

    base_sha: Sha
    tree_sha: Sha
    tests_hash: Hash
    environment: EnvironmentRecord
    isolation: IsolationRecord
    baseline_runs: Count
    verify_runs: Count
    before_after: Annotated[tuple[ChangeRecord, ...], Field(max_length=20_000)]
    full_suite: SuiteRecord
    tests_unchanged: bool
    methods: Annotated[dict[Name, Literal["oracle", "in-process"]], Field(max_length=200)]
    gates: Annotated[tuple[GateRecord, ...], Field(max_length=50)]
    doubts: Texts
    suite_before: SuiteRecord | None = None
    not_run: Annotated[tuple[Name, ...], Field(max_length=20)] = ()
    undoes: Annotated[str, StringConstraints(pattern=r"^([0-9a-f]{40}([0-9a-f]{24})?)?$")] = ""


class SuggestionRecord(Record):
    """A change that is not called the repair; `patch` is what was confirmed, with its base."""

    diff: Diff
    functions: Annotated[tuple[FunctionRecord, ...], Field(min_length=1, max_length=200)]
    proposer: Name
    why: Texts
    attempt: Count
    fixed: Names
    patch: PatchRecord | None = None


class ChoiceRecord(Record):
    """One of two changes that hold alike in the cold runs; `patch` is what was confirmed."""

    id: ChoiceId
    diff: Diff
    functions: Annotated[tuple[FunctionRecord, ...], Field(min_length=1, max_length=200)]
    proposer: Name
    attempt: Count
    patch: PatchRecord


class AnswerRecord(Record):
    """What the call of the question gives with a choice."""

    choice: ChoiceId
    result: Sentence


class QuestionRecord(Record):
    """A call whose right answer decides between the choices."""

    call: Sentence
    answers: tuple[AnswerRecord, AnswerRecord]


class PackageRecord(Record):
    """A package with the version that tests pass with, and the one that they fail with."""

    name: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9._-]{1,200}$")]
    good: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9.!+_-]{1,100}$")]
    bad: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9.!+_-]{0,100}$")]


class RegressionRecord(Record):
    """What broke tests: a commit, whose parent they pass on, or a package in another version.

    `diff` is what the commit changed in sources, cut where it is long.
    """

    good_sha: Sha | Annotated[str, StringConstraints(max_length=0)] = ""
    bad_sha: Sha | Annotated[str, StringConstraints(max_length=0)] = ""
    title: Name = ""
    confirmed: bool
    tests: Names
    runs: Count = 0
    diff: Diff = ""
    package: PackageRecord | None = None

    @model_validator(mode="after")
    def _names_one(self) -> RegressionRecord:
        if (self.package is None) != bool(self.bad_sha and self.good_sha):
            raise ValueError("a regression names a commit or a package")
        return self


class ReportRecord(Record):
    """What was odd about the reports."""

    flags: Names
    skipped: Names


class TriedRecord(Record):
    """A patch by its digest, and its verdict."""

    digest: Hash
    verdict: Name


class MemoryRecord(Record):
    """What a later run needs to know."""

    tried: Annotated[tuple[TriedRecord, ...], Field(max_length=10_000)]
    lessons: Annotated[tuple[Name, ...], Field(max_length=5)]


class CostRecord(Record):
    """What the run cost; `usd` is null when a price is unknown."""

    usd: Amount | None
    input_tokens: Count
    output_tokens: Count
    seconds: Amount


class OutcomeRecord(Record):
    """The whole of `outcome.json`; `limit` is the one that ended a run, '' if that is not known."""

    schema_version: Annotated[Literal[1, 2], Field(alias="schema")]
    heal_bot: Name
    status: Status
    stopped: Stopped
    reason: Text
    fingerprint: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{12}$")]
    request: RequestRecord
    failures: Annotated[tuple[FailureRecord, ...], Field(max_length=20_000)]
    clusters: Annotated[tuple[ClusterRecord, ...], Field(max_length=2_000)]
    searches: Annotated[tuple[SearchRecord, ...], Field(max_length=20_000)]
    attempts: Annotated[tuple[AttemptRecord, ...], Field(max_length=2_000)]
    patch: PatchRecord | None
    certificate: CertificateRecord | None
    report: ReportRecord
    memory: MemoryRecord
    cost: CostRecord
    notes: Texts
    suggestion: SuggestionRecord | None = None
    regression: RegressionRecord | None = None
    proved: Sentences = ()
    inferred: Sentences = ()
    not_shown: Sentences = ()
    choices: Annotated[tuple[ChoiceRecord, ...], Field(max_length=2)] = ()
    question: QuestionRecord | None = None
    limit: Literal["", "token", "model call", "spending", "attempt", "time"] = ""

    @model_validator(mode="after")
    def _asks_between_choices(self) -> OutcomeRecord:
        asked = tuple(answer.choice for answer in self.question.answers) if self.question else ()
        needs = ("A", "B") if self.status == "needs_answer" else ()
        if not asked == needs == tuple(choice.id for choice in self.choices):
            raise ValueError("a question has two answers, each of a choice, and ends needs_answer")
        return self
