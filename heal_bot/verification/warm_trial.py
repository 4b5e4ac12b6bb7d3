"""The trial: a warm session for one cluster, with the passing tests that watch over it."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Self

from heal_bot.core.model import (
    Baseline,
    Calls,
    Candidate,
    Cluster,
    Edit,
    SuiteRun,
    Target,
    Verdict,
)
from heal_bot.ports import RunContext, Session

# The guards of a search, not of the verdict: the cold run judges with the whole suite.
_GUARDS = 200
_GUARD_SECONDS = 2.0
_SUSPECTS = 5


def open_session(
    context: RunContext, baseline: Baseline, cluster: Cluster, base: tuple[Edit, ...]
) -> Session:
    """A session that judges candidates for a cluster, each on top of the `base` edits."""
    session = context.runner.warm(
        context.run, context.tree, context.env, cluster.failures, choose_guards(baseline, cluster)
    )
    return _Based(session, base) if base else session


def choose_guards(baseline: Baseline, cluster: Cluster) -> tuple[str, ...]:
    """Passing tests that execute the suspects or share a file with a failure, fastest first."""
    red = {failure.test for failure in cluster.failures}
    targets = [suspect.target for suspect in cluster.suspects[:_SUSPECTS]]
    near = find_covering(baseline.suite, targets) | _neighbours(baseline, red)
    timed = sorted(
        (result.seconds, result.test)
        for result in baseline.suite.results
        if result.passed and result.test in near and result.test not in red
    )
    chosen: list[str] = []
    spent = 0.0
    for seconds, test in timed[:_GUARDS]:
        spent += seconds
        if chosen and spent > _GUARD_SECONDS:
            break
        chosen.append(test)
    return tuple(chosen)


def find_covering(suite: SuiteRun, targets: Sequence[Target]) -> set[str]:
    """Tests whose spectrum touches one of the targets; none without a spectrum."""
    if (spectrum := suite.spectrum) is None:
        return set()
    lines = ((target.path, range(target.first_line, target.last_line + 1)) for target in targets)
    return {test for place in lines for test in spectrum.find_tests(*place)}


def _neighbours(baseline: Baseline, red: set[str]) -> set[str]:
    """Tests of the files that hold the failures."""
    files = {test.partition("::")[0] for test in red}
    return {r.test for r in baseline.suite.results if r.test.partition("::")[0] in files}


@dataclass(frozen=True, slots=True)
class _Based:
    """A session whose candidates stand on edits that were confirmed before."""

    session: Session
    base: Sequence[Edit]

    def judge(self, candidates: Iterable[Candidate]) -> Generator[Verdict, None, None]:
        """One verdict per candidate, judged together with the base."""
        return self.session.judge(_on(self.base, candidate) for candidate in candidates)

    def call(self, candidates: Sequence[Candidate], seed: int = 0) -> Calls:
        """What the candidates do, together with the base."""
        return self.session.call([_on(self.base, candidate) for candidate in candidates], seed)

    def __enter__(self) -> Self:
        self.session.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self.session.__exit__(None, None, None)


def _on(base: Sequence[Edit], candidate: Candidate) -> Candidate:
    return replace(candidate, edits=(*base, *candidate.edits))
