"""What changed since the tests passed: a commit, or the packages that they run with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from heal_bot.core.events import Noted
from heal_bot.core.model import Baseline, Failure, History, PackageChange, RunHints
from heal_bot.core.statuses import FailureStatus
from heal_bot.history import package_bisection
from heal_bot.history.bisection import find_regressions
from heal_bot.ports import RunContext


def find_changes(
    context: RunContext,
    good: str,
    green: float,
    baseline: Baseline,
    hints: RunHints,
    versions: Sequence[Failure] = (),
) -> History:
    """The commits that broke the tests, or the packages that did.

    Packages, as they were when `good` was `green`, are asked first where nothing else changed (it
    is the commit under test itself), after the commits where the tests fail on all older ones too.
    `versions` are the failures whose message alone blames the version of a package.
    """
    known = {FailureStatus.CONFIRMED, FailureStatus.EXPLAINED}
    red = [r.failure for r in baseline.reproduced if r.status in known]
    if not red:
        return History()
    history = History()
    run, workspace, tree = context.run, context.workspace, context.tree
    commits = workspace.commits(run, good, tree.sha)
    before = good if good != tree.sha else ""
    pushed = workspace.since(tree, commits[0].parent) if before and commits else tree
    found: tuple[PackageChange, ...] = ()
    ask = partial(package_bisection.find_culprits, context, red, hints, good, green)
    bumped = good == tree.sha or package_bisection.is_bump(pushed)
    if bumped:
        found = ask()
    dated = (*baseline.confirmed, *versions)
    if not found and dated:
        seconds = baseline.suite.seconds
        history = find_regressions(context, before, commits, dated, hints, seconds)
        for said in (*(one.said for one in history.regressions), *filter(None, [history.reason])):
            run.emit(Noted(stage="history", message=said, level="info"))
        found = ask() if history.always_red and not bumped else ()
    return replace(history, packages=found)
