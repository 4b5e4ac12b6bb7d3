"""Runs made side by side, made again one by one where the load of the others may have decided."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from heal_bot.core.model import SuiteRun
from heal_bot.core.statuses import RunResult
from heal_bot.ports import Ask, RunContext

LOADED = (
    "failed in a run with others beside it and passed {} times by itself: it depends on the load of"
    " the machine or on chance"
)
_AGAIN = 3


def one_by_one(context: RunContext, asks: Sequence[Ask]) -> tuple[SuiteRun, ...]:
    """Runs that have none of our own beside them."""
    return tuple(done for ask in asks for done in context.run_many([ask]))


def settle_load(
    context: RunContext,
    asks: Sequence[Ask],
    suites: Sequence[SuiteRun],
    listed: Collection[str],
) -> tuple[tuple[SuiteRun, ...], tuple[str, ...]]:
    """The runs, with what the listed tests come to by themselves where only some were red.

    One that passed in another of the runs made side by side is run again under the seed of each
    run it failed in; it passes when it does so every time.
    """
    passing = {test for suite in suites for test in suite.passed}
    kept, doubts = list(suites), []
    for number, (ask, suite) in enumerate(zip(asks, suites, strict=True)):
        red = {r.test for r in suite.red if r.test in listed} & passing
        if not red or context.run.over():
            continue
        alone = replace(ask, tests=tuple(sorted(red)))
        again = one_by_one(context, [alone] * _AGAIN)
        good = red.intersection(*(done.passed for done in again))
        results = (
            replace(r, outcome=RunResult.PASSED) if r.test in good else r for r in suite.results
        )
        kept[number] = replace(suite, results=tuple(results))
        doubts += [f"{test} {LOADED.format(_AGAIN)}" for test in sorted(good)]
    return tuple(kept), tuple(dict.fromkeys(doubts))
