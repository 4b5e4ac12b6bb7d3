"""What a streamed search has seen so far, whether it may end, and on which partial fix."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from heal_bot.core.model import Attempt, Candidate, Cluster, Verdict
from heal_bot.core.statuses import VerdictStatus
from heal_bot.repair.templates.template_proposer import TemplateProposer

# Candidates and seconds to go on for other full fixes once there is one (and never more than that
# share of the seconds left), how much dearer than the first one they may be, and after how many in
# a row that are dearer none is expected.
_MORE = 200
_MORE_SECONDS = 20.0
_SHARE = 0.3
_DEARER = 3.0
_DEAR_ONES = 40
# Candidates to go on for a full fix once a partial one stands by itself.
_PATIENCE = 300
# Families whose changes are as simple as another operator.
_PLAIN = frozenset(
    ("comparison", "arithmetic operator", "augmented assignment", "boolean operator", "negation",
     "boolean constant", "number", "off by one", "argument order", "variable", "method", "function")
)  # fmt: skip
# The part of a cluster, one in so many, that a partial fix may leave; one test in any case.
_LEFT = 4


@dataclass(slots=True)
class StoppingState:
    """What a stream has seen so far, and the partial fixes that look like a cause of their own.

    `apart` are those that fix the same tests, all that fail in one way.
    """

    tried: int = 0
    best: int = 0
    regressions: int = 0
    apart: list[Attempt] = field(default_factory=list)
    apart_since: int = 0
    fixes: list[Attempt] = field(default_factory=list)
    last: int = 0
    latest: float = 0.0
    roof: float = math.inf
    dear: int = 0
    late: list[Candidate] = field(default_factory=list)

    def count(self, candidate: Candidate, verdict: Verdict) -> None:
        """What a verdict tells beside what the ledger keeps."""
        if verdict.status == VerdictStatus.TIMEOUT:
            self.late.append(candidate)

    def is_beside(self, verdict: Verdict) -> bool:
        """Whether a change fixes what those apart do, no more and no less."""
        same = any(set(one.verdict.fixed) == set(verdict.fixed) for one in self.apart[:1])
        return verdict.status == VerdictStatus.IMPROVED and same

    def set_apart(self, fix: Attempt) -> None:
        """Keep a partial fix that settles one way of failing, with those that fix the same."""
        if not self.is_beside(fix.verdict):
            self.apart, self.apart_since = [], self.tried
        self.apart.append(fix)

    def is_ripe(self) -> bool:
        """Whether partial fixes look like a cause, since nothing better came for long."""
        waited = self.tried >= self.apart_since + _PATIENCE
        return bool(self.apart) and waited and not self.fixes

    def take_apart(self) -> tuple[Attempt, ...]:
        """The partial fixes that look like a cause of their own; they go out once."""
        apart, self.apart = tuple(self.apart), []
        return apart if not self.fixes else ()

    def take(self, fix: Attempt, now: float, left: float) -> None:
        """A full fix; the first one says how long to look for others.

        Of the seconds left to the search the choice among them needs its part.
        """
        if not self.fixes:
            self.last = self.tried + _MORE + self.tried // 4
            self.latest = now + min(_MORE_SECONDS, _SHARE * left)
            self.roof = fix.candidate.prior + _DEARER
        self.fixes.append(fix)

    def has_enough(self, now: float) -> bool:
        """Whether to choose among the full fixes now."""
        spent = self.tried >= self.last or self.dear >= _DEAR_ONES
        return self.is_late(now) or (bool(self.fixes) and spent)

    def is_late(self, now: float) -> bool:
        """Whether the time to look for other full fixes is over."""
        return bool(self.fixes) and now >= self.latest

    def is_too_dear(self, candidate: Candidate) -> bool:
        """Whether a full fix is known beside which this one would not count."""
        dear = candidate.prior > self.roof
        self.dear = self.dear + 1 if dear else 0
        return dear


def stands_alone(cluster: Cluster, attempt: Attempt, *, cut_short: bool) -> bool:
    """Whether a partial fix may be offered: what fixes a small part of one cause is a lucky edit.

    In the example shop such edits pass one of three tests of a missing algorithm. What fixes most,
    and leaves a quarter or a single test, has to be plain besides, and the best of a whole search.
    """
    fixed, tests = len(attempt.verdict.fixed), len(cluster.failures)
    few_left = 2 * fixed > tests and tests - fixed <= max(1, tests // _LEFT)
    made = attempt.candidate
    plain = made.proposer != TemplateProposer.name or made.family in _PLAIN
    most = few_left and not cut_short and plain
    return most or settles_a_kind(cluster, attempt)


def settles_a_kind(cluster: Cluster, attempt: Attempt) -> bool:
    """Whether all failures that raised one kind of exception are fixed, and no other one."""
    fixed = set(attempt.verdict.fixed)
    kinds = {failure.kind for failure in cluster.failures if failure.test in fixed}
    same = {failure.test for failure in cluster.failures if failure.kind in kinds}
    return len(kinds) == 1 and same == fixed
