"""The failing tests on an older Python, with the same code: what is green there no commit broke."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from heal_bot.core.errors import HealBotError
from heal_bot.core.events import Noted, Run
from heal_bot.core.model import COMMAND, Baseline, Environment, Failure, Frame, Origin, RunHints
from heal_bot.core.statuses import CLAIMS, FailureStatus
from heal_bot.ports import Ask, RunContext, Tree
from heal_bot.verification import stale_test_history

# The share of the time left that a run there may take.
_SHARE = 0.1


def compare_pythons(context: RunContext, baseline: Baseline, hints: RunHints) -> Baseline:
    """The baseline, with failures explained that the Python before the one here does not have.

    What the code itself raises is left to the search, which may adapt it. A test that the commits
    under test wrote says nothing: it may be of what only the newer Python has.
    """
    failing = [f for f in baseline.confirmed if _is_comparable(f, context.tree)]
    if not failing:
        return baseline
    try:
        older = _older(context, hints)
        green = _green(context, older, failing) if older else frozenset()
    except HealBotError as error:
        message = f"not compared with an older Python: {error}"
        context.run.emit(Noted(stage="verify", message=message, level="info"))
        return baseline
    if older is None or not green:
        return baseline
    reasons = dict.fromkeys(green, _reason(context.env, older))
    return baseline.marked(FailureStatus.EXPLAINED, reasons)


def _is_comparable(failure: Failure, tree: Tree) -> bool:
    """Whether a test, or what the code calls, says it, and no test that the commits wrote."""
    by_code = _raiser(failure.frames) is Origin.PROJECT and failure.kind not in CLAIMS
    return (
        failure.test != COMMAND
        and not by_code
        and not stale_test_history.is_touched(failure.test, tree)
    )


def _raiser(frames: Sequence[Frame]) -> Origin:
    """Whose the last frame is, before those of an exception that the test had caught."""
    places = [(frame.path, frame.function) for frame in frames]
    first = next((n for n, frame in enumerate(frames) if frame.origin is Origin.TEST), None)
    if first is None:
        return frames[-1].origin if frames else Origin.TEST
    again = places.index(places[first], first + 1) if places.count(places[first]) > 1 else 0
    return frames[again - 1].origin


def _older(context: RunContext, hints: RunHints) -> Environment | None:
    """The same environment on an older Python; None where there is none."""
    run, env = context.run, context.env
    major, minor = map(int, env.version.split(".")[:2])
    added = tuple(name.partition(" ")[0] for name in env.added)
    asked = replace(hints, python=f"{major}.{minor - 1}", plugins=(*hints.plugins, *added))
    # That another Python is taken is no news for whoever reads along.
    quiet = Run(lambda event: None, run.clock, deadline=run.deadline, stopped=run.stopped)
    older = replace(context, run=quiet).provision(context.tree, asked)
    return None if int(older.version.split(".")[1]) >= minor else older


def _green(context: RunContext, there: Environment, failing: list[Failure]) -> frozenset[str]:
    """The failing tests that pass in another environment, and the files collected there."""
    run, runner, tree = context.run, context.runner, context.tree
    tests = [failure.test for failure in failing if "::" in failure.test]
    found: set[str] = set()
    runner.preflight(run, there)
    try:
        if tests:
            ask = Ask(tree, tuple(tests), seconds=max(60.0, _SHARE * run.left()))
            (suite,) = runner.run_many(run, there, [ask])
            found.update(suite.passed)
        if len(tests) < len(failing):
            collection = runner.collect(run, tree, there)
            found.update(test.partition("::")[0] for test in collection.tests)
            found.difference_update(path for path, _ in collection.errors)
    finally:
        runner.preflight(run, context.env)
    return frozenset(found)


def _reason(here: Environment, there: Environment) -> str:
    return (
        f"it is red on Python {here.version} and green on Python {there.version}, with the same"
        " code: the newer one does otherwise what the test expects; adapt the test or the code to"
        " it, or stay with the older one in the job (python-version)"
    )
