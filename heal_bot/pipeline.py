"""The whole story: a failed run goes in, an outcome with at most one verified patch comes out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from heal_bot import conclusion
from heal_bot.conclusion import RunFindings
from heal_bot.core.errors import ProvisionError, SandboxError
from heal_bot.core.events import Planned, Run
from heal_bot.core.model import (
    Baseline,
    Cluster,
    Collection,
    Confirmed,
    Failure,
    HealRequest,
    History,
    Isolation,
    Memory,
    Outcome,
    Proposal,
    Report,
    Reproduced,
    Suite,
    SuiteRun,
    Trust,
    Verdict,
)
from heal_bot.core.statuses import FailureStatus, OutcomeStatus, SuiteEnd, VerdictStatus
from heal_bot.core.text import one_line
from heal_bot.fault_localization import collection_suspects
from heal_bot.history import bisection, package_bisection
from heal_bot.history.changes import find_changes
from heal_bot.junit import excluded_failures, reader, reported_tests, selected_tests
from heal_bot.ports import Brief, Critic, Lab, Proposer, RunContext, Runner, Store, Tree, Workspace
from heal_bot.repair.search import scheduler
from heal_bot.repair.search.attempt_log import AttemptLog
from heal_bot.repair.search.cluster_search import SearchLimits
from heal_bot.source.allowed_paths import explain_outside, permits
from heal_bot.source.workflow_files import find_variables
from heal_bot.verification import (
    matrix_results,
    non_code_causes,
    older_python,
    reproduction,
    stale_test_history,
    stored_expectations,
    suite_time_budget,
)
from heal_bot.verification.baseline import remark_on_ids, reproduce
from heal_bot.verification.environment_differences import doubt_environment
from heal_bot.verification.final_check import confirm
from heal_bot.verification.measured_change import TAMPERED
from heal_bot.verification.merge_commit_check import check_merge_commit
from heal_bot.verification.reproduction import Reproduction
from heal_bot.verification.snippet_lab import Panel, SandboxLab
from heal_bot.verification.suite_time_budget import SuitePlan
from heal_bot.verification.verify_command import run_commands
from heal_bot.verification.warm_trial import open_session

Gate = Callable[[RunContext, Confirmed], Confirmed | Verdict]


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
        return Outcome(
            request, OutcomeStatus.REFUSED, "done", f"{request.actor} may not ask here", Report(())
        )
    tree = edges.workspace.checkout(run, request.base_sha)
    report = _read(run, request, root, tree, edges.workspace)
    left = _set_aside(run, request, report, tree, root)
    seen = left if isinstance(left, Outcome) else _reproduce(run, request, left, tree, edges)
    if isinstance(seen, Outcome):
        return replace(seen, memory=remembered)
    report, (baseline, history) = seen.report, _find_changes(request, seen)
    if not baseline.confirmed:
        return conclusion.conclude_unconfirmed(request, report, baseline, seen.remark, history)
    _plan(run, report, baseline)
    context = _count_changes_since(seen.context, history)
    clusters = _locate_clusters(run, context.tree, request, baseline, history)
    lab = SandboxLab(context)
    found = RunFindings(request, report, baseline, clusters, history)
    ledger = _open_log(context, found, remembered, lab, seen.remark, limits.min_confidence)
    panel = Panel(run, edges.critics, _brief_critics(context, found), lab)
    judge = partial(open_session, context, baseline, regressions=history.regressions)
    limits = replace(limits, confirmation_seconds=1.5 * baseline.suite.seconds)
    conclude = partial(conclusion.conclude, run, started, found, edges.proposers, ledger)
    for proposal in scheduler.proposals(run, clusters, edges.proposers, judge, ledger, limits):
        verified = _verify(context, proposal, found)
        if not ledger.lacks(proposal, verified):
            verified = panel.heard(verified)
        ledger.settle(run, proposal, verified)
        edges.store.save(conclude())
    _hear_suggestion(ledger, history, panel)
    ledger.accept_likely()
    _confirm_rival(context, found, ledger, panel)
    ledger.take_answer(request.choice)
    return conclude()


def _set_aside(
    run: Run, request: HealRequest, report: Report, tree: Tree, root: Path
) -> Report | Outcome:
    """What of the report is to be healed; the outcome where it tells that nothing is."""
    if not request.reports:
        return report
    left = excluded_failures.set_aside(request, report, tree, root)
    if left.reason:
        run.warn("intake", left.reason)
    if reported_tests.is_green(left.report):
        reason = left.reason or "the report names no failure"
        return Outcome(request, left.status, "done", reason, left.report)
    if why := excluded_failures.explain_doctests(left.report):
        return Outcome(request, OutcomeStatus.EXPLAINED, "done", why, left.report)
    return left.report


def _brief_critics(context: RunContext, found: RunFindings) -> Brief:
    """What critics know of a run: all of its failures, and the commits that broke them."""
    failures = tuple(failure for cluster in found.clusters for failure in cluster.failures)
    return Brief(
        Cluster("review", failures, ()), context.tree,
        regressions=found.history.regressions, python=context.env.version,
        passed=found.baseline.passed, spectrum=found.baseline.suite.spectrum,
    )  # fmt: skip


def _hear_suggestion(ledger: AttemptLog, history: History, panel: Panel) -> None:
    """Take back suggestions that a package outweighs or a critic refuses, until one stands."""
    while suggestion := ledger.suggestion:
        if why := package_bisection.explain_outweighed(suggestion, history.packages):
            ledger.withdraw(suggestion, why)
            continue
        if suggestion.confirmed.heard:
            return
        if isinstance(heard := panel.heard(suggestion.confirmed), Verdict):
            ledger.withdraw(suggestion, heard.detail)
        else:
            ledger.hear(suggestion, heard)


def _confirm_rival(
    context: RunContext, found: RunFindings, ledger: AttemptLog, panel: Panel
) -> None:
    """Try the rival of the suggestion: where it holds too a person is asked, else it is no rival.

    What had no other rival is then what it is rated alone.
    """
    run, first, rival = context.run, ledger.suggestion, ledger.rival()
    late = run.over() or run.left() < found.baseline.suite.seconds
    if first is None or rival is None or late:
        return
    verified = _verify(context, rival, found)
    if isinstance(verified, Confirmed) and (why := panel.refusal(verified)):
        verified = Verdict(VerdictStatus.UNCONFIRMED, detail=why)
    ledger.settle(run, rival, verified)
    alone = first.attempt.rival.alone if first.attempt.rival else None
    if isinstance(verified, Verdict) and verified.measured and alone is not None:
        ledger.settle(run, Proposal((alone,)), first.confirmed)
        ledger.accept_likely()


def _reproduce(
    run: Run, request: HealRequest, report: Report, tree: Tree, edges: Edges
) -> Reproduction | Outcome:
    """What of the report fails here, in an environment that has what the tests need.

    Where none of them can run, the outcome has what the report alone tells.
    """
    try:
        with conclusion.add_report_message(report):
            env = edges.workspace.provision(run, tree, report.hints)
        given = find_variables(tree, request.job)
        suite = Suite(one_line(request.test_command, 80))
        env = replace(env, doctests=report.hints.doctests, variables=given.fixed, suite=suite)
        context = RunContext(run, edges.runner, edges.workspace, tree, env)
        observe = partial(_observe, request, report)
        seen = reproduction.reproduce_completed(context, report, observe)
        return reproduction.reproduce_with(given.choices, seen, observe)
    except (ProvisionError, SandboxError) as error:
        told = selected_tests.guess_meant(request, report, tree)
        if run.over() or not told:
            raise
        return _add_suspects(run, conclusion.conclude_unrun(request, error, report), tree, told)


def _add_suspects(run: Run, outcome: Outcome, tree: Tree, told: Sequence[Failure]) -> Outcome:
    """The outcome with suspects, found by the report's tracebacks and test names alone."""
    nothing = SuiteRun((), (), SuiteEnd.CRASHED, 0.0, Isolation("none", ()), outcome.reason)
    red = tuple(Reproduced(failure, FailureStatus.CONFIRMED) for failure in told)
    baseline = Baseline(red, nothing, 0)
    clusters = _locate_clusters(run, tree, outcome.request, baseline, History())
    left = tuple(replace(one, status=FailureStatus.NOT_ATTEMPTED) for one in red)
    return replace(outcome, baseline=replace(baseline, reproduced=left), clusters=clusters)


