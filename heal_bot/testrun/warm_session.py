"""The warm judge of a cluster: candidates go to fork servers, verdicts come in their order."""

from __future__ import annotations

import os
import select
from collections import deque
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import compress
from typing import Self

from heal_bot.core.errors import SandboxError
from heal_bot.core.events import Run
from heal_bot.core.model import Calls, Candidate, Edit, Failure, Verdict
from heal_bot.core.statuses import VerdictStatus
from heal_bot.ports import Tree
from heal_bot.source.edit import EditError, patch_files
from heal_bot.testrun import baseline_calibration, verdict
from heal_bot.testrun.batch_prefilter import Batch, Prefilter, list_works
from heal_bot.testrun.candidate_pacing import CandidatePace, measure_pace
from heal_bot.testrun.forkserver_client import ForkServerClient
from heal_bot.testrun.judge_protocol import CALL_SECONDS, JudgeRequest, JudgeResponse
from heal_bot.testrun.pending_candidates import Work, encode_edit
from heal_bot.testrun.verdict import Expectation

_AHEAD = 3
_RESTARTS = 20


class WarmSession:
    """The Session port: one fork server per slot, each started when there is work for it.

    `start` makes one, for which others let a slot go; `known` are the ids that tests have here.
    """

    def __init__(
        self,
        run: Run,
        tree: Tree,
        failing: Sequence[Failure],
        guards: Sequence[str],
        *,
        known: Sequence[str] = (),
        lanes: int,
        start: Callable[[WarmSession], ForkServerClient],
    ) -> None:
        if not failing:
            raise SandboxError("a warm session needs at least one failing test")
        self._run, self._tree, self._most, self._start = run, tree, lanes, start
        self._known = known
        self._expected = Expectation(tuple(failing), tuple(dict.fromkeys(guards)))
        self._lanes: list[ForkServerClient] = []
        self._queue: deque[Work] = deque()
        self._based = False
        self._pace = CandidatePace()
        self._prefilter = Prefilter()
        self._restarts = 0
        self._late: set[tuple[Edit, ...]] = set()
        self.closed = False

    @property
    def held(self) -> int:
        """How many slots the session holds."""
        return len(self._lanes)

    def lend(self) -> None:
        """Let one slot go; what was under way there is judged anew later."""
        if self._lanes:
            self._drop(self._lanes[-1])

    def judge(self, candidates: Iterable[Candidate]) -> Generator[Verdict, None, None]:
        """One verdict per candidate, in the order given; a few per slot are pulled ahead.

        A candidate that was too slow once gets more time when it is given again. What nobody waits
        for any more, when the iterator is closed, is judged no further.
        """
        order: deque[Work] = deque()
        try:
            yield from self._judged(iter(candidates), order)
        finally:
            self._forget(order)

    def _forget(self, order: Collection[Work]) -> None:
        """Judge no further what is left; lanes end what they have begun, and are idle then."""
        for work in order:
            work.verdict = work.verdict or verdict.UNTRIED
        while order and any(lane.load for lane in self._lanes) and not self._run.over():
            self._listen()
        self._queue = deque(work for work in self._queue if work.verdict is None)

    def _judged(self, source: Iterator[Candidate], order: deque[Work]) -> Iterator[Verdict]:
        more = True
        while True:
            ahead = self._prefilter.ahead(_AHEAD) * self._most
            while more and len(order) < ahead and not self._run.over():
                candidate = next(source, None)
                if candidate is None:
                    more = False
                    break
                order.append(self._begin(candidate))
            while order and (found := order[0].verdict) is not None:
                order.popleft()
                yield found
            if not order:
                if not more or self._run.over():
                    return
                continue
            if self._run.over():
                for work in order:
                    work.verdict = work.verdict or verdict.UNTRIED
                self._queue.clear()
                continue
            if not self._based:
                self._measure()
            self._advance(len(order))

    def call(self, candidates: Sequence[Candidate], seed: int = 0) -> Calls:
        """What functions do after each change; no row where one cannot be made in place."""
        swapped = [all(e.target.kind == "function" for e in c.edits) for c in candidates]
        edits = [tuple(map(encode_edit, c.edits)) for c in compress(candidates, swapped)]
        if not self._based or not edits:
            return Calls()
        seconds = self._pace.longer + CALL_SECONDS * (1 + len(edits))
        order = JudgeRequest(
            first=self._pace.first,
            rest=self._pace.rest,
            guards=self._expected.guards,
            limit=seconds,
            candidates=tuple(edits),
            seed=seed,
            # The other lanes wait for this one.
            width=min(self._most, os.cpu_count() or 1),
        )
        calls = self._ask(order).calls
        unchanged, *rows = calls.rows or ((),)
        if len(rows) != len(edits):
            return calls
        found = iter(rows)
        return replace(calls, rows=(unchanged, *(next(found) if s else () for s in swapped)))

    def _begin(self, candidate: Candidate) -> Work:
        """Queue a candidate, or reject it when its edits do not apply."""
        work = Work(candidate)
        if candidate.edits in self._late:
            work.limit = self._pace.retry
        if any(edit.target.kind != "function" for edit in candidate.edits):
            self._queue_files(work)
        else:
            self._queue.append(work)
        return work

    def _queue_files(self, work: Work) -> None:
        """Queue a candidate to be judged from changed files, or reject it."""
        try:
            changed = patch_files(self._tree, work.candidate.edits)
        except EditError as error:
            work.verdict = Verdict(VerdictStatus.REJECTED, detail=str(error))
            return
        work.files = {file.path: file.content for file in changed}
        self._queue.append(work)

    def _measure(self) -> None:
        """Run failing tests and guards unchanged: time limits, and what cannot be judged warm."""
        names = tuple(failure.test for failure in self._expected.failing)
        found = baseline_calibration.measure(self._ask, names, self._expected.guards)
        good = tuple(guard.test for guard in found.guards)
        if lost := len(self._expected.guards) - len(good):
            self._note(f"{lost} passing tests do not pass in a warm process in time; not used here")
        slowest = max((lane.start_seconds for lane in self._lanes), default=0.0)
        self._pace = measure_pace(names, found, slowest)
        if names[0] not in self._pace.first:
            found = baseline_calibration.measure_alone(self._ask, found, self._pace.first)
            self._pace = measure_pace(names, found, slowest)
        sampled = len(self._pace.first)
        self._expected = Expectation(
            self._expected.failing, good, sampled if sampled < len(names) else 0
        )
        self._prefilter.start(self._pace.first, found.failing)
        self._based = True

    def _ask(self, order: JudgeRequest) -> JudgeResponse:
        """One order on the first lane, to its answer."""
        while not self._run.over():
            self._open(1)
            lane = self._lanes[0]
            lane.send(None, order)
            while not lane.ended and not self._run.over():
                for tag, answer in lane.pump(0.5):
                    if tag is None:
                        return answer
                    self._take(tag, answer)
            words = lane.ended
            self._lost(lane)
            if words:
                return JudgeResponse("lost", words)
        return JudgeResponse("lost", "the run was ended")

    def _advance(self, wanted: int) -> None:
        """Hand out what waits, then take what arrives."""
        self._open(min(self._most, wanted))
        # Verdicts come in order: what a lane gets that still starts, all others would wait for.
        ready = [lane for lane in self._lanes if lane.ready] or self._lanes
        for lane in sorted(ready, key=lambda lane: lane.load):
            while self._queue and lane.load < _AHEAD:
                if batch := self._prefilter.batch(self._queue):
                    lane.send(batch, self._prefilter.order(batch, self._pace))
                    break
                work = self._queue.popleft()
                lane.send(work, work.order(self._pace, self._expected.guards))
        self._listen()

    def _listen(self) -> None:
        """Take what arrives within half a second."""
        poll = select.poll()
        for lane in self._lanes:
            poll.register(lane.channel.fd, select.POLLIN)
        poll.poll(500)
        for lane in tuple(self._lanes):
            for tag, answer in lane.pump(0.0):
                self._take(tag, answer)
            if lane.ended:
                self._lost(lane)

    def _take(self, tag: object, answer: JudgeResponse) -> None:
        """An answer about one candidate, or about many."""
        if isinstance(tag, Work):
            self._settle(tag, answer)
        elif isinstance(tag, Batch):
            again = []
            for work, came in self._prefilter.settle(tag, answer):
                if came == "open" and work.verdict is None:
                    again.append(work)
                else:
                    self._settle(work, JudgeResponse("judged" if came == "failed" else "timeout"))
            self._queue.extendleft(reversed(again))

    def _settle(self, work: Work, answer: JudgeResponse) -> None:
        """A verdict, or the next way to get one: from changed files, or with more time."""
        if work.verdict is not None:
            return
        if answer.how == "unsound" and work.files is None:
            self._queue_files(work)
            return
        if work.regression is not None:
            found = verdict.judge_rerun(answer, work.regression)
        elif verdict.needs_rerun(found := verdict.make_verdict(answer, self._expected)):
            # A batch would ask the failing tests again.
            work.regression, work.prefiltered = found, True
            self._queue.appendleft(work)
            return
        if work.files is not None and found.fixed and not work.promising:
            work.promising = True
            self._queue.appendleft(work)
            return
        late = found.status == VerdictStatus.TIMEOUT
        if late and found.fixed and not (work.limit or self._pace.known):
            work.limit = self._pace.retry
            self._queue.append(work)
            return
        if late:
            self._late.add(work.candidate.edits)
        elif found.status == VerdictStatus.FIXED and work.regression is None:
            self._pace = self._pace.knowing(answer.results)
        work.verdict = found if work.files is None else replace(found, afresh=True)
        self._restarts = 0

    def _open(self, count: int) -> None:
        while len(self._lanes) < count:
            lane = self._start(self)
            self._lanes.append(lane)
            lane.begin(self._expected.tests, self._known)

    def _drop(self, lane: ForkServerClient) -> None:
        """Close a lane and put its orders back to the front of the queue."""
        self._lanes.remove(lane)
        left = [work for tag in lane.unanswered() for work in list_works(tag)]
        self._queue.extendleft(reversed(left))
        lane.close()

    def _lost(self, lane: ForkServerClient) -> None:
        """A fork server died or was told lies: its first order is blamed, the others go on."""
        words, blamed = lane.ended, lane.load > 0
        self._drop(lane)
        if blamed and self._queue:
            work = self._queue[0]
            work.lost += 1
            if work.lost > 1:
                work.verdict = Verdict(VerdictStatus.ERROR, detail=words)
                self._queue.popleft()
        self._restarts += 1
        if self._restarts > _RESTARTS:
            raise SandboxError(f"the warm test process keeps ending: {words}; use cold runs")

    def _note(self, message: str) -> None:
        self._run.warn("sandbox", message)

    def close(self) -> None:
        """Give all slots back."""
        if not self.closed:
            self.closed = True
            while self._lanes:
                self._drop(self._lanes[-1])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
