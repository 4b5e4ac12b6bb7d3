"""What is offered of the fixes of a cluster, and how an answer compares with a suggestion."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from heal_bot.core.model import Attempt, Cluster
from heal_bot.core.statuses import MENDING, ConfidenceLevel
from heal_bot.core.text import count
from heal_bot.ports import Session
from heal_bot.repair.ranking.patch_ranking import choose_patches, compare_calls
from heal_bot.repair.search.attempt_history import digest
from heal_bot.repair.search.attempt_log import AttemptLog
from heal_bot.repair.templates import collection_templates

UNCOMPARED = "other changes that pass the same tests were not compared with it"


def rank_fixes(
    cluster: Cluster, session: Session, ledger: AttemptLog, fixes: Sequence[Attempt]
) -> Iterator[Attempt]:
    """Fixes of the same tests that behave differently, the best one first, with what each lacks.

    That is known of each when it is asked for: what came of those before it counts.
    """
    if not fixes:
        return
    fixed = set(fixes[0].verdict.fixed)
    failures = [failure for failure in cluster.failures if failure.test in fixed]
    # None of them is shown to whoever proposes next.
    ledger.weigh([replace(fix, lacks=(UNCOMPARED,)) for fix in fixes])
    if failures[0].broken is not None:
        chosen = collection_templates.ordered(fixes)
    else:
        regression = ledger.find_regression(cluster)
        former = ledger.survey(regression).list_former() if regression else ()
        least = ledger.min_confidence
        chosen = choose_patches(session, fixes, failures, ledger.has_failed, least, former)
    for attempt in chosen:
        ledger.weigh([attempt])
        yield attempt


def weigh_winner(
    cluster: Cluster, session: Session, ledger: AttemptLog, attempt: Attempt
) -> Attempt:
    """A change that was found among many before, with what its evidence lacks, there and here."""
    helped = attempt.verdict.status in MENDING
    if attempt.candidate.lacks is None or not helped:
        return attempt
    (found,) = rank_fixes(cluster, session, ledger, [attempt])
    rated, missing = attempt.candidate.confidence, found.lacks or ()
    if rated is None:
        lacks = tuple(dict.fromkeys((*attempt.candidate.lacks, *missing)))
        found = replace(found, lacks=lacks, rival=None)
    else:
        # Where it was found it was called the repair: what speaks against it is a doubt.
        sure = rated.level is ConfidenceLevel.HIGH and rated.p >= ledger.min_confidence
        doubts = (*found.doubts, *(() if sure else (rated.ground,)), *missing)
        lacks = attempt.candidate.lacks
        found = replace(found, lacks=lacks, doubts=doubts, rival=None, confidence=rated)
    ledger.weigh([found])
    return found


def compare_winner(
    session: Session, ledger: AttemptLog, attempt: Attempt, other: Attempt | None = None
) -> Attempt:
    """A winner beside another, or the suggestion of its cluster: alike, each is evidence."""
    suggestion = ledger.suggestions.get(attempt.cluster)
    other = other or (suggestion.attempt if suggestion else None)
    if other is None:
        return attempt
    calls, difference = compare_calls(session, other, attempt)
    if difference or (not calls and digest(other.candidate) != digest(attempt.candidate)):
        told = f"attempt {other.number} of {other.candidate.proposer} passes the same tests"
        how = f" and behaves differently: {difference}" if difference else ""
        attempt = replace(attempt, doubts=(*attempt.doubts, f"{told}{how}"))
        ledger.weigh([attempt])
    else:
        who = f"attempt {attempt.number} of {attempt.candidate.proposer}"
        told = f"behaves like attempt {other.number} of {other.candidate.proposer}"
        ledger.notes.append(f"{who}, made without seeing it, {told} on {count(calls, 'call')}")
    return attempt
