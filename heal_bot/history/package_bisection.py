"""Which package broke the tests, where the code did not change: bisected over versions, proved."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from packaging.version import Version

from heal_bot.core.errors import BudgetError, HealBotError
from heal_bot.core.events import Noted
from heal_bot.core.model import (
    Baseline,
    Bump,
    Confirmed,
    Failure,
    Origin,
    PackageChange,
    Reproduced,
    RunHints,
    Suggestion,
    Verdict,
)
from heal_bot.core.model.package_versions import NAMED
from heal_bot.core.statuses import FailureStatus, RunResult, VerdictStatus
from heal_bot.core.text import count
from heal_bot.history.bisection import state_of
from heal_bot.ports import Ask, RunContext, Tree
from heal_bot.source.paths import is_test

GATE = "former packages"
_NAMES_PACKAGES = re.compile(
    r"(?i)\.lock$|(?:^|/)(?:[^/]*(?:requirements|constraints)[^/]*|pyproject\.toml|setup\.cfg"
    r"|setup\.py|tox\.ini|noxfile\.py|pipfile|environment\.ya?ml)$|(?:^|/)requirements/"
)
# Beside these, docs and what CI does: nothing of it runs in a test.
_NO_CODE = re.compile(
    rf"{_NAMES_PACKAGES.pattern}|\.(?:md|rst)$|(?:^|/)(?:docs?/|\.github/|license|changelog"
    r"|changes|news)"
)
# What all of it may take of the time left.
_SHARE = 0.25


def is_bump(tree: Tree) -> bool:
    """Whether the commits under test changed what names packages, and beside it no code."""
    changed = tree.changed_paths()
    named = any(_NAMES_PACKAGES.search(path) for path in changed)
    return named and all(is_test(path) or _NO_CODE.search(path) for path in changed)


def find_culprits(
    context: RunContext,
    failures: Sequence[Failure],
    hints: RunHints,
    good: str = "",
    green: float = 0.0,
) -> tuple[PackageChange, ...]:
    """The packages for whose versions the failures are red; empty where nothing is proved.

    The last good state is that of the commit `good` ('' for the one before the commits under
    test) when it was `green` (0 for when it was made). Bisecting takes a test run for each half
    and three more: all packages as they were, the one alone, and today's once more.
    """
    context = context.limited(_SHARE)
    run, env = context.run, context.env
    found: list[PackageChange] = []
    try:
        bumps = context.workspace.former_versions(run, context.tree, env, hints, good, green)
        tests = tuple(dict.fromkeys(failure.test for failure in failures))
        trials = _Trials(context, tests, {b.name: b for b in bumps})
        for change in trials.changes() if bumps else ():
            run.emit(Noted(stage="history", message=describe_change(change)))
            found.append(change)
        if bumps:
            context.runner.preflight(run, env)
    except HealBotError as error:
        message = f"whether another version of a package broke the tests is not known: {error}"
        run.warn("history", message)
    return tuple(found)


@dataclass(slots=True)
class _Trials:
    """The tests in environments that differ in the versions of some packages alone.

    `_stuck`: in the last of them not all tests could be run.
    """

    context: RunContext
    tests: tuple[str, ...]
    bumps: dict[str, Bump]
    runs: int = 0
    _stuck: bool = False
    _seen: dict[frozenset[str], frozenset[str]] = field(default_factory=dict)

    def changes(self) -> Iterable[PackageChange]:
        """One package, or one set, at a time, each with the tests that it explains."""
        names, step = list(self.bumps), 1
        # What runs the tests comes last: too old for what runs it here, it says nothing of others.
        while not (waiting := self._passing(names)) and self._stuck and len(names) > 1:
            names, step = names[: max(1, len(names) - step)], 2 * step
        today: frozenset[str] | None = None
        while waiting:
            test = next(test for test in self.tests if test in waiting)
            upto = self._shortest(names, test)
            chosen, single = self._closed(names[upto - 1 : upto]), True
            passing = self._passing(chosen, again=True)
            if test not in passing:
                chosen, single = self._closed(names[:upto]), False
                passing = self._passing(chosen)
            today = self._passing((), again=True) if today is None else today
            if explained := waiting & passing - today:
                bumps = tuple(self.bumps[name] for name in chosen)
                told = tuple(test for test in self.tests if test in explained)
                yield PackageChange(bumps, told, self.runs, single)
            waiting -= passing | today | {test}

    def _shortest(self, names: Sequence[str], test: str) -> int:
        """How many packages, from the first, have to be the good ones for a test to pass."""
        low, high = 0, len(names)
        while high - low > 1:
            middle = (low + high) // 2
            if test in self._passing(names[:middle]):
                high = middle
            else:
                low = middle
        return high

    def _passing(self, names: Iterable[str], *, again: bool = False) -> frozenset[str]:
        """The tests that pass where these packages, with what they need, are the good ones."""
        chosen = self._closed(names)
        key = frozenset(chosen)
        if again or key not in self._seen:
            run, runner, env = self.context.run, self.context.runner, self.context.env
            if chosen:
                bumps = [self.bumps[name] for name in chosen]
                env = self.context.workspace.with_former(run, env, bumps)
            runner.preflight(run, env)
            ask = Ask(self.context.tree, self.tests)
            done = runner.run_many(run, env, [ask])[0]
            if run.over():
                raise BudgetError("its share of the time is over; raise --max-minutes")
            self.runs += 1
            self._stuck = not done.finished or bool(done.errors)
            found = frozenset(t for t in self.tests if state_of(t, done) == RunResult.PASSED)
            of = count(len(self.bumps), "package")
            purpose = f"failing tests with {len(chosen)} of {of} in an older version"
            run.tell_suite("history", purpose, done)
            self._seen[key] = found & self._seen.get(key, found)
        return self._seen[key]

    def _closed(self, names: Iterable[str]) -> tuple[str, ...]:
        """These packages, and those that have to change with them."""
        found = dict.fromkeys(names)
        waiting = list(found)
        while waiting:
            more = [name for name in self.bumps[waiting.pop()].needs if name not in found]
            found.update(dict.fromkeys(more))
            waiting += more
        return tuple(found)


def describe_change(change: PackageChange) -> str:
    """What broke how many tests, how that is known, and what cures it."""
    tests = count(len(change.tests), "test")
    pass_ = "it passes" if len(change.tests) == 1 else "they pass"
    first = change.bumps[0]
    if not change.single:
        more = f" and {len(change.bumps) - NAMED} more" if len(change.bumps) > NAMED else ""
        pins = " ".join(f"{bump.name}=={bump.good}" for bump in change.bumps[:NAMED])
        return (
            f"packages broke {tests} together, no single one alone: {change.moved}; with the former"
            f" versions of all {pass_}: pin `{pins}`{more}, or adapt the code"
        )
    cure = f"pin `{_pin(first)}`, or adapt the code" if first.bad else f"declare `{first.name}`"
    return f"{change.moved} broke {tests}; with {first.good} alone {pass_}: {cure}"


def _pin(bump: Bump) -> str:
    """What keeps the package at the good version and its own patch releases: 2.3 below 2.4.

    What lies between it and the one that breaks was not tried.
    """
    good, bad = Version(bump.good), Version(bump.bad)
    if bad < good:
        return f"{bump.name}>={good.public}"
    width = max(2, len(good.release), len(bad.release))
    here, there = (each.release + (0,) * (width - len(each.release)) for each in (good, bad))
    if here == there:
        return f"{bump.name}=={good.public}"
    at = max(1, next(n for n in range(width) if here[n] != there[n]))
    epoch = f"{good.epoch}!" if good.epoch else ""
    return f"{bump.name}<{epoch}{'.'.join(map(str, (*here[:at], here[at] + 1)))}"


def mark_explained(
    baseline: Baseline, changes: Sequence[PackageChange], *, searched: bool = False
) -> Baseline:
    """The baseline, in which the tests that packages broke are no failures of the code.

    Before the code is `searched`, those that fail in the project's own source stay open: what it
    asks of the package can perhaps be asked otherwise.
    """
    reasons = {test: describe_change(change) for change in changes for test in change.tests}

    def told(item: Reproduced) -> Reproduced:
        failure = item.failure
        if failure.test not in reasons:
            return item
        failure = replace(failure, reason=reasons[failure.test])
        if item.confirmed and not searched and _is_in_source(failure):
            return replace(item, failure=failure)
        failure = replace(failure, broken=None)
        return replace(item, status=FailureStatus.EXPLAINED, failure=failure)

    return replace(baseline, reproduced=tuple(map(told, baseline.reproduced)))


def _is_in_source(failure: Failure) -> bool:
    """Whether the project's own code has a part in a failure."""
    if failure.broken is not None:
        return not is_test(failure.broken.path)
    return any(frame.origin is Origin.PROJECT for frame in failure.frames)


