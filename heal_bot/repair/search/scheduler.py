"""The search as a whole: cluster after cluster, and what the confirmations make of it."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import replace

from heal_bot.core.events import ClusterStarted, Noted, Run
from heal_bot.core.model import Attempt, Cluster, Proposal
from heal_bot.ports import Proposer
from heal_bot.repair.search.attempt_log import AttemptLog
from heal_bot.repair.search.cluster_search import Judge, SearchLimits, search_cluster

# Of the time left, what a search may take while other clusters wait.
_PART = 0.5


def proposals(
    run: Run,
    clusters: Sequence[Cluster],
    proposers: Sequence[Proposer],
    judge: Judge,
    ledger: AttemptLog,
    limits: SearchLimits,
) -> Generator[Proposal]:
    """Proposals to confirm, each holding every winner so far; the caller settles each in `ledger`.

    A cluster that the confirmed patch fixes as well needs no search. A winner that does not hold is
    dropped and the search of its cluster resumes. Where the dropped
    ones fix more than those that hold, they are offered in their place. Clusters whose best attempt
    fixed only a part are searched once more on top of what was confirmed.
    """
    # What the confirmation will take is not the search's to spend.
    reserve = min(1.5 * limits.confirmation_seconds + 5, run.left() / 2)
    hunting = replace(run, deadline=run.deadline - reserve)
    waiting: dict[str, Generator[Attempt]] = {}
    pending: list[Attempt] = []
    dropped: dict[str, Attempt] = {}
    for position, cluster in enumerate(clusters):
        clusters_left = len(clusters) - position - 1
        if _is_fixed(cluster, ledger):
            continue
        _announce(run, cluster, position + 1, len(clusters))
        found = search_cluster(
            _part(hunting, clusters_left), cluster, (), proposers, judge, ledger, limits
        )
        waiting[cluster.id] = found
        pending.extend(_compatible(next(found, None), (*ledger.held, *pending), ledger, run))
        if clusters_left and limits.confirmation_seconds * (clusters_left + 2) > run.left():
            continue
        yield from _settled(run, pending, waiting, ledger, dropped)
        pending = []
    yield from _settled(run, pending, waiting, ledger, dropped)
    yield from _instead(run, dropped, ledger)
    for number, cluster in _residual(clusters, ledger):
        _announce(run, cluster, number, len(clusters))
        base = Proposal(ledger.held).edits
        found = search_cluster(hunting, cluster, base, proposers, judge, ledger, limits)
        waiting[cluster.id] = found
        yield from _settled(run, [w for w in [next(found, None)] if w], waiting, ledger, {})


def _is_fixed(cluster: Cluster, ledger: AttemptLog) -> bool:
    """Whether the confirmed patch fixes all tests of a cluster."""
    fixed = set(ledger.confirmed.patch.fixed) if ledger.confirmed else set()
    return all(failure.test in fixed for failure in cluster.failures)


def _announce(run: Run, cluster: Cluster, number: int, of: int) -> None:
    """Say that the search for a cause begins."""
    names = tuple(suspect.target.qualname for suspect in cluster.suspects[:5])
    tests = len(cluster.failures)
    run.emit(ClusterStarted(cluster=cluster.id, tests=tests, suspects=names, number=number, of=of))


def _part(run: Run, others: int) -> Run:
    """The run of one search: a cluster that resists leaves time for those that wait."""
    return replace(run, deadline=run.clock() + _PART * run.left()) if others else run


def _settled(
    run: Run,
    pending: Sequence[Attempt],
    waiting: dict[str, Generator[Attempt]],
    ledger: AttemptLog,
    dropped: dict[str, Attempt],
) -> Iterator[Proposal]:
    """Offer the pending winners together; when that fails, one by one with their successors.

    Those that lack evidence are offered by themselves, after the others.
    """
    weak = [winner for winner in pending if winner.lacks]
    strong = [winner for winner in pending if not winner.lacks]
    if len(strong) > 1:
        yield Proposal((*ledger.held, *strong))
        if strong[-1] in ledger.held:
            for winner in strong:
                waiting.pop(winner.cluster).close()
            strong = []
    for winner in (*strong, *weak):
        current: Attempt | None = winner
        while current is not None:
            yield Proposal((*ledger.held, current))
            if current in ledger.held:
                # A paused search keeps a warm session, and with it slots of the sandbox.
                waiting.pop(current.cluster).close()
                break
            if ledger.held and current.cluster not in ledger.suggestions:
                dropped.setdefault(current.cluster, current)
            found = next(waiting[current.cluster], None)
            current = next(iter(_compatible(found, ledger.held, ledger, run)), None)


def _instead(run: Run, dropped: dict[str, Attempt], ledger: AttemptLog) -> Iterator[Proposal]:
    """Offer the winners that did not go with the patch in its place, where they fix more."""
    held = ledger.held
    served = {winner.cluster for winner in held}
    others: list[Attempt] = []
    for cluster, winner in dropped.items():
        if cluster not in served:
            others.extend(_compatible(winner, others, ledger, run))
    if len(others) < 2 or _tests(others) <= _tests(held) or run.over():
        return
    yield Proposal(tuple(others))
    if others[0] in ledger.held:
        for winner in others:
            ledger.attempts[winner.number - 1] = winner
        numbers = ", ".join(str(winner.number) for winner in held)
        ledger.notes.append(f"attempt {numbers} holds too, but not together with the patch")


def _tests(winners: Sequence[Attempt]) -> int:
    """How many tests the winners fix."""
    return len({test for winner in winners for test in winner.verdict.fixed})


def _compatible(
    winner: Attempt | None, others: Sequence[Attempt], ledger: AttemptLog, run: Run
) -> tuple[Attempt, ...]:
    """The winner, unless it changes a target differently than another winner does."""
    if winner is None:
        return ()
    edits = {edit.target: edit for other in others for edit in other.candidate.edits}
    for edit in winner.candidate.edits:
        if edit.target in edits and edits[edit.target] != edit:
            message = f"attempt {winner.number} changes {edit.target.qualname} in another way"
            ledger.notes.append(f"{message} than an earlier winner; it is not part of the patch")
            run.emit(Noted(stage="repair", message=ledger.notes[-1]))
            return ()
    return (winner,)


def _residual(clusters: Sequence[Cluster], ledger: AttemptLog) -> Iterator[tuple[int, Cluster]]:
    """Clusters of which the confirmed patch fixed a part, numbered, reduced to what it did not."""
    if ledger.confirmed is None:
        return
    fixed = set(ledger.confirmed.patch.fixed)
    changed = {edit.target for edit in Proposal(ledger.held).edits}
    for number, cluster in enumerate(clusters, 1):
        left = tuple(f for f in cluster.failures if f.test not in fixed)
        suspects = tuple(s for s in cluster.suspects if s.target not in changed)
        if suspects and 0 < len(left) < len(cluster.failures):
            yield number, Cluster(f"{cluster.id}+", left, suspects, cluster.signature)
