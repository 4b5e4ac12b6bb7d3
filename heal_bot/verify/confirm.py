"""The verdict of record: a proposal in a fresh checkout, the whole suite, cold."""

from __future__ import annotations

from collections.abc import Sequence

from heal_bot.events import Noted, Run, SuiteFinished
from heal_bot.model import (
    Baseline,
    Candidate,
    CaseResult,
    Confirmed,
    Environment,
    Patch,
    PatchedFile,
    Proposal,
    SuiteRun,
    Verdict,
)
from heal_bot.ports import Runner, Tree, Workspace
from heal_bot.source import edit, rails
from heal_bot.source.guard import SourceRejected
from heal_bot.verify.baseline import failure_of
from heal_bot.verify.certificate import certify, tests_hash

_GREEN = frozenset({"passed", "xfailed"})
_RUNS = 2


def confirm(
    run: Run,
    proposal: Proposal,
    workspace: Workspace,
    tree: Tree,
    env: Environment,
    runner: Runner,
    baseline: Baseline,
) -> Confirmed | Verdict:
    """A patch with its certificate, or the `unconfirmed` verdict the search learns from.

    The suite runs twice, each time in a fresh copy of a fresh checkout. A reported test is fixed
    when it passes in every run. One that passed before and fails now rejects the proposal, unless
    it fails in one of the runs alone and passes by itself each time: that is a doubt.
    """
    candidate = Candidate(proposal.edits, "heal-bot", "proposal")
    try:
        files = edit.patched(tree, candidate)
    except (edit.EditError, SourceRejected) as error:
        return Verdict("unconfirmed", detail=f"the changes do not go together: {error}")
    fresh = workspace.patched(run, tree, files)
    suites: list[SuiteRun] = []
    for number in range(_RUNS):
        if suites and run.left() < suites[0].seconds * 1.5:
            message = f"no time was left for confirmation {number + 1} of {_RUNS}"
            run.emit(Noted(stage="verify", message=message, level="warning"))
            break
        suite = runner.run(run, fresh, env)
        _tell(run, number, suite)
        suites.append(suite)
        if reason := _unusable(suite, baseline):
            return Verdict("unconfirmed", detail=reason)
    broken, unsteady = _broken(suites, baseline)
    if unsteady and not broken:
        alone = [runner.run(run, fresh, env, unsteady) for _ in range(_RUNS)]
        broken = tuple(r for suite in alone for r in suite.results if r.outcome not in _GREEN)
    if broken:
        return _regression(broken)
    fixed = _fixed(suites, baseline)
    if not fixed:
        red = {r.test: r for r in suites[0].results}
        left = tuple(failure_of(red[f.test]) for f in baseline.confirmed if f.test in red)
        return Verdict("unconfirmed", still_failing=left, detail="nothing passes in the cold run")
    if tests_hash(tree) != tests_hash(fresh):
        return Verdict("unconfirmed", detail="a test or configuration file would change")
    patch = _patch(tree, proposal, files, fixed, baseline)
    doubts = (
        *rails.doubts(candidate, tree),
        *(doubt for winner in proposal.winners for doubt in winner.doubts),
        *_doubts(suites, baseline, unsteady),
    )
    return Confirmed(patch, certify(patch, tree, env, baseline, suites, doubts))


def _tell(run: Run, number: int, suite: SuiteRun) -> None:
    run.emit(
        SuiteFinished(
            stage="verify",
            purpose=f"cold confirmation {number + 1} of {_RUNS}",
            passed=sum(r.outcome in _GREEN for r in suite.results),
            failed=sum(r.outcome in {"failed", "error"} for r in suite.results),
            seconds=suite.seconds,
            ended=suite.ended,
        )
    )


def _unusable(suite: SuiteRun, baseline: Baseline) -> str:
    """Why a run proves nothing; '' when it does."""
    if suite.ended != "finished" and baseline.suite.ended == "finished":
        return f"the cold run ended early: {suite.detail or suite.ended}"
    lost = set(baseline.suite.collected) - set(suite.collected)
    if lost:
        return f"{len(lost)} tests are no longer collected, first {min(lost)}"
    return ""


def _broken(
    suites: Sequence[SuiteRun], baseline: Baseline
) -> tuple[tuple[CaseResult, ...], tuple[str, ...]]:
    """Tests that passed before and fail in every run now, and names of those that fail in some."""
    before = baseline.passed
    red = [
        {r.test: r for r in suite.results if r.test in before and r.outcome not in _GREEN}
        for suite in suites
    ]
    always = tuple(r for r in red[0].values() if all(r.test in other for other in red))
    sometimes = {test for results in red for test in results} - {r.test for r in always}
    return always, tuple(sorted(sometimes))


def _regression(broken: Sequence[CaseResult]) -> Verdict:
    first = broken[0]
    return Verdict(
        "unconfirmed",
        newly_failing=tuple(failure_of(result) for result in broken),
        detail=f"{len(broken)} tests that passed before fail in the cold run, first {first.test}",
    )


def _fixed(suites: Sequence[SuiteRun], baseline: Baseline) -> tuple[str, ...]:
    """The confirmed failures that pass in every run."""
    green = [{r.test for r in suite.results if r.outcome == "passed"} for suite in suites]
    return tuple(
        failure.test
        for failure in baseline.confirmed
        if all(_passes(failure.test, tests) for tests in green)
    )


def _passes(test: str, green: set[str]) -> bool:
    """Whether a node passes; a file that could not be collected passes when all of it does."""
    return test in green or (
        "::" not in test and any(other.startswith(f"{test}::") for other in green)
    )


def _patch(
    tree: Tree,
    proposal: Proposal,
    files: tuple[PatchedFile, ...],
    fixed: tuple[str, ...],
    baseline: Baseline,
) -> Patch:
    return Patch(
        base_sha=tree.sha,
        files=files,
        diff=edit.diff_all(tree, files),
        edits=proposal.edits,
        fixed=fixed,
        still_failing=tuple(f.test for f in baseline.confirmed if f.test not in fixed),
    )


def _doubts(
    suites: Sequence[SuiteRun], baseline: Baseline, unsteady: Sequence[str]
) -> tuple[str, ...]:
    """What a reviewer should know of the runs themselves."""
    doubts = [
        f"{test} passed before, failed in one of {len(suites)} runs of the suite after the patch,"
        f" and passed {_RUNS} times by itself: is it flaky?"
        for test in unsteady
    ]
    if len(suites) < _RUNS:
        doubts.append(f"the suite was confirmed {len(suites)} times instead of {_RUNS}")
    if any(suite.isolation.missing for suite in suites):
        doubts.append("the tests ran with reduced isolation; see the certificate")
    if baseline.suite.ended != "finished":
        doubts.append(f"the suite did not finish before the patch: {baseline.suite.detail}")
    return tuple(doubts)