def _observe(request: HealRequest, report: Report, context: RunContext) -> Reproduction | Outcome:
    """The failures of the report, or those of a run without one, as they are in an environment."""
    run, tree = context.run, context.tree
    context.runner.preflight(run, context.env)
    look = SuitePlan(Collection(()))
    meant = selected_tests.guess_meant(request, report, tree)
    if request.reports:
        look = suite_time_budget.plan_suite(context, report, tuple(one.test for one in meant))
    wanted = selected_tests.select_wanted(run, request, report, tree, look.collection)
    report = reported_tests.add_remarks(report, wanted)
    if wanted.nothing:
        return Outcome(request, OutcomeStatus.NOTHING_TO_DO, "done", wanted.nothing, report)
    failures, selected = wanted.failures, None
    if wanted.whole:
        return Reproduction(context, report, reproduce(context, None, look.seen, first=failures))
    if not look.fits:
        selected = suite_time_budget.choose_tests(run, report, look.collection, failures)
    baseline = reproduce(context, failures, look.seen, selected)
    return Reproduction(context, report, doubt_environment(report, baseline, tree))


def _find_changes(request: HealRequest, seen: Reproduction) -> tuple[Baseline, History]:
    """What changed since the tests passed, commits, packages, or the Python, and what it tells."""
    context, hints = seen.context, seen.report.hints
    baseline = _doubt_services(context, request.good, seen.baseline)
    added = tuple(name.partition(" ")[0] for name in context.env.added)
    known = replace(hints, plugins=(*hints.plugins, *added))
    versions = non_code_causes.select_versions(baseline, context.tree, context.env)
    history = find_changes(context, request.good, request.green, baseline, known, versions)
    baseline = package_bisection.mark_explained(baseline, history.packages)
    baseline = stored_expectations.mark_stale(baseline, history.regressions)
    baseline = stale_test_history.find_outdated(baseline, history, context.tree)
    if not history.regressions:
        baseline = older_python.compare_pythons(context, baseline, hints)
    return baseline, history


