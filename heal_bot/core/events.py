"""What a run tells while it works: a closed union of frozen events, and the Run that carries it."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from heal_bot.core.model import SuiteRun
from heal_bot.core.statuses import GREEN, RED

_SHOWN_EVERY = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Envelope:
    """The number of an event among those of its run, and the clock's time."""

    seq: int = 0
    at: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Noted(Envelope):
    """A remark for a person: something missing, skipped or decided.

    level: info | warning | detail; a detail changes nothing for whoever reads the result.
    """

    stage: str
    message: str
    level: str = "info"
    kind: str = field(default="noted", init=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned(Envelope):
    """What the run expects to spend, said before the first test."""

    suite_seconds: float
    confirmations: int
    minutes_left: float
    stage: str = field(default="pipeline", init=False)
    kind: str = field(default="planned", init=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteFinished(Envelope):
    """One sandboxed pytest run ended; `known` of its failures are red without a patch too."""

    stage: str
    purpose: str
    passed: int
    failed: int
    seconds: float
    ended: str
    known: int = 0
    kind: str = field(default="suite", init=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterStarted(Envelope):
    """The search for one root cause begins: the `number`th `of` all."""

    cluster: str
    tests: int
    suspects: tuple[str, ...]
    number: int = 1
    of: int = 1
    stage: str = field(default="repair", init=False)
    kind: str = field(default="cluster", init=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchProgressed(Envelope):
    """Candidates tried so far by one proposer in one cluster."""

    cluster: str
    proposer: str
    tried: int
    best_fixed: int
    stage: str = field(default="repair", init=False)
    kind: str = field(default="search", init=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptJudged(Envelope):
    """An attempt entered the ledger: what it `change`s, and how many `of` the tests it fixes."""

    number: int
    cluster: str
    proposer: str
    family: str
    verdict: str
    fixed: int
    detail: str
    of: int = 0
    change: str = ""
    stage: str = field(default="repair", init=False)
    kind: str = field(default="attempt", init=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSpoke(Envelope):
    """A step of a model call.

    kind: request | delta | usage | retry | candidate | salvage | reject | refusal | budget |
    switch | kept | look | review.
    """

    kind: str
    provider: str
    model: str
    detail: str = ""
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    usd: float | None = None
    stage: str = field(default="repair", init=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposalConfirmed(Envelope):
    """A proposal went through the cold runs; status: patch, or why not."""

    status: str
    fixed: int
    detail: str = ""
    stage: str = field(default="verify", init=False)
    kind: str = field(default="confirmed", init=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Underway(Envelope):
    """What is running now: a test (the `number`th of `of`), a candidate, or the final check.

    Only for whoever watches: at most one a second of each stage, under the number of the event
    before it; no bundle keeps it.
    """

    stage: str
    what: str
    number: int
    of: int = 0
    kind: str = field(default="underway", init=False)


Event = (
    Noted
    | Planned
    | SuiteFinished
    | ClusterStarted
    | SearchProgressed
    | AttemptJudged
    | ModelSpoke
    | ProposalConfirmed
    | Underway
)


@dataclass(slots=True)
class _Sequence:
    """The number of the last event, and when each stage may next say what is under way."""

    value: int = 0
    due: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Run:
    """What every stage and edge gets first: where to speak, what time it is, when to end.

    `deadline` is in seconds of `clock`; `stopped` says that a person or signal asked to end.
    """

    sink: Callable[[Event], None]
    clock: Callable[[], float] = time.monotonic
    rng: random.Random = field(default_factory=lambda: random.Random(0))  # noqa: S311
    deadline: float = float("inf")
    stopped: Callable[[], bool] = lambda: False
    _sequence: _Sequence = field(default_factory=_Sequence)

    def emit(self, event: Event) -> None:
        """Number and date the event, and hand it to whoever listens."""
        self._sequence.value += 1
        self.sink(replace(event, seq=self._sequence.value, at=self.clock()))

    def warn(self, stage: str, message: str) -> None:
        """Say what a person should know of, though the run goes on."""
        self.emit(Noted(stage=stage, message=message, level="warning"))

    def show(self, stage: str, what: str, number: int, of: int = 0) -> None:
        """Say what is under way, unless the stage did so less than a second ago."""
        now = self.clock()
        if now >= self._sequence.due.get(stage, now):
            self._sequence.due[stage] = now + _SHOWN_EVERY
            seq = self._sequence.value
            self.sink(Underway(stage=stage, what=what, number=number, of=of, seq=seq, at=now))

    def tell_suite(
        self, stage: str, purpose: str, suite: SuiteRun, before: SuiteRun | None = None
    ) -> None:
        """Say what came of a run of the suite, in the numbers that a certificate has.

        `before` is the suite without the patch.
        """
        known = {result.test for result in before.red} if before else set()
        self.emit(SuiteFinished(
            stage=stage, purpose=purpose, passed=suite.count(GREEN), failed=suite.count(RED),
            seconds=suite.seconds, ended=suite.ended,
            known=sum(result.test in known for result in suite.red),
        ))  # fmt: skip

    def left(self) -> float:
        """Seconds until the deadline, never negative."""
        return max(0.0, self.deadline - self.clock())

    def over(self) -> bool:
        """Whether to end now: the deadline passed, or someone asked."""
        return self.stopped() or self.left() <= 0
