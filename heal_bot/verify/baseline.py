"""The baseline: what is red here, before any patch, and how firmly."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from heal_bot.events import Noted, Run, SuiteFinished
from heal_bot.model import (
    Baseline,
    CaseResult,
    Environment,
    Failure,
    Reproduced,
    SuiteRun,
)
from heal_bot.ports import Runner, Tree
from heal_bot.verify.legs import on_legs

_RED = frozenset({"failed", "error"})
# How often a test that was once red and once green is run again to tell its rate.
_FLAKE_RUNS = 3
# How pytest and unittest call a test that passes although it is marked to fail.
_STRICT = ("[XPASS(strict)]", "XPASS(strict)", "Unexpected success", "UnexpectedSuccess")
_MISSING = frozenset({"ModuleNotFoundError", "ImportError"})
# What a test says where the sandbox withholds a socket, a host name or a file.
_WITHHELD = re.compile(
    r"^(?:PermissionError|ConnectionRefusedError|gaierror|NewConnectionError|URLError):"
    r"|\[Errno (?:1|13|101|111)\]|name resolution"
)


def reproduce(
    run: Run,
    failures: Sequence[Failure] | None,
    tree: Tree,
    env: Environment,
    runner: Runner,
) -> Baseline:
    """Run the whole suite cold with a spectrum, then the failing tests once more by themselves.

    `failures` None means that there was no report: every red test of the suite is a failure, and
    every file that cannot be collected.
    A failure is `confirmed` when it is red in both runs; its message and frames are then those
    seen here, which a report may lack.
    """
    suite = _run(run, "baseline", runner, tree, env, None, spectrum=True)
    results = {result.test: result for result in suite.results}
    if failures is None:
        red = tuple(failure_of(r) for r in suite.results if r.outcome in _RED)
        failures = (*(Failure(path, "", message) for path, message in suite.errors), *red)
    known = [f.test for f in failures if f.test in results]
    again: dict[str, CaseResult] = {}
    runs = 1
    if known:
        alone = _run(run, "failing tests again", runner, tree, env, known)
        again = {result.test: result for result in alone.results}
        runs += 1
    unsteady = [t for t in known if _is_red(results.get(t)) != _is_red(again.get(t))]
    rates = _rates(run, runner, tree, env, unsteady) if unsteady else {}
    runs += _FLAKE_RUNS if unsteady else 0
    reproduced = tuple(
        on_legs(
            f, _classified(f, results.get(f.test), again.get(f.test), rates.get(f.test), suite), env
        )
        for f in failures
    )
    _tell_unreported(run, reproduced, suite)
    return Baseline(reproduced, suite, runs)


def failure_of(result: CaseResult, reason: str = "") -> Failure:
    """A red result as a failure."""
    return Failure(result.test, result.kind, result.message, result.frames, reason)


def _run(
    run: Run,
    purpose: str,
    runner: Runner,
    tree: Tree,
    env: Environment,
    tests: Sequence[str] | None,
    *,
    spectrum: bool = False,
) -> SuiteRun:
    """One cold run, told as an event."""
    suite = runner.run(run, tree, env, tests, spectrum=spectrum)
    red = sum(result.outcome in _RED for result in suite.results)
    run.emit(
        SuiteFinished(
            stage="verify",
            purpose=purpose,
            passed=sum(result.outcome == "passed" for result in suite.results),
            failed=red,
            seconds=suite.seconds,
            ended=suite.ended,
        )
    )
    return suite


def _rates(
    run: Run, runner: Runner, tree: Tree, env: Environment, tests: Sequence[str]
) -> dict[str, float]:
    """The share of red runs of each test when it is run alone several times."""
    red = dict.fromkeys(tests, 0)
    for _ in range(_FLAKE_RUNS):
        for result in _run(run, "unsteady tests", runner, tree, env, tests).results:
            if result.test in red:
                red[result.test] += result.outcome in _RED
    return {test: count / _FLAKE_RUNS for test, count in red.items()}


def _is_red(result: CaseResult | None) -> bool:
    return result is not None and result.outcome in _RED


def _classified(
    failure: Failure,
    first: CaseResult | None,
    again: CaseResult | None,
    rate: float | None,
    suite: SuiteRun,
) -> Reproduced:
    """What two runs (and a rate, when they differ) say of a reported failure."""
    if first is None:
        return _absent(failure, suite)
    if _is_red(first) and _is_red(again):
        seen = failure_of(first, failure.reason)
        if _withheld(first, failure):
            reason = (
                "it fails here for what the sandbox withholds (network, a file or a permission),"
                " and otherwise in the report; not verified here"
            )
            return Reproduced(replace(failure, reason=reason), "environment")
        if first.kind in _STRICT or first.message.startswith(_STRICT):
            reason = "it passes where it is marked to fail: the mark, not the code, is out of date"
            return Reproduced(replace(seen, reason=reason), "stale_test")
        if first.kind in _MISSING and not any(f.origin == "project" for f in first.frames):
            reason = f"{first.message}; install what is missing in the test environment"
            return Reproduced(replace(seen, reason=reason), "environment")
        return Reproduced(seen, "confirmed")
    if not _is_red(first) and not _is_red(again):
        here = f"it is {first.outcome} here, in the whole suite and by itself"
        reason = f"{failure.reason}; {here}" if failure.reason else here
        return Reproduced(replace(failure, reason=reason), "not_reproduced")
    if rate in {0.0, 1.0}:
        reason = (
            "it fails in the suite and passes by itself: another test disturbs it"
            if rate == 0.0
            else "it passes in the suite and fails by itself: it needs another test"
        )
        return Reproduced(replace(failure, reason=reason), "order_dependent")
    shown = f"{rate:.0%}" if rate is not None else "some"
    reason = f"it failed in {shown} of its runs by itself"
    return Reproduced(replace(failure, reason=reason), "flaky", rate)


def _withheld(seen: CaseResult, reported: Failure) -> bool:
    """Whether a test fails here for the sandbox's sake, and did not where it was reported.

    A test that a report does not describe, or describes alike, fails for its own sake.
    """
    said = f"{reported.kind}: {reported.message}"
    found = _WITHHELD.search(f"{seen.kind}: {seen.message}")
    return bool(found and said.strip(": ") and not _WITHHELD.search(said))


def _absent(failure: Failure, suite: SuiteRun) -> Reproduced:
    """A reported test that did not run here: its file could not be imported, or it is gone."""
    path = failure.test.partition("::")[0]
    for broken, message in suite.errors:
        if broken == path:
            kind = failure.kind or message.partition(":")[0]
            seen = replace(failure, kind=kind, message=message or failure.message)
            if kind in _MISSING or "No module named" in message:
                reason = "its file cannot be imported here; is the environment complete?"
                return Reproduced(replace(seen, reason=reason), "environment")
            return Reproduced(seen, "confirmed")
    if suite.ended != "finished":
        reason = f"the suite ended early: {suite.detail or suite.ended}"
        return Reproduced(replace(failure, reason=reason), "environment")
    reason = "no such test is collected at this commit"
    return Reproduced(replace(failure, reason=reason), "not_reproduced")


def _tell_unreported(run: Run, reproduced: Sequence[Reproduced], suite: SuiteRun) -> None:
    """Say which tests are red here although the report does not name them."""
    named = {item.failure.test for item in reproduced}
    red = [r.test for r in suite.results if r.outcome in _RED and r.test not in named]
    if red:
        message = f"{len(red)} tests fail here that the report does not name, first {red[0]}"
        run.emit(Noted(stage="verify", message=message, level="warning"))
