"""A small edit of what a commit wrote, after which it does what the code before the commit did.

The former code is the reference: what passes the tests is held against it, on the calls that tests
make of the functions that the commit changed and on others like them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from heal_bot.core.events import Noted, Run
from heal_bot.core.model import (
    Attempt,
    Candidate,
    Cluster,
    Edit,
    Regression,
    Suspect,
    Target,
    Verdict,
)
from heal_bot.core.statuses import ConfidenceLevel, VerdictStatus
from heal_bot.ports import Proposer, Session
from heal_bot.repair.ranking import behavioral_diff
from heal_bot.repair.ranking.offer import UNCOMPARED, compare_winner, rank_fixes
from heal_bot.repair.ranking.patch_ranking import explain_lookup
from heal_bot.repair.search.attempt_log import AttemptLog
from heal_bot.repair.search.delta_debugging import MEANT, find_reversals
from heal_bot.source import change_intent, patch_policy

_OTHER = "it was not shown to do what the code before the commit did"
_DIFFERS = "on a call it does something else than the code before the commit did"
# Of the time left, what the search for such edits may take, and then their comparison.
_SHARE = 0.1
# How many that pass are compared, and on how many calls at least.
_COMPARED = 12
_CALLS = 8


def search_history(
    run: Run,
    cluster: Cluster,
    session: Session,
    ledger: AttemptLog,
    rules: Sequence[Proposer],
    ask: Callable[[], Iterator[Attempt]],
) -> Iterator[Attempt]:
    """What lets the code of a commit do what the code before it did, and what puts that back.

    Before much of a commit goes back models are asked for what keeps more of it: their winners.
    """
    for number, reversal in enumerate(find_reversals(run, cluster, session, ledger)):
        # Where several parts can go back, nobody knows which of them is the fault.
        small = None if number else find_equivalent(run, cluster, session, ledger, rules, reversal)
        if small is not None:
            yield small
            if cluster.id in ledger.suggestions:
                return
        elif not (number or reversal.lacks or _is_small(reversal.candidate.edits)):
            # Who is asked sees nothing that passes.
            ledger.weigh([replace(reversal, lacks=(UNCOMPARED,))])
            yield from (compare_winner(session, ledger, one, reversal) for one in ask())
            ledger.weigh([reversal])
        yield reversal if number else _mention_smaller(reversal, ledger)


def _is_small(edits: Sequence[Edit]) -> bool:
    """Whether a reversal changes one statement, or only adds what was lost."""
    return change_intent.is_one_statement(edits) or change_intent.only_adds(edits)


def _mention_smaller(reversal: Attempt, ledger: AttemptLog) -> Attempt:
    """The reversal, with the likeliest edit that passes too and changes less as a doubt."""
    found = [
        one for one in ledger.attempts
        if one.cluster == reversal.cluster and one.verdict.status == VerdictStatus.FIXED
        and one.lacks == (_OTHER,) and len(one.diff) < len(reversal.diff)
    ]  # fmt: skip
    if not found:
        return reversal
    first = min(found, key=lambda one: one.candidate.prior)
    why = first.candidate.rationale.partition("\n")[0]
    doubt = f"attempt {first.number} changes less, and passes too, unconfirmed: {why}"
    told = replace(reversal, doubts=(*reversal.doubts, doubt))
    ledger.weigh([told])
    return told


def find_equivalent(
    run: Run,
    cluster: Cluster,
    session: Session,
    ledger: AttemptLog,
    rules: Sequence[Proposer],
    reversal: Attempt,
) -> Attempt | None:
    """The edit that behaves as the former code and changes less than a reversal, or None.

    It is looked for where somebody has to decide on the reversal, or the commit means to change
    nothing and much of it would go; not where the reversal only adds what was lost. What speaks
    against the reversal speaks against the edit too. What passes, and could not be compared, is
    taken where its own rating is at least medium; else it stays in the log, for whoever decides.
    """
    edits, regression = reversal.candidate.edits, ledger.find_regression(cluster)
    if regression is None:
        return None
    much = not _is_small(edits) and change_intent.may_be_slip(regression)
    if cluster.id not in ledger.unsure and not much:
        return None
    part = replace(run, deadline=run.clock() + _SHARE * run.left())
    change = ledger.survey(regression)
    if not (former := change.list_former()):
        return None
    told = f"looking for a smaller change that behaves as before `{regression.bad_sha[:7]}`"
    run.emit(Noted(stage="repair", message=told))
    reference = replace(reversal.candidate, edits=former)
    own = _restrict(cluster, change.targets)
    passing = _list_passing(part, own, session, ledger, rules)
    part = replace(run, deadline=run.clock() + _SHARE * run.left())
    smaller = [one for one in passing if len(one.diff) < len(reversal.diff)]
    unknown: list[Attempt] = []
    for attempt in sorted(smaller, key=lambda one: (one.candidate.prior, len(one.diff))):
        same = 0 if part.over() else _count_same(session, reference, attempt.candidate)
        if same is None:
            ledger.weigh([replace(attempt, lacks=(_DIFFERS,))])
        elif same < _CALLS:
            unknown.append(attempt)
        else:
            doubt = (
                f"lets the code of `{regression.bad_sha[:7]}` ({regression.title}) do what the code"
                f" before it did, on {same} calls: right unless the difference was meant"
            )
            return _prefer(attempt, reversal, doubt, regression, ledger)
    likely = next(rank_fixes(cluster, session, ledger, unknown), None)
    ledger.weigh([replace(one, lacks=(_OTHER,)) for one in unknown])
    rated = likely.confidence if likely else None
    if likely is None or rated is None or rated.level is ConfidenceLevel.LOW:
        return None
    missing = tuple(one for one in likely.lacks or () if one != rated.ground)
    likely = replace(likely, doubts=(*likely.doubts, *missing))
    return _prefer(likely, reversal, f"{rated.ground}; {_OTHER}", regression, ledger)


def _prefer(
    small: Attempt, reversal: Attempt, doubt: str, regression: Regression, ledger: AttemptLog
) -> Attempt:
    """A small edit in the place of a reversal, which lacks what the reversal lacks as such.

    How much goes back, and what that leaves behind, is no matter of the edit.
    """
    uncalled = change_intent.UNCALLED
    left = (one for one in reversal.lacks or () if one not in reversal.doubts)
    lacks = tuple(f"{MEANT}: {uncalled}" if uncalled in one else one for one in left)
    if f"{MEANT}: {uncalled}" in lacks:
        ledger.unsure[small.cluster] = change_intent.explain_unsure(regression, uncalled)
    found = replace(small, lacks=lacks, doubts=(*small.doubts, doubt), rival=None)
    ledger.weigh([found])
    return found


def _restrict(cluster: Cluster, targets: Sequence[Target]) -> Cluster:
    """A cluster with the targets of a commit as suspects: what was suspected of them comes first.

    What the commit brought may be no suspect, as whatever calls it fails as well.
    """
    known = [suspect for suspect in cluster.suspects if suspect.target in targets]
    names = {suspect.target for suspect in known}
    least = known[-1].score if known else 1.0
    others = (Suspect(target, least, ()) for target in targets if target not in names)
    return replace(cluster, suspects=(*known, *others))


def _is_own(one: Edit, changed: Mapping[str, frozenset[int]]) -> bool:
    """Whether an edit touches lines that changed, as far as it is known which did, or is below."""
    old, new = one.target.source.splitlines(), one.new_source.splitlines()
    above = _count_alike(old, new)
    below = _count_alike(old[above:][::-1], new[above:][::-1])
    first = one.target.first_line + above
    lines = range(first - 1, one.target.first_line + max(len(old) - below, above + 1))
    return not changed.get(one.target.path, frozenset(lines)).isdisjoint(lines)


def _count_alike(one: Sequence[str], other: Sequence[str]) -> int:
    """How many lines are the same from the first on."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((n for n, (was, now) in pairs if was != now), min(len(one), len(other)))


