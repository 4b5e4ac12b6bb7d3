"""How much of the suite fits into the time given, and which part runs where not all of it does."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from heal_bot.core.errors import explain_uncollected
from heal_bot.core.events import Noted, Planned, Run
from heal_bot.core.model import Baseline, Collection, Edit, Failure, Report
from heal_bot.core.statuses import SuiteEnd
from heal_bot.core.text import count
from heal_bot.ports import RunContext, Tree
from heal_bot.source import paths
from heal_bot.source.tree_files import read_bytes
from heal_bot.verification import warm_trial
from heal_bot.verification.baseline import BaselineRuns, observe_suite

_CONFIRMATIONS = 2
# A baseline with a spectrum, and two confirmations side by side, in runs of the plain suite.
_RUNS = 3.0
_START = 20.0
_SHORT = 60.0
# What takes so many times as long as by the report may have tests that the report does not.
_LONGER = 10
# A report of so much fewer tests than are written is one of a selection.
_PARTIAL = 2
_TEST = re.compile(rb"^\s*(?:async )?def test", re.MULTILINE)


def plan(run: Run, seconds: float) -> bool:
    """Say before the first test what the report's own times predict; whether all of it fits."""
    if not seconds:
        return True
    run.emit(
        Planned(suite_seconds=seconds, confirmations=_CONFIRMATIONS, minutes_left=run.left() / 60)
    )
    fits = _RUNS * seconds + _START < run.left()
    if not fits:
        message = (
            f"the suite takes {seconds:.0f} s by the report, too long for {run.left() / 60:.1f}"
            " minutes: the impacted tests run, and as many of the others as fit"
        )
        run.warn("verify", message)
    return fits


@dataclass(frozen=True, slots=True)
class SuitePlan:
    """What is known of the suite before the failures are: its tests, and its run if it had one."""

    collection: Collection
    seen: BaselineRuns | None = None
    fits: bool = True


def plan_suite(context: RunContext, report: Report, failing: tuple[str, ...] = ()) -> SuitePlan:
    """Tell the plan, then collect the tests; a short suite is run at once, which collects as well.

    A long one is collected first: a report that does not fit the repository should not cost its
    run. `failing` are the tests that the report seems to mean: they run by themselves beside a
    short suite. ProvisionError when pytest cannot collect at all, BudgetError when not in time.
    """
    run, tree, env = context.run, context.tree, context.env
    if report.passed and _count_written(tree) > _PARTIAL * _count_reported(report):
        collection = context.runner.collect(run, tree, env)
        known, all_ = _count_reported(report), len(collection.tests)
        if known < all_:
            run.emit(Noted(stage="verify", message=f"the report has {known} of {all_} tests"))
        return SuitePlan(collection, None, plan(run, _average(report) * max(known, all_)))
    fits = plan(run, report.hints.seconds)
    if not 0 < report.hints.seconds <= _SHORT or not fits:
        return SuitePlan(context.runner.collect(run, tree, env), None, fits)
    limit = max(_SHORT, _LONGER * report.hints.seconds)
    seen = observe_suite(context, None, failing, limit)
    suite = seen.suite
    if suite.ended == SuiteEnd.TIMEOUT and limit < run.left():
        return _plan_reported(context, report, limit)
    if not suite.finished and not suite.collected:
        raise explain_uncollected(suite.ended, suite.detail)
    return SuitePlan(Collection(suite.collected, suite.errors), seen)


def _plan_reported(context: RunContext, report: Report, limit: float) -> SuitePlan:
    """Another run, of the files that the report has tests of, where there are more than these."""
    run = context.run
    collection = context.runner.collect(run, context.tree, context.env)
    known = {part for one in report.hints.modules for part in _list_modules(one)}
    files = {test.partition("::")[0] for test in collection.tests}
    own = {file for file in files if not known.isdisjoint(_list_names(file))}
    tests = tuple(test for test in collection.tests if test.partition("::")[0] in own)
    if not 0 < len(tests) < len(collection.tests):
        return SuitePlan(collection)
    more = count(len(files - own), "file of tests", "files of tests")
    message = (
        f"the suite does not end in {limit:.0f} s; {more} that the report does not have do not run"
    )
    run.warn("verify", message)
    return SuitePlan(replace(collection, tests=tests), fits=False)


def _list_modules(named: str) -> Iterator[str]:
    """The dotted names that a file or a class name may be of."""
    parts = named.replace("\\", "/").removesuffix(".py").replace("/", ".").split(".")
    yield from (".".join(parts[:end]) for end in range(1, len(parts) + 1))


def _list_names(file: str) -> Iterator[str]:
    """The dotted names that a report may have for a file, as it may have run in some folder."""
    parts = file.removesuffix(".py").split("/")
    yield from (".".join(parts[start:]) for start in range(len(parts)))


def choose_tests(
    run: Run, report: Report, collection: Collection, failures: Sequence[Failure]
) -> tuple[str, ...]:
    """The tests that run where not all fit: failing ones, those of their files, then the rest.

    How many fit is told by the average time of a test in the report.
    """
    red = dict.fromkeys(failure.test for failure in failures)
    files = {test.partition("::")[0] for test in red}
    near = [t for t in collection.tests if t not in red and t.partition("::")[0] in files]
    far = [t for t in collection.tests if t.partition("::")[0] not in files]
    room = int(max(0.0, run.left() - _START) / _RUNS / max(_average(report), 1e-6))
    ordered = [*red, *near, *far]
    return tuple(ordered[: max(room, len(red))])


def _average(report: Report) -> float:
    """The seconds of a test, by the report."""
    return report.hints.seconds / max(1, _count_reported(report))


def _count_reported(report: Report) -> int:
    return report.passed + len(report.cases)


def _count_written(tree: Tree) -> int:
    """How many test functions a checkout has, whatever their parameters."""
    files = (path for path in tree.paths() if path.endswith(".py") and paths.is_test(path))
    return sum(len(_TEST.findall(read_bytes(tree, path))) for path in files)


def narrow_baseline(run: Run, baseline: Baseline, edits: Sequence[Edit]) -> Baseline:
    """The baseline, reduced to the impacted tests when another whole run does not fit any more."""
    suite = baseline.suite
    if suite.finished and 1.1 * suite.seconds + 5 < run.left():
        return baseline
    targets = [edit.target for edit in edits]
    impacted = warm_trial.find_covering(suite, targets) | {f.test for f in baseline.confirmed}
    finished = {result.test for result in suite.results}
    files = {test.partition("::")[0] for test in (f.test for f in baseline.confirmed)}
    keep = tuple(
        t for t in suite.collected
        if t in finished and (t in impacted or t.partition("::")[0] in files)
    )  # fmt: skip
    results = tuple(r for r in suite.results if r.test in set(keep))
    seconds = sum(r.seconds for r in results) + 1
    reduced = replace(suite, results=results, collected=keep, seconds=seconds)
    return replace(baseline, suite=reduced, selected=keep)
