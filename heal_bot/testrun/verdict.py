"""From the answer of a fork server to the verdict on a candidate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from heal_bot.core.model import CaseResult, Cause, Failure, Verdict
from heal_bot.core.statuses import GREEN, VerdictStatus
from heal_bot.testrun.judge_protocol import JudgeResponse

# The judge in the sandbox runs no further guards once so many broke.
ENOUGH_BROKEN = 3
# There was no time left, or nobody waits for it.
UNTRIED = Verdict(VerdictStatus.ERROR, detail="the run was ended", cause=Cause.BUDGET)


@dataclass(frozen=True, slots=True)
class Expectation:
    """What is judged: the failing tests (as they failed), the guards, how many may be left out."""

    failing: tuple[Failure, ...]
    guards: tuple[str, ...]
    sampled: int = 0

    @property
    def tests(self) -> tuple[str, ...]:
        """All that run."""
        return (*(failure.test for failure in self.failing), *self.guards)


def _failure_of(result: CaseResult) -> Failure:
    """A result that is no pass as a failure with its new message."""
    reason = "" if result.red else f"the test is {result.outcome}"
    return result.as_failure(reason)


def make_verdict(answer: JudgeResponse, expected: Expectation) -> Verdict:
    """The verdict; whatever did not add up is an error, never a pass."""
    fixed, still = _failing(answer, expected.failing)
    if answer.how != "judged":
        cut = answer.how in {VerdictStatus.REJECTED, VerdictStatus.TIMEOUT}
        status = VerdictStatus(answer.how) if cut else VerdictStatus.ERROR
        return Verdict(status, fixed, still, (), answer.detail)
    newly = tuple(_broken(answer.results, expected.guards, answer.errors))
    if newly:
        told = "1 passing test fails" if len(newly) == 1 else f"{len(newly)} passing tests fail"
        return Verdict(VerdictStatus.REGRESSION, fixed, still, newly, told)
    if not fixed:
        return Verdict(VerdictStatus.UNCHANGED, (), still, (), _sampling(expected))
    unrun = [guard for guard in expected.guards if guard not in answer.results]
    if unrun:
        told = f"{len(unrun)} passing tests did not run"
        return Verdict(VerdictStatus.ERROR, fixed, still, (), told, cause=Cause.IDS)
    return Verdict(VerdictStatus.IMPROVED if still else VerdictStatus.FIXED, fixed, still)


def needs_rerun(found: Verdict) -> bool:
    """Whether a change fixes all and breaks so few that every guard ran."""
    broken = found.status == VerdictStatus.REGRESSION and not found.still_failing
    return broken and len(found.newly_failing) < ENOUGH_BROKEN


def judge_rerun(answer: JudgeResponse, found: Verdict) -> Verdict:
    """The verdict once what broke ran without the repaired tests before it."""
    guards = [failure.test for failure in found.newly_failing]
    ran = answer.how == "judged" and answer.results.keys() >= {*guards}
    if not ran or [*_broken(answer.results, guards, answer.errors)]:
        return found
    return Verdict(VerdictStatus.FIXED, found.fixed)


def _sampling(expected: Expectation) -> str:
    if not expected.sampled:
        return ""
    return f"{expected.sampled} of {len(expected.failing)} failing tests were run, none passed"


def _failing(
    answer: JudgeResponse, failing: Sequence[Failure]
) -> tuple[tuple[str, ...], tuple[Failure, ...]]:
    """Which of the failing tests pass now, and the others with their new message."""
    fixed, still = [], []
    for before in failing:
        found = find_results(answer.results, before.test)
        error = _error(answer.errors, before.test)
        bad = next((result for result in found if _is_bad(result, before.test)), None)
        if error is not None:
            still.append(Failure(before.test, "CollectionError", error))
        elif bad is not None:
            still.append(replace(_failure_of(bad), test=before.test))
        elif any(result.passed for result in found):
            fixed.append(before.test)
        else:
            still.append(replace(before, reason="not run for this candidate"))
    return tuple(fixed), tuple(still)


def _is_bad(result: CaseResult, test: str) -> bool:
    """Whether a result speaks against a test; for a file only what is red does."""
    return result.red if "::" not in test else not result.passed


def find_results(results: Mapping[str, CaseResult], test: str) -> list[CaseResult]:
    """The results of an id, or of all tests below it when it names a file or a class."""
    if test in results:
        return [results[test]]
    if "[" in test.partition("::")[2]:
        return []
    return [r for name, r in results.items() if name.startswith((test + "::", test + "["))]


def _error(errors: Mapping[str, str], test: str) -> str | None:
    return errors.get(test, errors.get(test.partition("::")[0]))


def _broken(
    results: Mapping[str, CaseResult], guards: Sequence[str], errors: Mapping[str, str]
) -> list[Failure]:
    broken = []
    for guard in guards:
        result = results.get(guard)
        error = _error(errors, guard)
        if error is not None:
            broken.append(Failure(guard, "CollectionError", error))
        elif result is not None and result.outcome not in GREEN:
            broken.append(_failure_of(result))
    return broken
