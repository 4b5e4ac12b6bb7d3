"""Tests that passed before a patch and fail after it: broken by it, or flaky all along?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from heal_bot.core.model import Baseline, CaseResult, SuiteRun
from heal_bot.core.statuses import EXPECTED, GREEN, FailureStatus, RunResult
from heal_bot.core.text import name_first
from heal_bot.ports import Ask, RunContext, Tree
from heal_bot.verification.load_reruns import LOADED, one_by_one

# What a test may come to after the patch, by what it came to before.
_HOLDS = {RunResult.PASSED: {RunResult.PASSED}, RunResult.XFAILED: GREEN}
_AGAIN = 3
# More than this many are a regression; nobody re-runs them to find out that they are not.
_MOST = 20


@dataclass(frozen=True, slots=True)
class BrokenTests:
    """The results of tests that a patch broke, and doubts on those that are merely flaky.

    Tests that are broken `at_times` passed with the patch as well.
    """

    results: tuple[CaseResult, ...] = ()
    doubts: tuple[str, ...] = ()
    at_times: frozenset[str] = frozenset()


def broken_tests(
    context: RunContext, fresh: Tree, baseline: Baseline, suites: Sequence[SuiteRun]
) -> BrokenTests:
    """What became of the tests that passed before.

    A test that failed in a run of the suite is run alone, three times with the patch and three
    times without it, each time under another seed of string hashes and with no other run beside
    it. It is flaky when it fails without the patch too, at least once. When it passes each time
    alone with the patch, a failure in one run of the suite only is a doubt; what failed in every
    one counts where a run of the suite by itself shows it too.
    """
    held = _Held({r.test: r for r in baseline.suite.results})
    flaky = {r.failure.test for r in baseline.reproduced if r.status == FailureStatus.FLAKY}
    red = [{result.test: result for result in held.broken(suite)} for suite in suites]
    failing = {test: result for results in red for test, result in results.items()}
    asked = tuple(sorted(set(failing) - flaky))
    doubts = [_known(test) for test in sorted(set(failing) & flaky)]
    if not asked:
        return BrokenTests((), tuple(doubts))
    if len(asked) > _MOST:
        lost, told = _many(context, held, asked, red)
        return BrokenTests(lost, (*doubts, *told))
    # Under the seeds of string hashes that the confirmations had, and more.
    asks = [Ask(one, asked, hashes=seed) for one in (context.tree, fresh) for seed in range(_AGAIN)]
    runs = one_by_one(context, asks)
    before, after = held.count(runs[:_AGAIN]), held.count(runs[_AGAIN:])
    always = {test for test in asked if all(test in results for results in red)}
    if only := [test for test in always if not before[test] and not after[test]]:
        # In the suite each time, and never alone: for the tests before it, or for the load?
        (quiet,) = one_by_one(context, [Ask(fresh, baseline.selected, hashes=0)])
        if quiet.finished:
            always -= set(only) - {result.test for result in held.broken(quiet)}
    broken, at_times = [], set()
    for test in asked:
        if before[test]:
            doubts.append(
                f"{test} is flaky: without the patch it failed in {before[test]} of {_AGAIN} runs"
                f" by itself, with it in {after[test]} of {_AGAIN}"
            )
        elif after[test] or test in always:
            broken.append(held.latest(runs[_AGAIN:], test) or failing[test])
            if test not in always or after[test] < _AGAIN:
                at_times.add(test)
        else:
            doubts.append(f"{test} passed before, and with the patch {LOADED.format(_AGAIN)}")
    return BrokenTests(tuple(broken), tuple(doubts), frozenset(at_times))


def _many(
    context: RunContext,
    held: _Held,
    asked: Sequence[str],
    red: Sequence[Mapping[str, CaseResult]],
) -> tuple[tuple[CaseResult, ...], tuple[str, ...]]:
    """What of many tests was broken; those that failed in one run alone run once without the patch.

    Where the runs differ in the seed of string hashes, they may always have failed under that one.
    """
    failing = {test: result for results in red for test, result in results.items()}
    seeds = [seed for seed, results in enumerate(red) if results]
    if len(seeds) != 1 or len(red) < 2:
        return tuple(failing[test] for test in asked), ()
    (plain,) = context.run_many([Ask(context.tree, tuple(asked), hashes=seeds[0])])
    if not plain.finished:
        return tuple(failing[test] for test in asked), ()
    before = held.count([plain])
    broken = tuple(failing[test] for test in asked if not before[test])
    always = [test for test in asked if before[test]]
    if not always:
        return broken, ()
    told = name_first(len(always), always[0], "flaky test")
    return broken, (f"{told}: red without the patch too under one seed of string hashes",)


def _known(test: str) -> str:
    return f"{test} failed after the patch as well as before: it is flaky, see the failures"


@dataclass(frozen=True, slots=True)
class _Held:
    """What the tests came to before the patch, and with it what breaks them.

    A test that passed and now is skipped, it or more of its subtests, or expected to fail is
    broken; one that was expected to fail may pass.
    """

    before: Mapping[str, CaseResult]

    def broken(self, suite: SuiteRun) -> list[CaseResult]:
        """The results of a run that are worse than before."""
        return [
            result
            for result in suite.results
            if (before := self.before.get(result.test)) is not None
            and before.outcome in EXPECTED
            and (result.outcome not in _HOLDS[before.outcome] or result.skipped > before.skipped)
        ]

    def count(self, runs: Sequence[SuiteRun]) -> Counter[str]:
        """In how many runs each test was worse."""
        return Counter(result.test for run in runs for result in self.broken(run))

    def latest(self, runs: Sequence[SuiteRun], test: str) -> CaseResult | None:
        """The last result of a test that is worse."""
        found = [result for run in runs for result in self.broken(run) if result.test == test]
        return found[-1] if found else None
