"""The search for one cause: tier after tier, every verdict remembered."""

from __future__ import annotations

import contextlib
import itertools
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import partial

from heal_bot.core.events import Run, SearchProgressed
from heal_bot.core.model import Attempt, Candidate, Cluster, Edit, Verdict
from heal_bot.core.statuses import SURE, VerdictStatus
from heal_bot.core.text import count
from heal_bot.ports import Proposer, Session
from heal_bot.repair.ranking.offer import UNCOMPARED, compare_winner, rank_fixes, weigh_winner
from heal_bot.repair.ranking.patch_ranking import explain_lookup
from heal_bot.repair.search.attempt_history import digest
from heal_bot.repair.search.attempt_log import AttemptLog
from heal_bot.repair.search.equivalent_edit import search_history
from heal_bot.repair.search.slow_candidate_throttle import CandidateThrottle
from heal_bot.repair.search.stopping_criteria import (
    StoppingState,
    settles_a_kind,
    stands_alone,
)
from heal_bot.source import change_intent, patch_policy
from heal_bot.source.guard import SourceRejected

Judge = Callable[[Cluster, tuple[Edit, ...]], Session]
_REGRESSIONS_KEPT = 3
_TELL_EVERY = 250
# Of the time left, what a proposer that streams may take while one that converses waits.
_STREAMED = 0.2
# Of the time left, what models may take while a change that passes waits.
_ASKED = 0.5
# Of the time left, what a search may take for tests that look out of date.
_RECONCILED = 0.05
# Candidates that took too long and are given more time when nothing else was found.
_LATE = 40


@dataclass(frozen=True, slots=True)
class SearchLimits:
    """When to end: candidates of streaming proposers per cluster, attempts of the others.

    From the probability `min_confidence` on a patch of a streaming proposer is believed.
    """

    candidates: int = 6_000
    attempts: int = 10
    min_confidence: float = SURE
    confirmation_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class _ClusterSearch:
    """What the parts of a search share; `judged` are the digests of what streams have tried."""

    run: Run
    cluster: Cluster
    session: Session
    ledger: AttemptLog
    limits: SearchLimits
    judged: set[str] = field(default_factory=set)


def search_cluster(
    run: Run,
    cluster: Cluster,
    base: tuple[Edit, ...],
    proposers: Sequence[Proposer],
    judge: Judge,
    ledger: AttemptLog,
    limits: SearchLimits,
) -> Generator[Attempt]:
    """The winners of one cluster: full fixes, the best first, at last a good partial one.

    Those that lack evidence are winners too: where one holds it is a suggestion, and the search
    goes on with the next proposer, which does not see it. For an output that is stored nothing but
    a slip of a commit is looked for.
    """
    ledger.bases[cluster.id] = base
    test = cluster.failures[0].test
    if not cluster.suspects:
        ledger.stop(run, "exhausted", f"no function is known to be behind {test}")
        return
    stored = [ledger.stored.get(failure.test, "") for failure in cluster.failures]
    with judge(cluster, base) as session:
        search = _ClusterSearch(run, cluster, session, ledger, limits)
        rules = [proposer for proposer in proposers if proposer.streams]
        models = [] if all(stored) else [one for one in proposers if not one.streams]
        asked: list[Proposer] = []
        if rules:
            try:
                yield from search_history(
                    run, cluster, session, ledger, rules, partial(_ask, search, models, asked)
                )
            except SourceRejected as error:
                run.warn("repair", f"no more of the breaking commit is put back: {error}")
        if all(stored):
            ledger.outdated.setdefault(cluster.id, stored[0])
        else:
            seek = _reconcile if cluster.id in ledger.unsure else _take_turns
            yield from seek(search, [one for one in proposers if one not in asked])
    if run.over():
        if run.stopped():
            ledger.stop(run, "interrupted", f"the search for {test} was interrupted")
        else:
            ledger.stop(run, "budget", f"the time limit ended the search for {test}", "time")
    else:
        ledger.end("exhausted")
    best = ledger.best_partial(cluster)
    if best is None or not stands_alone(cluster, best, cut_short=run.over()):
        return
    if best.lacks or any(p.streams and p.name == best.candidate.proposer for p in proposers):
        if cluster.id in ledger.suggestions:
            return
        best = replace(best, lacks=best.lacks or (UNCOMPARED,))
    yield best