def check_former_packages(
    context: RunContext, found: Confirmed, *, changes: Sequence[PackageChange]
) -> Confirmed | Verdict:
    """The confirmation where what it fixes passes with the former packages too, or the verdict."""
    run, runner = context.run, context.runner
    for change in changes:
        files = {test for test in change.tests if "::" not in test}
        tests = tuple(
            test
            for test in found.patch.fixed
            if test in change.tests or test.partition("::")[0] in files
        )
        if not tests:
            continue
        former = context.workspace.with_former(run, context.env, change.bumps)
        runner.preflight(run, former)
        ask = Ask(context.patched(found.patch.files), tests)
        done = runner.run_many(run, former, [ask])[0]
        runner.preflight(run, context.env)
        version = f"{change.bumps[0].name} {change.bumps[0].good}"
        if left := [test for test in tests if state_of(test, done) != RunResult.PASSED]:
            detail = (
                f"{left[0]} fails with {version}, with which it passed: it has to hold for both"
            )
            return Verdict(VerdictStatus.UNCONFIRMED, detail=detail)
        found = found.with_gate(GATE, f"what is fixed passes with {version} too")
    return found


def explain_outweighed(suggestion: Suggestion, changes: Sequence[PackageChange]) -> str:
    """Why a guess is not shown: packages are proved to have broken all it fixes; '' elsewhere."""
    proved = {test for change in changes for test in change.tests}
    if any(not proved & {test, test.partition("::")[0]} for test in suggestion.fixed):
        return ""
    return f"{suggestion.why[0]}, and packages are shown to be the cause"
