"""How firmly a test is red: cold runs of the failing tests until the verdict is stable."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from heal_bot.core.events import Run
from heal_bot.core.model import CaseResult, Edit, Spectrum, SuiteRun
from heal_bot.ports import Ask, RunContext, Tree
from heal_bot.source import guard
from heal_bot.verification.load_reruns import one_by_one
from heal_bot.verification.run_kinds import Trial

# Shuffle seeds of the first two runs: in the order given, and in a random one.
_FIRST = (None, 1)
_SEEDS = (2, 3, 4)
_SECONDS = 60.0
# Of many tests that were red in every run and only look unsteady, so many are run again.
_SAMPLE = 20
# What further runs may take of the time left while every run was red; one in each order is made
# in any case.
_SHARE = 0.1
# Code whose result may change from run to run; where a failing test executes none of it and says
# the same each time, three runs are enough.
_UNSTEADY = re.compile(
    r"\b(?:random|secrets|uuid\d?|time|datetime|now|today|sleep|perf_counter|monotonic"
    r"|[Tt]hread\w*|asyncio|concurrent|multiprocessing|socket|requests|httpx|urlopen|hash|set"
    r"|frozenset|listdir|scandir|iterdir|glob|getpid|environ|shuffle|choice|sample|urandom|gc"
    r"|tempfile|exists|getenv)\b"
)
# A set by its braces, or a comprehension of one; a dict has a colon.
_BRACES = (ast.Set, ast.SetComp)
_VARIES = re.compile(r"0x[0-9a-f]+|/slot-\d+")


@dataclass(frozen=True, slots=True)
class ParallelRuns:
    """Runs of these tests, as `by_themselves` asks for them, that were made beside the suite's."""

    tests: tuple[str, ...] = ()
    runs: tuple[SuiteRun, ...] = ()


NOTHING = ParallelRuns()


@dataclass(slots=True)
class Trials:
    """The trials, their runs, the lines tests execute alone, functions whose ids changed."""

    by_test: dict[str, Trial]
    runs: int = 0
    spectrum: Spectrum | None = None
    unsteady: set[str] = field(default_factory=set)


def run_alone(tree: Tree, tests: Sequence[str], seconds: float) -> list[Ask]:
    """The tests alone: in their order, with the lines they execute, and in a random one."""
    return [
        Ask(tree, tuple(tests), spectrum=seed is None, seconds=seconds, shuffle=seed)
        for seed in _FIRST
    ]


def rerun_tests(
    context: RunContext,
    suite: SuiteRun,
    tests: Sequence[str],
    selected: tuple[str, ...] | None,
    beside: ParallelRuns = NOTHING,
) -> Trials:
    """Run the tests by themselves and in random order; more often where that settles nothing.

    What ran beside the suite is not run again, where all of the tests were asked for there.

    More often means: outcomes differ, messages differ, every run was green, or the test executes
    code that looks unsteady; of many that only look so a sample runs again. Where only the suite
    differs, the suite runs once more; where all is green, it runs once in a random order.
    """
    trials = Trials({})
    if not tests:
        return trials
    bench = _Bench(context, suite, trials)
    alone, shuffled = bench.first(tests, beside)
    trials.spectrum = alone.spectrum
    whole = {result.test: result for result in suite.results}
    for test in tests:
        lost = test in alone.missing and test in shuffled.missing
        trials.by_test[test] = Trial(
            whole[test].red, _red(test, alone), _red(test, shuffled), lost=lost
        )
    here = [test for test in tests if not trials.by_test[test].lost]
    open_ = bench.unsettled(here, whole, alone)
    if open_ and not context.run.over():
        bench.more(open_, alone, shuffled)
    bench.suite_again(selected)
    return trials


@dataclass(frozen=True, slots=True)
class _RerunResult:
    """One run: its results by test, and the tests asked for that it did not collect."""

    results: dict[str, CaseResult]
    missing: frozenset[str]
    seconds: float
    spectrum: Spectrum | None = None


