"""A judge that runs a whole command for each candidate: slow, and in need of nothing else."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import Self

from heal_bot.core.events import Run
from heal_bot.core.model import Calls, Candidate, Failure, PatchedFile, SuiteRun, Verdict
from heal_bot.core.statuses import SuiteEnd, VerdictStatus
from heal_bot.ports import Tree
from heal_bot.source.edit import EditError, patch_files
from heal_bot.source.guard import SourceRejected
from heal_bot.testrun import verdict
from heal_bot.testrun.judge_protocol import JudgeResponse
from heal_bot.testrun.verdict import Expectation

_LANES = 2


class ColdSession:
    """The Session port: `judge_files` runs the tests with some files changed.

    Beside the failing tests every other one that passed must pass, since all of them run anyway.
    """

    def __init__(
        self,
        run: Run,
        tree: Tree,
        judge_files: Callable[[Sequence[PatchedFile]], SuiteRun],
        failing: Sequence[Failure],
        passing: Sequence[str],
    ) -> None:
        self._run, self._tree, self._judge_files = run, tree, judge_files
        self._expected = Expectation(tuple(failing), tuple(passing))

    def judge(self, candidates: Iterable[Candidate]) -> Generator[Verdict, None, None]:
        """One verdict per candidate, in the order given; as many at a time as there are cores."""
        lanes = min(_LANES, os.cpu_count() or 1)
        source = iter(candidates)
        with ThreadPoolExecutor(lanes, "candidate") as pool:
            while some := tuple(islice(source, lanes)):
                yield from pool.map(self._verdict, some)

    def call(self, candidates: Sequence[Candidate], seed: int = 0) -> Calls:
        """Nothing: a command has no functions to call."""
        return Calls()

    def _verdict(self, candidate: Candidate) -> Verdict:
        if self._run.over():
            return verdict.UNTRIED
        try:
            files = patch_files(self._tree, candidate.edits)
        except (EditError, SourceRejected) as error:
            return Verdict(VerdictStatus.REJECTED, detail=str(error))
        suite = self._judge_files(files)
        how = {SuiteEnd.FINISHED: "judged", SuiteEnd.TIMEOUT: "timeout"}.get(suite.ended, "lost")
        if not suite.finished and self._run.over():
            return verdict.UNTRIED
        results = {result.test: result for result in suite.results}
        return verdict.make_verdict(JudgeResponse(how, suite.detail, results), self._expected)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        return None
