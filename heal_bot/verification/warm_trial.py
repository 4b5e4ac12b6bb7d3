"""The trial: a warm session for one cluster, with the passing tests that watch over it."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Self

from heal_bot.core.model import (
    Baseline,
    Calls,
    Candidate,
    Cluster,
    Edit,
    Regression,
    SuiteRun,
    Target,
    Verdict,
)
from heal_bot.ports import RunContext, Session
from heal_bot.source.reversal import brought_tests

# The guards of a search, not of the verdict: the cold run judges with the whole suite. The longer
# that takes, the more a change that breaks a test there costs.
_GUARDS = 200
_GUARD_SECONDS = 2.0
_GUARD_SHARE = 0.1


def open_session(
    context: RunContext,
    baseline: Baseline,
    cluster: Cluster,
    base: tuple[Edit, ...],
    regressions: Sequence[Regression] = (),
) -> Session:
    """A session that judges candidates for a cluster, each on top of the `base` edits."""
    guards = choose_guards(baseline, cluster, regressions)
    session = context.runner.warm(context.run, context.tree, context.env, cluster.failures, guards)
    return _Based(session, base) if base else session


def choose_guards(
    baseline: Baseline, cluster: Cluster, regressions: Sequence[Regression] = ()
) -> tuple[str, ...]:
    """Passing tests that execute the suspects, each line as often as there is room for.

    Those that the breaking commits brought come before them, since they say what these mean, and
    after them those that share a file with a failure. The fastest first, by turns of lines: a
    function that few tests reach is not left to those that are fast in something else.
    """
    red = {failure.test for failure in cluster.failures}
    passing = [r for r in baseline.suite.results if r.passed and r.test not in red]
    seconds = {r.test: r.seconds for r in sorted(passing, key=lambda r: (r.seconds, r.test))}
    hits = _find_hits(baseline.suite, [suspect.target for suspect in cluster.suspects])
    files = {test.partition("::")[0] for test in red}
    watching = {test: hits[test] for test in seconds if test in hits}
    near = [t for t in seconds if t not in hits and t.partition("::")[0] in files]
    # A test may be collected in another file or class than it is written in.
    broke = (one for one in regressions if not red.isdisjoint(one.tests))
    brought = {_name(t) for one in broke for t in brought_tests(one.files)}
    meant = {t: watching.pop(t) for t in tuple(watching) if _name(t) in brought}
    chosen: list[str] = []
    spent, quickest = 0.0, next(iter(seconds.values()), 0.0)
    most = max(_GUARD_SECONDS, _GUARD_SHARE * baseline.suite.seconds)
    for test in chain(_take_turns(meant), _take_turns(watching), near):
        if len(chosen) == _GUARDS or spent + quickest > most:
            break
        if spent + seconds[test] <= most:
            chosen.append(test)
            spent += seconds[test]
    return tuple(chosen or [*meant, *watching, *near][:1])


def _name(test: str) -> str:
    """The function of a test, without its file, class and parameters."""
    return test.partition("[")[0].rpartition("::")[2]


def _take_turns(hits: Mapping[str, int]) -> Iterator[str]:
    """Tests in their order, such that each line is hit once, then each line twice, and so on."""
    left = dict(hits)
    # `levels[n]` has the lines that more than n of the tests hit.
    levels: list[int] = []
    for turn in range(_GUARDS):
        for test in tuple(left):
            if turn < len(levels) and not left[test] & ~levels[turn]:
                continue
            more = left.pop(test)
            for at, level in enumerate(levels):
                levels[at], more = level | more, level & more
            if more:
                levels.append(more)
            yield test


def find_covering(suite: SuiteRun, targets: Sequence[Target]) -> set[str]:
    """Tests whose spectrum touches one of the targets; none without a spectrum."""
    return set(_find_hits(suite, targets))


def _find_hits(suite: SuiteRun, targets: Sequence[Target]) -> dict[str, int]:
    if suite.spectrum is None:
        return {}
    lines = ((target.path, range(target.first_line, target.last_line + 1)) for target in targets)
    return suite.spectrum.find_hits(*lines)


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
