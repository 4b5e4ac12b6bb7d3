"""What changed since the tests passed: a commit, or the packages that they run with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from heal_bot.events import Noted, Run
from heal_bot.history import packages
from heal_bot.history.bisection import Bench, find_regressions
from heal_bot.model import Baseline, Failure, History, PackageChange
from heal_bot.ports import Tree


def find_changes(
    run: Run,
    good: str,
    tree: Tree,
    baseline: Baseline,
    bench: Bench,
    *,
    scheduled: bool = False,
    versions: Sequence[Failure] = (),
) -> History:
    """The commits that broke the tests, or the packages that did.

    Packages are asked first where nothing else changed, after the commits where the tests fail on
    all older ones too. `scheduled` says that the commit `good` is the one under test itself;
    `versions` are the failures that words alone lay on the version of a package.
    """
    red = [r.failure for r in baseline.reproduced if r.status in {"confirmed", "explained"}]
    if not red:
        return History()
    history = History()
    commits = bench.workspace.commits(run, good, tree.sha) if good and not scheduled else ()
    pushed = bench.workspace.since(tree, commits[0].parent) if commits else tree
    found: tuple[PackageChange, ...] = ()
    ask = partial(
        packages.find_culprits, run, tree, bench.env, red, bench.workspace, bench.runner,
        bench.hints, good,
    )  # fmt: skip
    bumped = scheduled or packages.is_bump(pushed)
    if bumped:
        found = ask()
    dated = (*baseline.confirmed, *versions)
    if not found and not scheduled and dated:
        history = find_regressions(run, good, tree, dated, bench)
        for said in (*(one.said for one in history.regressions), *filter(None, [history.reason])):
            run.emit(Noted(stage="history", message=said, level="info"))
        found = ask() if history.always_red and not bumped else ()
    return replace(history, packages=found)
