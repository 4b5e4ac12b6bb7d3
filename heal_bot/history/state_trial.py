"""A run of the failing tests in another state of code or packages: what it says of each."""

from __future__ import annotations

from heal_bot.core.events import Run, SuiteFinished
from heal_bot.core.model import Failure, SuiteRun

_RED = frozenset({"failed", "error"})
_GREEN = frozenset({"passed", "xfailed"})


def state_of(test: str, suite: SuiteRun, failure: Failure | None = None) -> str:
    """What a run says of a test, or of the tests of a file, class or function.

    passed | failed, or '' where nobody can say: one that is red for another kind of exception than
    the `failure` says nothing of it, a file that cannot be collected only where it says the same,
    and a run that did not finish nothing of what passes.
    """
    beneath = (f"{test}::", f"{test}[")
    found = [r for r in suite.results if r.test == test or r.test.startswith(beneath)]
    kind = failure.kind if failure else ""
    red = [result.kind for result in found if result.outcome in _RED]
    if red:
        return "failed" if not kind or kind in red else ""
    if any(result.outcome in _GREEN for result in found):
        return "passed" if suite.ended == "finished" else ""
    if failure is None or not failure.message:
        return ""
    stopped = dict(suite.errors).get(test.partition("::")[0], "")
    return "failed" if f"{kind}: {failure.message}" in stopped else ""


def report_trial(run: Run, purpose: str, suite: SuiteRun) -> None:
    """Say what came of a run."""
    run.emit(
        SuiteFinished(
            stage="history",
            purpose=purpose,
            passed=sum(r.outcome in _GREEN for r in suite.results),
            failed=sum(r.outcome in _RED for r in suite.results),
            seconds=suite.seconds,
            ended=suite.ended,
        )
    )
