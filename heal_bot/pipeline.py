"""The whole story: a failed run goes in, an outcome with at most one verified patch comes out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from heal_bot import conclusion
from heal_bot.conclusion import Found
from heal_bot.errors import ProvisionError, SandboxError, UsageError
from heal_bot.events import Noted, Planned, Run
from heal_bot.intake import junit, tests
from heal_bot.intake.tests import Resolved
from heal_bot.locate import ranking
from heal_bot.model import (
    Baseline,
    Cluster,
    Collection,
    Confirmed,
    Environment,
    Failure,
    HealRequest,
    Memory,
    Outcome,
    Proposal,
    Report,
    Trust,
    Verdict,
)
from heal_bot.ports import Critic, Proposer, Runner, Store, Tree, Workspace
from heal_bot.repair import loop
from heal_bot.repair.hunt import Limits
from heal_bot.repair.ledger import Ledger
from heal_bot.source.permitted import outside, permits
from heal_bot.verify import command, legs, merged, plugins, scope
from heal_bot.verify.baseline import reproduce
from heal_bot.verify.confirm import CHANGED, confirm
from heal_bot.verify.lab import SandboxLab, questioned
from heal_bot.verify.scope import Look
from heal_bot.verify.trial import open_session

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
    begun = _begun(run, request, report, tree, edges)
    if isinstance(begun, Outcome):
        return begun
    report, env, baseline = begun.report, begun.env, begun.baseline
    if not baseline.confirmed:
        return conclusion.unconfirmed(request, report, baseline)
    _plan(run, report, baseline)
    clusters = _permitted(request, ranking.locate(run, baseline, tree, request.targets))
    lab = SandboxLab(run, runner, workspace, tree, env)
    ledger = Ledger(tree, remembered, request.instruction, env.lock_hash, lab)
    judge = partial(open_session, run, runner, tree, env, baseline)
    limits = replace(limits, confirmation_seconds=1.5 * baseline.suite.seconds)
    ledger.notes.extend(legs.unconfirmed(baseline, env))
    found = Found(request, report, baseline, clusters)
    conclude = partial(conclusion.concluded, run, started, found, edges.proposers, ledger)
    for proposal in loop.proposals(run, clusters, edges.proposers, judge, ledger, limits):
        verified = _verified(run, proposal, request, edges, tree, env, baseline)
        ledger.settle(run, proposal, verified)
        edges.store.save(conclude())
    ledger.confirmed = questioned(run, ledger.confirmed, edges.critics, clusters, tree, lab)
    return conclude()


@dataclass(frozen=True, slots=True)
class _Begun:
    """What fails before any change: the report with remarks, the environment, the baseline."""

    report: Report
    env: Environment
    baseline: Baseline


def _begun(
    run: Run, request: HealRequest, report: Report, tree: Tree, edges: Edges
) -> _Begun | Outcome:
    """Reproduce the failures; once more where the environment turns out to lack plugins."""
    env = edges.workspace.provision(run, tree, report.hints)
    begun: _Begun | Outcome | None = None
    lacking: tuple[str, ...] = ()
    try:
        begun = _reproduced(run, request, report, tree, env, edges.runner)
        if isinstance(begun, _Begun):
            lacking = plugins.missing(report, begun.baseline.suite, tree)
    except SandboxError as error:
        lacking = plugins.named(str(error))
        if not lacking:
            raise
    if not lacking and begun is not None:
        return begun
    try:
        env = _completed(run, report, tree, env, edges.workspace, lacking)
    except ProvisionError as error:
        if begun is None:
            raise
        run.emit(Noted(stage="workspace", message=str(error), level="warning"))
        return begun
    return _reproduced(run, request, report, tree, env, edges.runner)


def _completed(
    run: Run,
    report: Report,
    tree: Tree,
    env: Environment,
    workspace: Workspace,
    lacking: tuple[str, ...],
) -> Environment:
    """The environment with the plugins it lacks; ProvisionError where it cannot be given them."""
    names = ", ".join(lacking)
    hints = replace(report.hints, plugins=(*report.hints.plugins, *lacking))
    try:
        fuller = workspace.provision(run, tree, hints)
    except ProvisionError as error:
        raise ProvisionError(
            f"the tests need {names}, which is not installed and cannot be added ({error}): "
            "install it in the test environment, or declare it"
        ) from error
    if fuller == env:
        raise ProvisionError(
            f"the tests need {names}, which {env.python} does not have; an environment that is "
            "there is not changed: install it there"
        )
    message = f"the tests need {names}: the environment has it now, and they run again"
    run.emit(Noted(stage="workspace", message=message, level="info"))
    return fuller


def _reproduced(
    run: Run, request: HealRequest, report: Report, tree: Tree, env: Environment, runner: Runner
) -> _Begun | Outcome:
    """The failures of the report, or those of a run without one, as they are in an environment."""
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
    return _Begun(report, env, baseline)


def _verified(
    run: Run,
    proposal: Proposal,
    request: HealRequest,
    edges: Edges,
    tree: Tree,
    env: Environment,
    baseline: Baseline,
) -> Confirmed | Verdict:
    """What cold runs say of a proposal: by itself, merged with its base, under the own command."""
    if reason := outside(request.paths, (edit.target.path for edit in proposal.edits)):
        return Verdict("unconfirmed", detail=reason)
    workspace, runner = edges.workspace, edges.runner
    verified = confirm(run, proposal, workspace, tree, env, runner, baseline)
    held = merged.held(run, verified, request.tested_sha, tree, workspace, env, runner, baseline)
    held = command.held(run, held, request, tree, workspace, env, runner)
    if held is not verified and isinstance(held, Confirmed) and workspace.changed(env):
        return Verdict("unconfirmed", detail=CHANGED)
    return held


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
