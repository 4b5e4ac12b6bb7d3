"""A candidate on its way through the fork servers to a verdict."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from heal_bot.core.model import Candidate, Edit, Verdict
from heal_bot.testrun.candidate_pacing import CandidatePace
from heal_bot.testrun.judge_protocol import JudgeRequest


@dataclass(slots=True, eq=False)
class Work:
    """A candidate on its way to a verdict; `files` once it is to be judged from changed files.

    `prefiltered` once it was tried with others, `promising` once one of the first tests passed
    after a collection of their files alone. `regression` is its verdict where it fixes all and
    breaks few: these run once more, without what the repaired tests may have left behind.
    """

    candidate: Candidate
    files: dict[str, str] | None = None
    limit: float = 0.0
    verdict: Verdict | None = None
    lost: int = 0
    prefiltered: bool = False
    promising: bool = False
    regression: Verdict | None = None

    def order(self, pace: CandidatePace, guards: tuple[str, ...]) -> JudgeRequest:
        """What a fork server is asked about it alone."""
        limit = self.limit or pace.limit
        # To collect takes longer than most tests: other files wait until one of the first passes.
        alone = self.files is not None and not self.promising
        whole = JudgeRequest(
            first=pace.first,
            rest=() if alone else pace.rest,
            guards=() if alone else guards,
            edits=() if self.files is not None else tuple(map(encode_edit, self.candidate.edits)),
            files=self.files,
            limit=limit + (pace.fresh if self.files is not None else 0.0),
            longer=max(pace.longer, limit),
        )
        if self.regression is None:
            return whole
        broken = tuple(failure.test for failure in self.regression.newly_failing)
        return replace(whole, first=(), rest=(), guards=broken, all_tests=True)


def encode_edit(edit: Edit) -> dict[str, Any]:
    """An edit as the fork server reads it."""
    target = edit.target
    return {
        "path": target.path,
        "name": target.qualname.rpartition(".")[2],
        "kind": target.kind,
        "first": target.first_line,
        "last": target.last_line,
        "source": edit.new_source,
        "imports": list(edit.imports),
    }
