"""Candidates in bulk: those after which the tests still fail, called plainly, are known soon."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass

from heal_bot.core.model import CaseResult
from heal_bot.testrun.candidate_pacing import CandidatePace
from heal_bot.testrun.judge_protocol import JudgeRequest, JudgeResponse
from heal_bot.testrun.pending_candidates import Work, encode_edit

_LEAST, _MOST = 4, 24
# Batches in which more than this part took too long, or was left open, are followed by smaller
# ones: little is under way in vain when it shows that others should come first, or none.
_SLOW = 0.25
# For all of them, beside what each is allowed: a change that hangs outside of Python's reach
# ends the whole batch.
_SECONDS = 3.0
# Batches that may end without an answer before none are tried any more.
_PATIENCE = 3


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Candidates that are tried together."""

    works: tuple[Work, ...]


def list_works(tag: object) -> tuple[Work, ...]:
    """The candidates an order was about."""
    if isinstance(tag, Batch):
        return tag.works
    return (tag,) if isinstance(tag, Work) else ()


class Prefilter:
    """Makes batches of what waits, and settles what they tell.

    `open` says whether batches are made: not before it is known how the tests fail, and not after
    they turned out to need pytest, or to leave something behind.
    """

    def __init__(self) -> None:
        self.open = False
        self._size = _LEAST
        self._known: Mapping[str, tuple[str, str, int]] = {}
        self._failures = 0

    def start(self, first: tuple[str, ...], before: Mapping[str, CaseResult]) -> None:
        """Where the first tests fail unchanged; one without a result hangs and is not for this."""
        results = [before[name] for name in first if name in before]
        plain = all(r.phase == "call" and r.frames for r in results)
        self.open = plain and len(results) == len(first)
        self._known = {
            r.test: (r.kind, r.frames[-1].path, r.frames[-1].line) for r in results if r.frames
        }

    def ahead(self, plain: int) -> int:
        """How many candidates to have under way for a slot; `plain` where none are batched."""
        return max(plain, 2 * self._size) if self.open else plain

    def batch(self, queue: deque[Work]) -> Batch | None:
        """The next candidates of the queue for one batch, taken out of it; None where too few."""
        if not self.open:
            return None
        fit: list[Work] = []
        for work in queue:
            if work.files is not None or work.limit or work.prefiltered or len(fit) == self._size:
                break
            fit.append(work)
        if len(fit) < _LEAST:
            return None
        for work in fit:
            queue.popleft()
            work.prefiltered = True
        return Batch(tuple(fit))

    def order(self, batch: Batch, pace: CandidatePace) -> JudgeRequest:
        """What a fork server is asked about a batch."""
        each = pace.limit
        return JudgeRequest(
            first=pace.first,
            limit=_SECONDS + each * len(pace.first) * (len(batch.works) + 3),
            candidates=tuple(tuple(map(encode_edit, w.candidate.edits)) for w in batch.works),
            prefilter=each,
            known=self._known,
        )

    def settle(self, batch: Batch, answer: JudgeResponse) -> list[tuple[Work, str]]:
        """(candidate, failed | late | open); all are open where the answer is not believed."""
        if answer.how == "judged" and answer.prefiltered:
            told = answer.prefiltered
            slow = len(told) - told.count("failed") > _SLOW * len(told)
            self._size = max(_LEAST, self._size // 2) if slow else min(_MOST, 2 * self._size)
            return list(zip(batch.works, told, strict=True))
        self._failures += 1
        if answer.how == "unsound" or self._failures >= _PATIENCE:
            self.open = False
        return [(work, "open") for work in batch.works]