@dataclass(frozen=True, slots=True)
class _Bench:
    """What every further run needs."""

    context: RunContext
    suite: SuiteRun
    trials: Trials

    def first(self, tests: Sequence[str], beside: ParallelRuns) -> list[_RerunResult]:
        """The tests by themselves and in random order."""
        purpose = "failing tests again"
        if beside.runs and set(tests) <= set(beside.tests):
            return self._told(beside.runs, purpose, set(tests))
        return self._run(run_alone(self.context.tree, tests, self._seconds(tests)), purpose, tests)

    def _run(
        self, asks: Sequence[Ask], purpose: str, tests: Sequence[str], *, apart: bool = False
    ) -> list[_RerunResult]:
        """What each run showed; side by side, or one after another."""
        runs = one_by_one(self.context, asks) if apart else self.context.run_many(asks)
        return self._told(runs, purpose, set(tests))

    def _seconds(self, tests: Sequence[str]) -> float:
        """The time that a run of these tests may take."""
        chosen = set(tests)
        return _SECONDS + 10 * sum(r.seconds for r in self.suite.results if r.test in chosen)

    def unsettled(
        self, tests: Sequence[str], first: Mapping[str, CaseResult], alone: _RerunResult
    ) -> list[str]:
        """The tests of which runs differ in outcome or words, and some of those that may."""
        known = self.trials.by_test
        differs = {
            test
            for test in tests
            if not all(known[test].all)
            or (test in alone.results and _text(first[test]) != _text(alone.results[test]))
        }
        looks = [
            test
            for test in tests
            if test not in differs and _looks_unsteady(test, self.suite, self.context.tree)
        ]
        looks = looks[:: max(1, -(-len(looks) // _SAMPLE))]
        return [test for test in tests if test in differs or test in looks]

    def more(self, tests: Sequence[str], alone: _RerunResult, shuffled: _RerunResult) -> None:
        """Run the tests again in either order: more often where one of them was green."""
        known = self.trials.by_test
        green = any(not all(known[test].all) for test in tests)
        seeds = _SEEDS if green else _SEEDS[: _times(self.context.run, alone, shuffled)]
        seconds = self._seconds(tests)
        every = (None,) * len(seeds) + seeds
        tree = self.context.tree
        asks = [Ask(tree, tuple(tests), seconds=seconds, shuffle=seed) for seed in every]
        # Where it matters how a run ends, none of ours is beside it.
        rounds = self._run(asks, "failing tests in other orders", tests, apart=green)
        for test in tests:
            before = known[test]
            known[test] = replace(
                before,
                alone=(*before.alone, *_red(test, *rounds[: len(seeds)])),
                shuffled=(*before.shuffled, *_red(test, *rounds[len(seeds) :])),
                apart=green,
            )

    def suite_again(self, selected: tuple[str, ...] | None) -> None:
        """The whole suite once more, for tests that only it can tell about."""
        known = self.trials.by_test
        lonely = [t for t, trial in known.items() if _only_suite_differs(trial)]
        green = [t for t, trial in known.items() if not any(trial.all)]
        if not (lonely or green) or 5 * self.suite.seconds > self.context.run.left():
            return
        asks = [Ask(self.context.tree, selected)] * bool(lonely)
        asks += [Ask(self.context.tree, selected, shuffle=1)] * bool(green)
        told = self._run(asks, "suite again", ())
        for tests, found in zip([t for t in (lonely, green) if t], told, strict=True):
            for test in tests:
                again = next(iter(_red(test, found)), None)
                known[test] = replace(known[test], again=again, reordered=tests is green)

    def _told(self, runs: Sequence[SuiteRun], purpose: str, asked: set[str]) -> list[_RerunResult]:
        for done in runs:
            self.context.run.tell_suite("verify", purpose, done)
        self.trials.runs += len(runs)
        self.trials.unsteady.update(function for done in runs for function in done.unsteady)
        return [
            _RerunResult(
                {result.test: result for result in done.results},
                frozenset(asked.difference(done.collected) if done.finished else ()),
                done.seconds,
                done.spectrum,
            )
            for done in runs
        ]


def _times(run: Run, *rounds: _RerunResult) -> int:
    """How often to run unsteady tests in each order, from what the first runs took."""
    took = max(each.seconds for each in rounds)
    return max(1, int(min(len(_SEEDS), _SHARE * run.left() / max(took, 0.001))))


def _only_suite_differs(trial: Trial) -> bool:
    apart = trial.alone + trial.shuffled
    return bool(apart) and trial.suite not in apart


def _red(test: str, *rounds: _RerunResult) -> tuple[bool, ...]:
    """Whether a test was red, for each run that came to it."""
    found = (each.results.get(test) for each in rounds)
    return tuple(result.red for result in found if result is not None)


def _text(result: CaseResult) -> str:
    """What a result says, without addresses and the places of scratch copies."""
    return _VARIES.sub("", f"{result.kind} {result.message}")


def is_unsteady(edits: Sequence[Edit]) -> bool:
    """Whether changed functions name or write what may differ from run to run."""
    return any(_is_unsteady(edit.new_source) for edit in edits)


def _is_unsteady(source: str) -> bool:
    try:
        nodes = list(ast.walk(guard.parse_part(source)))
    except guard.SourceRejected:
        return True
    names = {n.id for n in nodes if isinstance(n, ast.Name)}
    names |= {n.attr for n in nodes if isinstance(n, ast.Attribute)}
    return any(isinstance(node, _BRACES) for node in nodes) or any(map(_UNSTEADY.fullmatch, names))


def _looks_unsteady(test: str, suite: SuiteRun, tree: Tree) -> bool:
    """Whether the lines the test executed hold a word of unsteady code."""
    if suite.spectrum is None:
        return True
    for path, numbers in suite.spectrum.list_lines(test).items():
        try:
            text = tree.read(path).decode(errors="replace").splitlines()
        except KeyError:
            return True
        if any(_UNSTEADY.search(text[n - 1]) for n in numbers if n <= len(text)):
            return True
    return False