def _ask(
    search: _ClusterSearch, models: Sequence[Proposer], asked: list[Proposer]
) -> Iterator[Attempt]:
    """The winners of models in a part of the time; `asked` has the models from then on.

    Whatever becomes of them, what is known to pass is offered after them.
    """
    run = search.run
    asked += models
    part = replace(run, deadline=run.clock() + _ASKED * run.left())
    try:
        yield from _take_turns(replace(search, run=part), models)
    except SourceRejected as error:
        run.warn("repair", f"no model keeps more of the commit: {error}")


def _reconcile(search: _ClusterSearch, proposers: Sequence[Proposer]) -> Iterator[Attempt]:
    """The winners where nobody knows whether a commit meant what it broke.

    Where it cannot go back, one that holds shows that the tests of both sides do not contradict
    each other. Where it can, models alone look for what keeps more of it, doubted for that reason.
    """
    run, ledger, cluster = search.run, search.ledger, search.cluster
    part = replace(run, deadline=run.clock() + _RECONCILED * run.left())
    undone, broke = cluster.id in ledger.suggestions, ledger.find_regression(cluster)
    doubts = (change_intent.doubt_intention(broke),) if undone and broke else ()
    rules = [one for one in proposers if one.streams and not undone]
    models = [one for one in proposers if not one.streams]
    searches = _take_turns(replace(search, run=part), rules), _take_turns(search, models)
    for winner in itertools.chain.from_iterable(searches):
        yield replace(winner, doubts=(*winner.doubts, *doubts))
        if not undone and cluster.id in ledger.suggestions:
            ledger.unsure.pop(cluster.id, None)
            return


def _take_turns(search: _ClusterSearch, proposers: Sequence[Proposer]) -> Iterator[Attempt]:
    """The winners of one proposer after the other.

    One that streams leaves time for those that converse, and goes on with what these leave.
    """
    run = search.run
    paused: list[Proposer] = []
    for number, proposer in enumerate(proposers, 1):
        if run.over():
            return
        if not proposer.streams:
            withheld: list[Candidate] = []
            yield from _converse(search, proposer, withheld)
            yield from _judge_withheld(search, withheld)
        elif all(later.streams for later in proposers[number:]):
            yield from _stream(search, proposer)
        else:
            part = replace(run, deadline=run.clock() + _STREAMED * run.left())
            yield from _stream(replace(search, run=part), proposer)
            paused += [proposer] if part.over() else []
    for proposer in paused:
        if not run.over():
            yield from _stream(search, proposer)


class _Part(Enum):
    """The parts of a streamed search; of the candidates allowed, how many by the end of it."""

    FIRST = 0.65
    LATE = 0.7
    AGAIN = 1.0


def _stream(search: _ClusterSearch, proposer: Proposer) -> Iterator[Attempt]:
    """Judge candidates in bulk, a second time on top of the partial improvers of the first.

    In between the first of those that took too long get more time. What was judged before is
    passed over.

    Only what fixed something, or broke something, is an attempt. A change that fixes all tests
    that fail in one way and none that fail in another has found a cause of its own: it wins when
    nothing better comes soon.
    """
    run, cluster, session, ledger = search.run, search.cluster, search.session, search.ledger
    tally, known = StoppingState(), frozenset(search.judged)
    for part in (_Part.FIRST, _Part.LATE, _Part.AGAIN):
        if part is _Part.AGAIN and ledger.best_partial(cluster) is None:
            break
        ripe = True
        while ripe:
            if part is _Part.LATE:
                source: Iterable[Candidate] = tally.late[:_LATE]
            else:
                found = proposer.propose(run, ledger.recall(run, cluster))
                source = (one for one in found if not known or digest(one) not in known)
            _pass(search, proposer, tally, source, search.limits.candidates * part.value)
            if ripe := tally.is_ripe():
                apart = rank_fixes(cluster, session, ledger, tally.take_apart())
                yield from (attempt for attempt in apart if not attempt.lacks)
        if tally.fixes or run.over():
            break
    run.emit(
        SearchProgressed(
            cluster=cluster.id, proposer=proposer.name, tried=tally.tried, best_fixed=tally.best
        )
    )
    for attempt in rank_fixes(cluster, session, ledger, tally.fixes or tally.take_apart()):
        yield attempt
        if cluster.id in ledger.suggestions:
            break


