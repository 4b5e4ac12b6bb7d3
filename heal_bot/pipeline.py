"""The whole story: a failed run goes in, an outcome with at most one verified patch comes out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from heal_bot import conclusion
from heal_bot.conclusion import RunFindings
from heal_bot.core.errors import BudgetError, ProvisionError, SandboxError
from heal_bot.core.events import Noted, Planned, Run
from heal_bot.core.model import (
    Baseline,
    Cluster,
    Collection,
    Confirmed,
    Environment,
    HealRequest,
    History,
    Memory,
    Outcome,
    Proposal,
    Report,
    RunHints,
    Trust,
    Verdict,
)
from heal_bot.fault_localization import collection_suspects
from heal_bot.history import package_bisection
from heal_bot.history.bisection import BisectionBench
from heal_bot.history.changes import find_changes
from heal_bot.junit import excluded_failures, reader, reported_tests, test_selection
from heal_bot.ports import Critic, Proposer, Runner, Store, Tree, Workspace
from heal_bot.repair.search import scheduler
from heal_bot.repair.search.attempt_log import AttemptLog
from heal_bot.repair.search.cluster_search import SearchLimits
from heal_bot.source.allowed_paths import explain_outside, permits
from heal_bot.verification import (
    matrix_results,
    missing_plugins,
    non_code_causes,
    older_python,
    stale_test_history,
    suite_time_budget,
    test_merge_commit,
    verify_command,
)
from heal_bot.verification.baseline import remark_on_ids, reproduce
from heal_bot.verification.final_check import confirm
from heal_bot.verification.measured_change import TAMPERED
from heal_bot.verification.sandbox_lab import Panel, SandboxLab
from heal_bot.verification.suite_time_budget import SuitePlan
from heal_bot.verification.warm_trial import open_session


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
    limits: SearchLimits,
) -> Outcome:
    """Heal what `request` names; `root` is where its reports lie.

    Expected failures are outcomes; HealBotError is raised only where nothing can be said.
    """
    started = run.clock()
    if request.trust is Trust.REFUSED:
        return Outcome(request, "refused", "done", f"{request.actor} may not ask here", Report(()))
    workspace, runner = edges.workspace, edges.runner
    tree = workspace.checkout(run, request.base_sha)
    report = _read(run, request, root, tree, workspace.committed(run, tree.sha))
    left = _set_aside(run, request, report, tree, root)
    begun = left if isinstance(left, Outcome) else _begun(run, request, left, tree, edges)
    if isinstance(begun, Outcome):
        return begun
    begun = _dated(run, request, begun, tree, edges)
    report, env, baseline, history = begun.report, begun.env, begun.baseline, begun.history
    if not baseline.confirmed:
        return conclusion.conclude_unconfirmed(request, report, baseline, begun.remark, history)
    _plan(run, report, baseline)
    for one in history.regressions[:1]:
        tree = workspace.since(tree, one.good_sha)
    located = collection_suspects.locate(run, baseline, tree, request.targets, history.regressions)
    clusters = _permitted(request, located)
    lab = SandboxLab(run, runner, workspace, tree, env)
    ledger = AttemptLog(
        tree, remembered, request.instruction, env.lock_hash, lab, history.regressions,
        baseline.suite.spectrum, request.paths, env.version, baseline.passed,
    )  # fmt: skip
    judge = partial(open_session, run, runner, tree, env, baseline)
    limits = replace(limits, confirmation_seconds=1.5 * baseline.suite.seconds)
    ledger.notes += [*matrix_results.list_unconfirmed(baseline, env), *filter(None, [begun.remark])]
    ledger.notes += remark_on_ids(baseline.unsteady)
    found = RunFindings(request, report, baseline, clusters, history)
    conclude = partial(conclusion.conclude, run, started, found, edges.proposers, ledger)
    panel = Panel(run, edges.critics, clusters, tree, lab, baseline.passed)
    for proposal in scheduler.proposals(run, clusters, edges.proposers, judge, ledger, limits):
        verified = _verified(run, proposal, request, edges, tree, begun)
        if not ledger.lacks(proposal, verified):
            verified = panel.heard(verified)
        ledger.settle(run, proposal, verified)
        edges.store.save(conclude())
    _withdraw_refused(ledger, history, panel)
    return conclude()


def _set_aside(
    run: Run, request: HealRequest, report: Report, tree: Tree, root: Path
) -> Report | Outcome:
    """What of the report is to be healed; the outcome where it tells that nothing is."""
    if not request.reports:
        return report
    left = excluded_failures.set_aside(request, report, tree, root)
    if left.reason:
        run.emit(Noted(stage="intake", message=left.reason, level="warning"))
    if reported_tests.is_green(left.report):
        reason = left.reason or "the report names no failure"
        return Outcome(request, left.status, "done", reason, left.report)
    if why := excluded_failures.explain_doctests(left.report):
        return Outcome(request, "explained", "done", why, left.report)
    return left.report


def _withdraw_refused(ledger: AttemptLog, history: History, panel: Panel) -> None:
    """Take back suggestions that a package outweighs or a critic refuses, until one stands."""
    while (suggestion := ledger.suggestion) and (
        why := package_bisection.explain_outweighed(suggestion, history.packages)
        or panel.refusal(suggestion.confirmed)
    ):
        ledger.withdraw(suggestion, why)


@dataclass(frozen=True, slots=True)
class _Begun:
    """What fails before any change: the report with remarks, the environment, the baseline.

    `remark` says what became of plugins that the environment lacked, `history` which commits and
    packages broke tests.
    """

    report: Report
    env: Environment
    baseline: Baseline
    remark: str = ""
    history: History = field(default_factory=History)


def _begun(
    run: Run, request: HealRequest, report: Report, tree: Tree, edges: Edges
) -> _Begun | Outcome:
    """Reproduce the failures; once more where the environment turns out to lack plugins."""
    with conclusion.add_report_message(report):
        env = _provisioned(run, tree, report.hints, edges.workspace)
    begun: _Begun | Outcome | None = None
    lacking: tuple[str, ...] = ()
    try:
        begun = _reproduced(run, request, report, tree, env, edges.runner)
        if isinstance(begun, _Begun):
            lacking = missing_plugins.find_missing(report, begun.baseline.suite, tree, env)
    except SandboxError as error:
        lacking = missing_plugins.find_stopping(report, str(error), tree, env)
        if not lacking:
            raise
    if not lacking and begun is not None:
        return begun
    before = begun if isinstance(begun, _Begun) else None
    try:
        env = _completed(run, report, tree, env, edges.workspace, lacking)
    except ProvisionError as error:
        if before is None:
            raise
        run.emit(Noted(stage="workspace", message=str(error), level="warning"))
        return replace(before, remark=str(error))
    return _again(run, request, report, tree, env, edges.runner, lacking, before)


def _dated(run: Run, request: HealRequest, begun: _Begun, tree: Tree, edges: Edges) -> _Begun:
    """The same, with what changed since the tests passed: commits, packages, or the Python."""
    workspace, runner, env = edges.workspace, edges.runner, begun.env
    hints, baseline = begun.report.hints, begun.baseline
    added = tuple(name.partition(" ")[0] for name in env.added)
    known = replace(hints, plugins=(*hints.plugins, *added))
    bench = BisectionBench(workspace, runner, env, known, baseline.suite.seconds)
    versions = non_code_causes.select_versions(baseline, tree, env)
    good, green = request.good, request.green
    history = find_changes(run, good, green, tree, baseline, bench, versions)
    baseline = stale_test_history.find_outdated(
        package_bisection.mark_explained(baseline, history.packages), history, tree
    )
    if not history.regressions:
        baseline = older_python.compare_pythons(run, baseline, tree, env, hints, workspace, runner)
    return replace(begun, baseline=baseline, history=history)


def _again(
    run: Run,
    request: HealRequest,
    report: Report,
    tree: Tree,
    env: Environment,
    runner: Runner,
    added: tuple[str, ...],
    before: _Begun | None,
) -> _Begun | Outcome:
    """The failures with the plugins added; as they were `before` where these stop the tests."""
    names = ", ".join(added)
    kept = before if before is not None and before.baseline.confirmed else None
    try:
        begun = _reproduced(run, request, report, tree, env, runner)
        why = _stopped(begun, kept)
    except (BudgetError, SandboxError) as error:
        if kept is None:
            raise
        begun, why = kept, str(error)
    if kept is None or not why:
        if isinstance(begun, Outcome):
            return begun
        return replace(begun, remark=f"{names} was added to the environment and is there now")
    message = f"with {names} added the tests do not run ({why}): what ran without counts"
    run.emit(Noted(stage="workspace", message=message, level="warning"))
    runner.preflight(run, kept.env)
    return replace(kept, remark=message)


def _stopped(begun: _Begun | Outcome, before: _Begun | None) -> str:
    """What keeps tests that were confirmed before from running; '' where they run."""
    if before is None or isinstance(begun, Outcome):
        return begun.reason if isinstance(begun, Outcome) else ""
    if begun.baseline.confirmed:
        return ""
    if begun.baseline.suite.ended != "finished":
        return begun.baseline.suite.detail or begun.baseline.suite.ended
    known = {failure.test for failure in before.baseline.confirmed}
    items = (i for i in begun.baseline.reproduced if i.failure.test in known)
    return next((i.failure.reason for i in items if i.status in {"environment", "explained"}), "")


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
        fuller = _provisioned(run, tree, hints, workspace)
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


def _provisioned(run: Run, tree: Tree, hints: RunHints, workspace: Workspace) -> Environment:
    """The environment, in which pytest collects the examples that the failing run collected."""
    return replace(workspace.provision(run, tree, hints), doctests=hints.doctests)


def _reproduced(
    run: Run, request: HealRequest, report: Report, tree: Tree, env: Environment, runner: Runner
) -> _Begun | Outcome:
    """The failures of the report, or those of a run without one, as they are in an environment."""
    runner.preflight(run, env)
    meant = test_selection.guess_meant(request, report, tree)
    look = SuitePlan(Collection(()))
    if request.reports:
        look = suite_time_budget.plan_suite(run, report, tree, env, runner, meant)
    wanted = test_selection.select_wanted(run, request, report, tree, look.collection)
    report = reported_tests.add_remarks(report, wanted)
    if wanted.nothing:
        return Outcome(request, "nothing_to_do", "done", wanted.nothing, report)
    if wanted.whole:
        first = wanted.failures
        baseline = reproduce(run, None, tree, env, runner, look.seen, first=first)
    else:
        failures = wanted.failures
        selected = (
            None
            if look.fits
            else suite_time_budget.choose_tests(run, report, look.collection, failures)
        )
        baseline = reproduce(run, failures, tree, env, runner, look.seen, selected)
    return _Begun(report, env, baseline)


def _verified(
    run: Run,
    proposal: Proposal,
    request: HealRequest,
    edges: Edges,
    tree: Tree,
    begun: _Begun,
) -> Confirmed | Verdict:
    """What cold runs say of a proposal: by itself, merged with its base, under the own command.

    Where packages broke tests it has to hold with their former versions as well.
    """
    if reason := explain_outside(request.paths, (edit.target.path for edit in proposal.edits)):
        return Verdict("unconfirmed", detail=reason)
    workspace, runner = edges.workspace, edges.runner
    env, baseline = begun.env, begun.baseline
    verified = confirm(run, proposal, workspace, tree, env, runner, baseline)
    held = test_merge_commit.check_merge_commit(
        run, verified, request.tested_sha, tree, workspace, env, runner, baseline
    )
    held = verify_command.run_commands(run, held, request, tree, workspace, env, runner)
    held = package_bisection.check_former_packages(
        run, held, begun.history.packages, tree, workspace, env, runner
    )
    if held is not verified and isinstance(held, Confirmed) and workspace.changed(env):
        return TAMPERED
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


def _read(run: Run, request: HealRequest, root: Path, tree: Tree, made: float) -> Report:
    """The reports of the request as one; an empty one when there are none.

    A path that a person typed may lie outside of the repository. `made` is when the commit was.
    """
    if not request.reports:
        return Report(())
    typed = request.trigger == "command"
    report = reader.read(run, root, request.reports, absolute=typed, not_before=made)
    for remark in report.skipped:
        run.emit(Noted(stage="intake", message=remark, level="warning"))
    doctests = reported_tests.find_doctests(report, tree.paths())
    python = report.hints.python or request.python
    return replace(report, hints=replace(report.hints, python=python, doctests=doctests))


def _plan(run: Run, report: Report, baseline: Baseline) -> None:
    """Say before the search what the report could not: how long the suite takes, what is left."""
    if not report.hints.seconds:
        seconds = baseline.suite.seconds
        run.emit(Planned(suite_seconds=seconds, confirmations=2, minutes_left=run.left() / 60))
