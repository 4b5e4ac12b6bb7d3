"""The whole story: a failed run goes in, an outcome with at most one verified patch comes out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from heal_bot.errors import UsageError
from heal_bot.events import Noted, Planned, Run
from heal_bot.intake import junit, tests
from heal_bot.intake.tests import Resolved
from heal_bot.locate import ranking
from heal_bot.model import (
    ABSTAINED,
    Baseline,
    Cluster,
    Collection,
    Cost,
    Failure,
    HealRequest,
    Memory,
    Outcome,
    Report,
    SuiteRun,
    Trust,
    Verdict,
)
from heal_bot.ports import Critic, Proposer, Runner, Store, Tree, Workspace
from heal_bot.repair import loop, memory
from heal_bot.repair.hunt import Limits
from heal_bot.repair.ledger import Ledger
from heal_bot.source.permitted import outside, permits
from heal_bot.verify import command, legs, merged, scope
from heal_bot.verify.baseline import reproduce
from heal_bot.verify.confirm import confirm
from heal_bot.verify.lab import SandboxLab, questioned
from heal_bot.verify.scope import Look
from heal_bot.verify.trial import open_session

_STALE = "executes and names nothing that a patch may change: the test looks out of date"
_NAMED = "named in the request"


@dataclass(frozen=True, slots=True)
class Edges:
    """What the pipeline reaches the world through."""

    workspace: Workspace
    runner: Runner
    proposers: tuple[Proposer, ...]
    store: Store
    critics: tuple[Critic, ...] = ()


def heal(
    run: Run,
    request: HealRequest,
    edges: Edges,
    root: Path,
    remembered: Memory,
    limits: Limits,
) -> Outcome:
    """Heal what `request` names; `root` is where its reports lie.

    Expected failures are outcomes; HealBotError is raised only where nothing can be said.
    """
    started = run.clock()
    if request.trust is Trust.REFUSED:
        return Outcome(request, "refused", "done", f"{request.actor} may not ask here", Report(()))
    workspace, runner = edges.workspace, edges.runner
    tree = workspace.checkout(run, request.base_sha)
    report = _read(run, request, root, workspace.committed(run, tree.sha))
    if request.reports and tests.is_green(report):
        return Outcome(request, "nothing_to_do", "done", "the report names no failure", report)
    env = workspace.provision(run, tree, report.hints)
    runner.preflight(run, env)
    meant = _meant(request, report, tree)
    look = Look(Collection(()))
    if request.reports:
        look = scope.look(run, report, tree, env, runner, meant)
    wanted = _wanted(run, request, report, tree, look.collection)
    report = tests.remarked(report, wanted)
    if wanted.nothing:
        return Outcome(request, "nothing_to_do", "done", wanted.nothing, report)
    failures = None if wanted.whole else wanted.failures
    selected = None if look.fits else scope.chosen(run, report, look.collection, wanted.failures)
    baseline = reproduce(run, failures, tree, env, runner, look.seen, selected)
    if not baseline.confirmed:
        return _unconfirmed(request, report, baseline)
    _plan(run, report, baseline)
    clusters = _permitted(request, ranking.locate(run, baseline, tree, request.targets))
    lab = SandboxLab(run, runner, workspace, tree, env)
    ledger = Ledger(tree, remembered, request.instruction, env.lock_hash, lab)
    judge = partial(open_session, run, runner, tree, env, baseline)
    limits = replace(limits, confirmation_seconds=1.5 * baseline.suite.seconds)
    ledger.notes.extend(legs.unconfirmed(baseline, env))
    conclude = partial(_outcome, run, started, request, report, baseline, clusters, edges, ledger)
    for proposal in loop.proposals(run, clusters, edges.proposers, judge, ledger, limits):
        if reason := outside(request.paths, (edit.target.path for edit in proposal.edits)):
            ledger.settle(run, proposal, Verdict("unconfirmed", detail=reason))
            continue
        verified = confirm(run, proposal, workspace, tree, env, runner, baseline)
        verified = merged.held(
            run, verified, request.tested_sha, tree, workspace, env, runner, baseline
        )
        verified = command.held(run, verified, request, tree, workspace, env, runner)
        ledger.settle(run, proposal, verified)
        edges.store.save(conclude())
    ledger.confirmed = questioned(run, ledger.confirmed, edges.critics, clusters, tree, lab)
    return conclude()


def _permitted(request: HealRequest, clusters: Sequence[Cluster]) -> tuple[Cluster, ...]:
    """The clusters without the suspects that may not be changed."""
    return tuple(
        replace(
            cluster,
            suspects=tuple(s for s in cluster.suspects if permits(request.paths, s.target.path)),
        )
        for cluster in clusters
    )


def _read(run: Run, request: HealRequest, root: Path, made: float) -> Report:
    """The reports of the request as one; an empty one when there are none.

    A path that a person typed may lie outside of the repository. `made` is when the commit was.
    """
    if not request.reports:
        return Report(())
    typed = request.trigger == "command"
    report = junit.read(run, root, request.reports, absolute=typed, not_before=made)
    for remark in report.skipped:
        run.emit(Noted(stage="intake", message=remark, level="warning"))
    return report


def _meant(request: HealRequest, report: Report, tree: Tree) -> tuple[str, ...]:
    """What the report seems to name, before pytest has said which tests there are."""
    found = tests.guessed(report, tree.paths(), tree.read)
    return tuple(test for test in found if not request.only or _is_meant(test, request.only))


def _wanted(
    run: Run,
    request: HealRequest,
    report: Report,
    tree: Tree,
    collection: Collection,
) -> Resolved:
    """The failing tests as runnable ids; without a report those that the request names.

    A report without failures that is not whole is no proof: it counts as none.
    """
    named = tuple(Failure(test, "", "", reason=_NAMED) for test in request.only)
    if not request.reports:
        return Resolved(named, whole=not named)
    try:
        resolved = tests.resolve(run, report, collection, tree.paths(), tree.read)
    except UsageError as error:
        if not request.test_command:
            raise
        message = f"{error}; what is red in the test-command here is healed"
        run.emit(Noted(stage="intake", message=message, level="warning"))
        return Resolved(named, whole=not named)
    if resolved.whole:
        message = f"the report is {tests.doubt(report)}: the tests are run to see what fails"
        run.emit(Noted(stage="intake", message=message, level="warning"))
        return replace(resolved, failures=named, whole=not named)
    if not request.only or resolved.nothing:
        return resolved
    meant = tuple(f for f in resolved.failures if _is_meant(f.test, request.only))
    if not meant:
        raise UsageError(
            f"--only {request.only[0]}: no failing test of the report is meant;"
            f" it names {resolved.failures[0].test} among others"
        )
    return replace(resolved, failures=meant)


def _is_meant(test: str, only: Sequence[str]) -> bool:
    """Whether a node id is, or lies below, one of the names."""
    return any(test == name or test.startswith((f"{name}::", f"{name}[")) for name in only)


def _plan(run: Run, report: Report, baseline: Baseline) -> None:
    """Say before the search what the report could not: how long the suite takes, what is left."""
    if not report.hints.seconds:
        seconds = baseline.suite.seconds
        run.emit(Planned(suite_seconds=seconds, confirmations=2, minutes_left=run.left() / 60))
    for gap in baseline.suite.spectrum.gaps if baseline.suite.spectrum else ():
        run.emit(Noted(stage="locate", message=gap, level="warning"))


def _unconfirmed(request: HealRequest, report: Report, baseline: Baseline) -> Outcome:
    """The outcome when no failure is worth a repair: which kind, and why."""
    statuses = [item.status for item in baseline.reproduced]
    if not statuses:
        status, stopped, reason = _nothing(baseline.suite)
        return Outcome(request, status, stopped, reason, report, baseline)
    ranked = ("environment", "stale_test", "flaky", "order_dependent", "not_reproduced")
    status = next(s for s in ranked if s in statuses)
    first = next(i for i in baseline.reproduced if i.status == status)
    reason = f"{first.failure.test}: {first.failure.reason or status}"
    names = {"environment": "environment_error", "order_dependent": "flaky"}
    return Outcome(request, names.get(status, status), "done", reason, report, baseline)


def _nothing(suite: SuiteRun) -> tuple[str, str, str]:
    """Status, why the run stopped, and the reason where the suite names no failure."""
    if suite.ended == "timeout":
        reason = f"the suite names no failure and did not finish: {suite.detail}"
        return "budget_exhausted", "budget", f"{reason}; raise --max-minutes or give --junit"
    if suite.ended != "finished":
        reason = f"the suite names no failure and did not finish: {suite.detail}"
        return "environment_error", "done", f"{reason}; make `python -m pytest` run to its end"
    if not suite.collected:
        return "nothing_to_do", "done", "pytest collects no test in the repository"
    return "nothing_to_do", "done", "every test passes here"


def _outcome(
    run: Run,
    started: float,
    request: HealRequest,
    report: Report,
    baseline: Baseline,
    clusters: Sequence[Cluster],
    edges: Edges,
    ledger: Ledger,
) -> Outcome:
    """The outcome as the ledger stands now."""
    patch = ledger.confirmed.patch if ledger.confirmed else None
    stopped = ledger.stopped
    if patch is not None:
        status = "partly_healed" if patch.still_failing else "healed"
        stopped = stopped if patch.still_failing else "done"
        reason = f"{len(patch.fixed)} of {len(baseline.confirmed)} failing tests are fixed"
        assert ledger.confirmed is not None
        if undoes := ledger.confirmed.certificate.undoes:
            reason = f"undoes {undoes}: {reason}"
    elif clusters and all(cluster.stale for cluster in clusters):
        status, stopped = "stale_test", "done"
        reason = f"{clusters[0].failures[0].test} {_STALE}"
    else:
        status = "budget_exhausted" if stopped == "budget" else "not_healed"
        reason = _unhealed(ledger)
    attempts = tuple(ledger.attempts)
    return Outcome(
        request=request,
        status=status,
        stopped=stopped,
        reason=reason,
        report=report,
        baseline=baseline,
        clusters=tuple(clusters),
        searches=ledger.searches,
        attempts=attempts,
        patch=patch,
        certificate=ledger.confirmed.certificate if ledger.confirmed else None,
        memory=memory.extended(ledger.memory, attempts),
        cost=_spent(edges.proposers),
        seconds=run.clock() - started,
        notes=tuple(dict.fromkeys((*ledger.notes, *_remarks(edges.proposers)))),
    )


def _unhealed(ledger: Ledger) -> str:
    """Why there is no patch: none stood out, or what the last cold run had against the best."""
    refused = [a for a in ledger.attempts if a.verdict.status == "unconfirmed" and a.verdict.detail]
    if refused:
        last = refused[-1]
        if last.verdict.detail.startswith(ABSTAINED):
            return last.verdict.detail
        return f"attempt {last.number} was not confirmed by the cold run: {last.verdict.detail}"
    return "no change made a failing test pass in a cold run without breaking another"


def _spent(proposers: Sequence[Proposer]) -> Cost:
    """The sum of all tiers; dollars are unknown as soon as one price is."""
    costs = [proposer.spent() for proposer in proposers]
    prices = [cost.usd for cost in costs]
    known = [price for price in prices if price is not None]
    return Cost(
        usd=sum(known) if len(known) == len(prices) else None,
        input_tokens=sum(cost.input_tokens for cost in costs),
        output_tokens=sum(cost.output_tokens for cost in costs),
        cached_tokens=sum(cost.cached_tokens for cost in costs),
    )


def _remarks(proposers: Sequence[Proposer]) -> tuple[str, ...]:
    """What the tiers want said, and that no model was asked."""
    said = tuple(note for proposer in proposers for note in proposer.notes)
    if any(proposer.name != "rules" for proposer in proposers):
        return said
    return (*said, "no model key was given: only the offline rules searched")