def _pass(
    search: _ClusterSearch,
    proposer: Proposer,
    tally: StoppingState,
    source: Iterable[Candidate],
    limit: float,
) -> None:
    """Judge a source until it ends, `limit` candidates were tried in all, or a cause is ripe."""
    run, ledger = search.run, search.ledger
    offered: deque[Candidate] = deque()
    turns = CandidateThrottle(source)

    def feed() -> Iterator[Candidate]:
        for candidate in turns:
            full = tally.tried + len(offered) >= limit
            if full or run.over() or tally.has_enough(run.clock()):
                return
            if tally.fixes and (tally.is_too_dear(candidate) or turns.is_delayed(candidate)):
                continue
            if not ledger.seen(candidate):
                offered.append(candidate)
                yield candidate

    started = run.clock()
    with contextlib.closing(search.session.judge(feed())) as verdicts:
        for verdict in verdicts:
            candidate = offered.popleft()
            ledger.count(candidate, verdict)
            search.judged.add(digest(candidate))
            _tell(run, search.cluster, proposer, tally, candidate)
            tally.count(candidate, verdict)
            if verdict.afresh:
                turns.delay(candidate)
            if _is_worth_recording(verdict, tally):
                _record(search, tally, candidate, verdict, run.clock() - started)
                started = run.clock()
            # When its time is over, what was pulled ahead is not waited for.
            if tally.is_ripe() or tally.is_late(run.clock()):
                return


def _record(
    search: _ClusterSearch,
    tally: StoppingState,
    candidate: Candidate,
    verdict: Verdict,
    seconds: float,
) -> None:
    """An attempt of what was judged; what the rails refuse is rejected, whatever it fixes.

    So is what reaches for something new: of so many changes another one may do.
    """
    run, ledger = search.run, search.ledger
    reason = patch_policy.check_candidate(candidate, ledger.tree)
    reason = reason or next(iter(patch_policy.list_reaches(candidate, ledger.tree)), "")
    judged = Verdict(VerdictStatus.REJECTED, detail=reason) if reason else verdict
    attempt = ledger.record(run, search.cluster, candidate, judged, seconds)
    _note(search.cluster, attempt, tally)
    if judged.status == VerdictStatus.FIXED:
        tally.take(attempt, run.clock(), run.left())


def _tell(
    run: Run, cluster: Cluster, proposer: Proposer, tally: StoppingState, candidate: Candidate
) -> None:
    tally.tried += 1
    run.show("repair", _named(candidate), tally.tried)
    if tally.tried % _TELL_EVERY == 0:
        run.emit(
            SearchProgressed(
                cluster=cluster.id, proposer=proposer.name, tried=tally.tried, best_fixed=tally.best
            )
        )


def _named(candidate: Candidate) -> str:
    """The functions that a candidate changes, and how."""
    places = dict.fromkeys(f"{e.target.path}::{e.target.qualname}" for e in candidate.edits)
    reason = candidate.rationale.partition("\n")[0]
    return f"{', '.join(places)}: {reason or candidate.family}"