def _list_passing(
    run: Run,
    cluster: Cluster,
    session: Session,
    ledger: AttemptLog,
    rules: Sequence[Proposer],
) -> list[Attempt]:
    """The first edits of rules that pass all tests and change what the commits under test wrote."""
    changed = ledger.tree.changed_lines()
    offered: deque[Candidate] = deque()
    found: list[Attempt] = []

    def feed() -> Iterator[Candidate]:
        for proposer in rules:
            for candidate in proposer.propose(run, ledger.recall(run, cluster)):
                if run.over() or len(found) >= _COMPARED:
                    return
                own = all(_is_own(one, changed) for one in candidate.edits)
                if own and not ledger.seen(candidate):
                    offered.append(candidate)
                    yield candidate

    for verdict in session.judge(feed()):
        candidate = offered.popleft()
        ledger.count(candidate, verdict)
        if verdict.status == VerdictStatus.FIXED and not (
            patch_policy.check_candidate(candidate, ledger.tree)
            or patch_policy.list_decisions(candidate, ledger.tree)
        ):
            found.append(ledger.record(run, cluster, candidate, verdict, 0.0))
    return [one for one in found if not _refuse_lookup(run, session, ledger, one)]


def _refuse_lookup(run: Run, session: Session, ledger: AttemptLog, attempt: Attempt) -> bool:
    """Whether an edit gives but the tests' answers: nobody is shown it as a change that passes."""
    why = "" if run.over() else explain_lookup(session.call((attempt.candidate,)))
    verdict = Verdict(VerdictStatus.REJECTED, detail=why) if why else attempt.verdict
    ledger.weigh([replace(attempt, verdict=verdict, lacks=(_OTHER,))])
    return bool(why)


def _count_same(session: Session, reference: Candidate, candidate: Candidate) -> int | None:
    """On how many calls of what a reference changes another does the same; None for not all."""
    calls = session.call((reference, candidate))
    if len(calls.rows) != 1 + 2:
        return 0
    changed, own = (
        {one.target.qualname.rpartition(".")[2] for one in each.edits}
        for each in (reference, candidate)
    )
    # What the commit added has no former code: whoever calls it is compared.
    names = changed & own or changed
    known = [
        (before, after)
        for call, before, after in zip(calls.calls, *calls.rows[1:], strict=False)
        if call.partition("(")[0] in names and "skipped" not in {before.how, after.how}
    ]
    return None if any(behavioral_diff.is_other(*pair) for pair in known) else len(known)