def _doubt_services(context: RunContext, good: str, baseline: Baseline) -> Baseline:
    """The baseline, with tests `confirmed` which lack a service that they did without before."""
    services = non_code_causes.select_services(baseline)
    passing = bisection.list_passing_before(context, good, services)
    reproduced = tuple(
        replace(one, status=FailureStatus.CONFIRMED) if one.failure.test in passing else one
        for one in baseline.reproduced
    )
    return replace(baseline, reproduced=reproduced)


def _count_changes_since(context: RunContext, history: History) -> RunContext:
    """The same, with what was changed counted from before the commit that broke most tests."""
    if not history.regressions:
        return context
    tree = context.workspace.since(context.tree, history.regressions[0].good_sha)
    return replace(context, tree=tree)


def _open_log(
    context: RunContext,
    found: RunFindings,
    remembered: Memory,
    lab: Lab,
    remark: str,
    least: float,
) -> AttemptLog:
    """The log of attempts as the search begins, with what a person should know of the baseline."""
    request, baseline, env = found.request, found.baseline, context.env
    notes = [*matrix_results.list_unconfirmed(baseline, env), *filter(None, [remark])]
    return AttemptLog(
        context.tree, remembered, request.instruction, env.lock_hash, lab,
        found.history.regressions, baseline.suite.spectrum, request.paths, env.version,
        baseline.passed, frozenset(baseline.outdated), least, stored=baseline.stored,
        notes=[*notes, *remark_on_ids(baseline.unsteady)],
    )  # fmt: skip


def _verify(context: RunContext, proposal: Proposal, found: RunFindings) -> Confirmed | Verdict:
    """What cold runs say of a proposal: by itself, merged with its base, under the own command.

    Where packages broke tests it has to hold with their former versions as well.
    """
    request, baseline = found.request, found.baseline
    if reason := explain_outside(request.paths, (edit.target.path for edit in proposal.edits)):
        return Verdict(VerdictStatus.UNCONFIRMED, detail=reason)
    gates: tuple[Gate, ...] = (
        partial(check_merge_commit, tested_sha=request.tested_sha, selected=baseline.selected),
        partial(run_commands, request=request),
        partial(package_bisection.check_former_packages, changes=found.history.packages),
    )
    confirmed = held = confirm(context, proposal, baseline)
    for gate in gates:
        if isinstance(held, Verdict):
            return held
        held = gate(context, held)
    ran = held is not confirmed and isinstance(held, Confirmed)
    return TAMPERED if ran and context.workspace.changed(context.env) else held


def _locate_clusters(
    run: Run, tree: Tree, request: HealRequest, baseline: Baseline, history: History
) -> tuple[Cluster, ...]:
    """The clusters of failures, without the suspects that may not be changed."""
    clusters = collection_suspects.locate(run, baseline, tree, request.targets, history)
    return tuple(
        replace(
            cluster,
            suspects=tuple(s for s in cluster.suspects if permits(request.paths, s.target.path)),
        )
        for cluster in clusters
    )


def _read(run: Run, request: HealRequest, root: Path, tree: Tree, workspace: Workspace) -> Report:
    """The reports of the request as one; an empty one when there are none.

    A path that a person typed may lie outside of the repository.
    """
    if not request.reports:
        return Report(())
    made = workspace.date_content(run, tree)
    typed = request.trigger == "command"
    report = reader.read_reports(run, root, request.reports, absolute=typed, not_before=made)
    for remark in report.skipped:
        run.warn("intake", remark)
    doctests = reported_tests.find_doctests(report, tree.paths())
    python = report.hints.python or request.python
    return replace(report, hints=replace(report.hints, python=python, doctests=doctests))


def _plan(run: Run, report: Report, baseline: Baseline) -> None:
    """Say before the search what the report could not: how long the suite takes, what is left."""
    if not report.hints.seconds:
        seconds = baseline.suite.seconds
        run.emit(Planned(suite_seconds=seconds, confirmations=2, minutes_left=run.left() / 60))