def _is_worth_recording(verdict: Verdict, tally: StoppingState) -> bool:
    """Full fixes, better partial ones, and the first few that broke something."""
    better = verdict.status == VerdictStatus.IMPROVED and len(verdict.fixed) > tally.best
    better = better or tally.is_beside(verdict)
    broke = verdict.status == VerdictStatus.REGRESSION and tally.regressions < _REGRESSIONS_KEPT
    return verdict.status == VerdictStatus.FIXED or better or broke


def _note(cluster: Cluster, attempt: Attempt, tally: StoppingState) -> None:
    """Count the attempt, and keep it when it settles one way of failing."""
    verdict = attempt.verdict
    if verdict.status == VerdictStatus.REGRESSION:
        tally.regressions += 1
        return
    tally.best = max(tally.best, len(verdict.fixed))
    if verdict.status == VerdictStatus.IMPROVED and settles_a_kind(cluster, attempt):
        tally.set_apart(attempt)


def _converse(
    search: _ClusterSearch, proposer: Proposer, withheld: list[Candidate]
) -> Iterator[Attempt]:
    """Judge one candidate at a time; its verdict is in the ledger before the next is asked for.

    Of a tournament the winners are offered when all of it is judged, the smallest change first.
    What reaches for something new is `withheld`.
    """
    run, cluster, session, ledger = search.run, search.cluster, search.session, search.ledger
    most = search.limits.attempts
    started = run.clock()
    before = len(ledger.attempts)
    winners: list[Attempt] = []
    recall = ledger.recall(run, cluster)
    for candidate in proposer.propose(run, recall):
        reason = patch_policy.check_candidate(candidate, ledger.tree) or _known(ledger, candidate)
        reaches = () if reason else patch_policy.list_reaches(candidate, ledger.tree)
        if reason or reaches:
            recall.reject(candidate, reason or f"a person has to decide on that: {reaches[0]}")
            withheld += [candidate] if reaches else []
        else:
            run.show("repair", _named(candidate), len(ledger.attempts) + 1)
            verdict = next(iter(session.judge((candidate,))))
            if verdict.status == VerdictStatus.FIXED and (
                why := explain_lookup(session.call((candidate,)))
            ):
                verdict = Verdict(VerdictStatus.REJECTED, detail=why)
            ledger.count(candidate, verdict)
            attempt = ledger.record(run, cluster, candidate, verdict, run.clock() - started)
            attempt = weigh_winner(cluster, session, ledger, attempt)
            again = attempt.lacks and cluster.id in ledger.suggestions
            if verdict.status == VerdictStatus.FIXED and not again:
                winners.append(compare_winner(session, ledger, attempt))
        spent = len(ledger.attempts) - before
        if not candidate.rivals or spent >= most or run.over():
            yield from sorted(winners, key=lambda winner: len(winner.diff))
            winners.clear()
        started = run.clock()
        if spent >= most:
            note = f"{proposer.name} made {count(spent, 'attempt')}, as many as allowed"
            ledger.stop(run, "budget", note, "attempt")
            return
        if run.over():
            return


def _judge_withheld(search: _ClusterSearch, withheld: Sequence[Candidate]) -> Iterator[Attempt]:
    """The newest change that a person has to decide on, where nothing else was found.

    If it passes, it is a suggestion.
    """
    run, cluster, ledger = search.run, search.cluster, search.ledger
    if not withheld or run.over() or cluster.id in ledger.suggestions:
        return
    started, candidate = run.clock(), withheld[-1]
    verdict = next(iter(search.session.judge((candidate,))))
    ledger.count(candidate, verdict)
    attempt = ledger.record(run, cluster, candidate, verdict, run.clock() - started)
    if verdict.status == VerdictStatus.FIXED:
        yield attempt


def _known(ledger: AttemptLog, candidate: Candidate) -> str:
    """The reason to refuse what an earlier run, or a cold one of this run, has judged."""
    verdict = ledger.seen(candidate)
    return f"this change was tried before: {verdict}" if verdict else ""
