"""The verdict of record: a proposal in a fresh checkout, the whole suite, cold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from heal_bot.core.events import Run
from heal_bot.core.model import (
    Baseline,
    Candidate,
    Confirmed,
    Patch,
    Proposal,
    SuiteRun,
    Verdict,
    doubt_reversal,
)
from heal_bot.core.statuses import SuiteEnd, VerdictStatus
from heal_bot.core.text import count, name_first
from heal_bot.ports import Ask, RunContext, Tree
from heal_bot.source import edit, patch_policy
from heal_bot.source.guard import SourceRejected
from heal_bot.verification import measured_change, stale_test_history, suite_time_budget
from heal_bot.verification.baseline import remark_on_ids
from heal_bot.verification.certificate import (
    CertificateFindings,
    certify,
    protected_hash,
    protected_paths,
)
from heal_bot.verification.flaky_reruns import is_unsteady
from heal_bot.verification.load_reruns import settle_load
from heal_bot.verification.regression_or_flaky import broken_tests
from heal_bot.verification.supplementary_runs import Proof, doubt_slower

# The seeds of string hashes: what depends on the order of a set passes under some alone. They
# count from 0: `steadiness` asks for a run under the seed of a suite by the suite's place.
_RUNS = (0, 1)
# More of them for the failing tests, where changed functions hold a set, a clock or the like.
_MORE = (2, 3, 4)


@dataclass(frozen=True, slots=True)
class _Runs:
    """What ran: the suite, the failing tests under other seeds, what the proof asked for."""

    suites: tuple[SuiteRun, ...]
    again: tuple[SuiteRun, ...]
    proofs: tuple[SuiteRun, ...]
    outside: SuiteRun | None
    doubts: tuple[str, ...]


def confirm(context: RunContext, proposal: Proposal, baseline: Baseline) -> Confirmed | Verdict:
    """A patch with its certificate, or the `unconfirmed` verdict the search learns from.

    The suite runs twice side by side, each time in a fresh copy of a fresh checkout and under
    another seed of string hashes. A reported test is fixed when it passes in every run. One that
    passed before and fails now rejects the proposal, unless it proves flaky: that is a doubt. Runs
    with the change made to raise, and with the change in another process, show whether tests pass
    because of it.
    """
    run, tree = context.run, context.tree
    undoes = max(_list_undone(proposal), default=None)
    candidate = Candidate(proposal.edits, "heal-bot", "proposal", undoes=undoes)
    try:
        files = edit.patch_files(tree, proposal.edits)
    except (edit.EditError, SourceRejected) as error:
        return Verdict(VerdictStatus.UNCONFIRMED, detail=f"the changes do not go together: {error}")
    fresh = context.patched(files)
    collected = baseline.suite.collected
    if protected_hash(tree, collected) != protected_hash(fresh, collected, tree):
        kept = {file.path for file in files}.intersection(protected_paths(tree, collected))
        said = f"{', '.join(sorted(kept))} would change, which tests, the build or CI rest on"
        return Verdict(VerdictStatus.UNCONFIRMED, detail=said)
    proof = Proof.of(context, fresh, candidate, files, baseline)
    outside = proof.outside()
    proof = proof.beside(outside)
    baseline = suite_time_budget.narrow_baseline(run, baseline, proposal.edits)
    runs = _ran(proof, baseline, outside)
    unusable = measured_change.explain_unusable(run, runs.suites, runs.again, baseline)
    if unusable is not None:
        return unusable
    renamed = _renamed(baseline, runs.suites)
    if steady := _steady(context, baseline, renamed):
        return Verdict(
            VerdictStatus.UNCONFIRMED, detail=f"the patch changes the ids of {steady[0]}"
        )
    runs = replace(runs, doubts=(*runs.doubts, *remark_on_ids(renamed)))
    found = _judged(proposal, proof, baseline, runs)
    if isinstance(found, Confirmed) and context.workspace.changed(context.env):
        return measured_change.TAMPERED
    return found


def _ran(proof: Proof, baseline: Baseline, outside: SuiteRun | None) -> _Runs:
    """Every run there is of a proposal, side by side."""
    context, run, fresh = proof.context, proof.context.run, proof.fresh
    asks = [Ask(fresh, baseline.selected, hashes=seed) for seed in _seeds(run, baseline)]
    unsteady = is_unsteady(proof.candidate.edits)
    again = _again(run, fresh, baseline) if unsteady else ()
    run.show("verify", "final check", 1, len(asks) + len(again))
    done = context.run_many([*asks, *again, *proof.asks.values()])
    begin, end = len(asks), len(asks) + len(again)
    for number, suite in enumerate(done[:end], 1):
        purpose = "final check" if number <= begin else "failing tests, other hash seed"
        run.tell_suite("verify", f"{purpose} {number} of {end}", suite, baseline.suite)
    wanted = [*asks, *again]
    listed = {failure.test for failure in baseline.confirmed}
    judged, unsure = settle_load(context, wanted, done[:end], listed)
    suites = judged[:begin]
    doubts = list(unsure)
    if unsteady and not again:
        doubts.append("there was no time to run the failing tests under more hash seeds")
    return _Runs(suites, judged[begin:], done[end:], outside, tuple(doubts))


def _renamed(baseline: Baseline, suites: Sequence[SuiteRun]) -> tuple[str, ...]:
    """The functions whose ids are others than before, without those that were known for it."""
    found = {name for suite in suites for name in suite.unsteady}
    return tuple(sorted(found.difference(baseline.unsteady)))


def _steady(context: RunContext, baseline: Baseline, functions: Sequence[str]) -> list[str]:
    """Those whose ids stay the same without the patch: in other folders, later, by other seeds."""
    if not functions:
        return []
    asks = [Ask(context.tree, baseline.selected, hashes=seed, collect=True) for seed in _RUNS]
    moving = {name for collected in context.run_many(asks) for name in collected.unsteady}
    return [name for name in functions if name not in moving]


def _judged(
    proposal: Proposal, proof: Proof, baseline: Baseline, runs: _Runs
) -> Confirmed | Verdict:
    """What the runs come to."""
    context, candidate, suites = proof.context, proof.candidate, runs.suites
    tree, edits = context.tree, candidate.edits
    broken = broken_tests(context, proof.fresh, baseline, suites)
    if broken.results:
        kinds = "test that passed before", "tests that passed before"
        told = name_first(len(broken.results), broken.results[0].test, *kinds)
        return Verdict(
            VerdictStatus.UNCONFIRMED,
            newly_failing=tuple(result.as_failure() for result in broken.results),
            detail=f"the cold run breaks {told}",
            cause=measured_change.find_breaker(broken, edits, baseline),
        )
    fixed = _fixed((*suites, *runs.again), baseline)
    if not fixed:
        return _nothing(suites[0], baseline, sometimes=any(_fixed((s,), baseline) for s in suites))
    undone = [test for test in baseline.outdated if all(test in suite.passed for suite in suites)]
    if undone:
        said = f"{undone[0]} passes with it, which contradicts what a commit says that it means"
        return Verdict(VerdictStatus.UNCONFIRMED, detail=said)
    shown = proof.read(fixed, runs.proofs, runs.outside)
    if shown.veto:
        return Verdict(VerdictStatus.UNCONFIRMED, detail=shown.veto)
    rivals = [doubt for winner in proposal.winners for doubt in winner.doubts]
    commits = _find_undone(proposal, tree)
    short = (f"`{sha[:7]}`" for sha in commits)
    untold = (sha for sha in short if sha not in "".join(rivals))
    label = [doubt_reversal(f"takes back the code of {sha}") for sha in untold]
    reached = patch_policy.list_doubts(candidate, tree)
    objections = (*reached, *shown.doubts)
    # What decides stands first: what the change is, what it leaves, then what it reaches for.
    doubts = (
        *label, *rivals, *shown.doubts, *reached, *broken.doubts, *doubt_slower(baseline, suites),
        *_doubts(suites, baseline), *runs.doubts,
    )  # fmt: skip
    patch = Patch(
        base_sha=tree.sha,
        files=proof.files,
        diff=edit.diff_all(tree, proof.files),
        edits=edits,
        fixed=fixed,
        still_failing=tuple(f.test for f in baseline.confirmed if f.test not in fixed),
        reason="\n".join(winner.candidate.rationale for winner in proposal.winners),
    )
    undoes = next(iter(commits), "")
    found = CertificateFindings(shown.method, shown.gates, tuple(dict.fromkeys(doubts)), undoes)
    certificate = certify(patch, tree, context.env, baseline, suites, found)
    return Confirmed(patch, certificate, objections)


def _find_undone(proposal: Proposal, tree: Tree) -> list[str]:
    """The commits that changes take back: those that their proposers name, else a guess."""
    named = _list_undone(proposal) or [stale_test_history.find_undone(proposal.edits, tree)]
    return list(dict.fromkeys(filter(None, named)))


def _list_undone(proposal: Proposal) -> list[str]:
    """The commits that winners say they take back; "" for a part of one."""
    return [w.candidate.undoes for w in proposal.winners if w.candidate.undoes is not None]


def _nothing(suite: SuiteRun, baseline: Baseline, *, sometimes: bool) -> Verdict:
    """The verdict where no listed test passes in every run."""
    red = {result.test: result for result in suite.results}
    left = tuple(red[f.test].as_failure() for f in baseline.confirmed if f.test in red)
    detail = "nothing passes in the cold run"
    if sometimes:
        detail = (
            "nothing passes in each cold run, which differ in the seed of string hashes: does the"
            " change depend on the order of a set?"
        )
    cause = measured_change.find_missing(suite, baseline)
    return Verdict(VerdictStatus.UNCONFIRMED, still_failing=left, detail=detail, cause=cause)


def _seeds(run: Run, baseline: Baseline) -> tuple[int, ...]:
    """Two confirmations, side by side; one where the time left allows no second."""
    return _RUNS if run.left() > 1.2 * baseline.suite.seconds else _RUNS[:1]


def _again(run: Run, fresh: Tree, baseline: Baseline) -> tuple[Ask, ...]:
    """The failing tests under more seeds; none where the time left does not allow it."""
    if run.left() < 2 * len(_MORE) * baseline.suite.seconds:
        return ()
    red = tuple(failure.test for failure in baseline.confirmed)
    return tuple(Ask(fresh, red, hashes=seed) for seed in _MORE)


def _fixed(suites: Sequence[SuiteRun], baseline: Baseline) -> tuple[str, ...]:
    """The confirmed failures that pass in every run."""
    skipped = {result.test: result.skipped for result in baseline.suite.results}
    passing = [_passing(suite, skipped) for suite in suites]
    return tuple(f.test for f in baseline.confirmed if all(f.test in tests for tests in passing))


def _passing(suite: SuiteRun, skipped: Mapping[str, int]) -> frozenset[str]:
    """The tests that pass, and the files of which some tests pass and none fails.

    One that skips more subtests than it did passes no more than one that is skipped.
    """
    red = {result.test.partition("::")[0] for result in suite.red}
    whole = {r.test for r in suite.results if r.skipped <= skipped.get(r.test, r.skipped)}
    return (suite.passed & whole) | ({test.partition("::")[0] for test in suite.passed} - red)


def _doubts(suites: Sequence[SuiteRun], baseline: Baseline) -> tuple[str, ...]:
    """What a reviewer should know of the runs themselves."""
    doubts = []
    if not baseline.whole:
        tests = count(len(baseline.selected or ()), "impacted test")
        cut = baseline.suite.ended in {SuiteEnd.FINISHED, SuiteEnd.TIMEOUT}
        why = "in the time given" if cut else "as the suite does not come to its end"
        doubts.append(
            f"only {tests} ran, {why}: let the repository's own CI run the whole suite before this"
            " is merged"
        )
    if len(suites) < len(_RUNS):
        doubts.append(f"the suite was confirmed by {len(suites)} of {len(_RUNS)} runs")
    if any(suite.isolation.missing for suite in suites):
        doubts.append("the tests ran with reduced isolation; see the certificate")
    if not baseline.suite.finished:
        doubts.append(f"the suite did not finish before the patch: {baseline.suite.detail}")
    return tuple(doubts)
