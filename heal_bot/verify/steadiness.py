"""Tests that passed before a patch and fail after it: broken by it, or flaky all along?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from heal_bot.events import Run
from heal_bot.model import Baseline, CaseResult, Environment, SuiteRun
from heal_bot.ports import Ask, Runner, Tree

_GREEN = frozenset({"passed", "xfailed"})
_AGAIN = 3
# More than this many are a regression; nobody re-runs them to find out that they are not.
_MOST = 20


def broken_tests(
    run: Run,
    runner: Runner,
    env: Environment,
    tree: Tree,
    fresh: Tree,
    baseline: Baseline,
    suites: Sequence[SuiteRun],
) -> tuple[tuple[CaseResult, ...], tuple[str, ...]]:
    """The results of tests that the patch broke, and doubts on those that are merely flaky.

    A test that failed in a run of the suite is run alone, three times with the patch and three
    times without it. It is flaky when it fails without the patch too, at least once, or when it
    failed in one run of the suite only and passes each time alone with the patch.
    """
    flaky = {item.failure.test for item in baseline.reproduced if item.status == "flaky"}
    red = [
        {r.test: r for r in s.results if r.test in baseline.passed and r.outcome not in _GREEN}
        for s in suites
    ]
    failing = {test: result for results in red for test, result in results.items()}
    asked = tuple(sorted(set(failing) - flaky))
    doubts = [_known(test) for test in sorted(set(failing) & flaky)]
    if not asked:
        return (), tuple(doubts)
    if len(asked) > _MOST:
        return tuple(failing[test] for test in asked), ()
    trees = [tree] * _AGAIN + [fresh] * _AGAIN
    runs = runner.run_many(run, env, [Ask(one, asked) for one in trees])
    before, after = _count(runs[:_AGAIN]), _count(runs[_AGAIN:])
    broken = []
    for test in asked:
        always = all(test in results for results in red)
        if before[test]:
            doubts.append(
                f"{test} is flaky: without the patch it failed in {before[test]} of {_AGAIN} runs"
                f" by itself, with it in {after[test]} of {_AGAIN}"
            )
        elif always or after[test]:
            broken.append(_latest(runs[_AGAIN:], test) or failing[test])
        else:
            doubts.append(
                f"{test} passed before, failed in one of {len(suites)} runs of the suite after the"
                f" patch, and passed {_AGAIN} times by itself: is it flaky?"
            )
    return tuple(broken), tuple(doubts)


def _known(test: str) -> str:
    return f"{test} failed after the patch as well as before: it is flaky, see the failures"


def _count(runs: Sequence[SuiteRun]) -> Counter[str]:
    """In how many runs each test failed."""
    return Counter(r.test for run in runs for r in run.results if r.outcome not in _GREEN)


def _latest(runs: Sequence[SuiteRun], test: str) -> CaseResult | None:
    """The last failing result of a test."""
    found = [r for run in runs for r in run.results if r.test == test and r.outcome not in _GREEN]
    return found[-1] if found else None
