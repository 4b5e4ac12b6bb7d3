"""A run of the failing tests in another state of code or packages: what it says of each."""

from __future__ import annotations

from heal_bot.core.model import Failure, SuiteRun
from heal_bot.core.statuses import EXPECTED, RunResult


def state_of(test: str, suite: SuiteRun, failure: Failure | None = None) -> str:
    """What a run says of a test, or of the tests of a file, class or function.

    passed | failed, or '' where nobody can say: one that is red for another kind of exception than
    the `failure` says nothing of it, a file that cannot be collected only where it says the same,
    and a run that did not finish nothing of what passes.
    """
    beneath = (f"{test}::", f"{test}[")
    found = [r for r in suite.results if r.test == test or r.test.startswith(beneath)]
    kind = failure.kind if failure else ""
    red = [result.kind for result in found if result.red]
    if red:
        return RunResult.FAILED if not kind or kind in red else ""
    if any(result.outcome in EXPECTED for result in found):
        return RunResult.PASSED if suite.finished else ""
    if failure is None or not failure.message:
        return ""
    stopped = dict(suite.errors).get(test.partition("::")[0], "")
    return RunResult.FAILED if f"{kind}: {failure.message}" in stopped else ""
