"""What a run leaves for the next one, with a patch and without."""

from __future__ import annotations

from heal_bot.core.events import Run
from heal_bot.core.model import HealRequest
from heal_bot.core.outcome import OutcomeRecord
from heal_bot.core.statuses import LASTING
from heal_bot.ports.code_host import Forge
from heal_bot.publish.delivery_options import Options, Published
from heal_bot.publish.healing_state import ANSWERS, Entry, Proposal, Settled, State
from heal_bot.publish.prior_decision import Prior
from heal_bot.publish.recompute import RecomputedChange
from heal_bot.publish.state_store import change_state
from heal_bot.repair.search.attempt_history import digest_answer
from heal_bot.report.proposed_change import MOST_TESTS, ProposedChange

_TRIED = 150
_DAYS_UNWRITTEN = 7
# The results with which a pull request holds the change.
_PROPOSED = frozenset({"created", "updated", "unchanged"})


def remember_run(
    run: Run,
    record: OutcomeRecord,
    request: HealRequest,
    done: Published,
    change: RecomputedChange | None,
    prior: Prior,
    forge: Forge,
    options: Options,
) -> None:
    """Write what this run learned; ForgeError where that is not allowed."""
    base = change.base_ref if change is not None else request.base_ref
    sha = change.base.sha if change is not None else request.base_sha
    today = prior.situation.today

    def merge(state: State) -> State:
        state = prior.update(state, base)
        state = _add_cost(state, record, today)
        old = state.entries.get(record.fingerprint)
        old = old if old is not None and old.base == base else None
        if not base or not sha or not _is_worth(record, old):
            return state
        found = _proposal(old, record, sha, done, change, prior)
        entry = _entry(old, record, base, sha, found, prior)
        if refusal := _refusal(old, done, change, prior):
            entry = entry.add_settled(refusal)
        return state.with_entries({record.fingerprint: entry})

    change_state(run, forge, today, merge)


def remember_endings(run: Run, request: HealRequest, prior: Prior, forge: Forge) -> None:
    """Write what became of closed pull requests, where nothing is healed."""
    change_state(
        run, forge, prior.situation.today, lambda state: prior.update(state, request.base_ref)
    )


def _is_worth(record: OutcomeRecord, old: Entry | None) -> bool:
    """Whether there is anything to remember: a run that reproduced nothing has no failures."""
    return old is not None or bool(
        record.patch
        or record.question
        or record.memory.lessons
        or any(one.digest for one in record.memory.tried)
    )


def _entry(
    old: Entry | None,
    record: OutcomeRecord,
    base: str,
    sha: str,
    proposal: Proposal | None,
    prior: Prior,
) -> Entry:
    today, given = prior.situation.today, (prior.picked,) if prior.picked else ()
    tried = dict(old.verdicts) if old else {}
    for one in record.memory.tried:
        if one.verdict in LASTING and len(one.digest) == 64:
            tried.pop(one.digest, None)
            tried[one.digest] = one.verdict
    by_verdict: dict[str, tuple[str, ...]] = {}
    for digest, verdict in list(tried.items())[-_TRIED:]:
        by_verdict[verdict] = (*by_verdict.get(verdict, ()), digest)
    answers = (*(one for one in (old.answers if old else ()) if one not in given), *given)
    settled = old.settled if old else ()
    if proposal is not None:
        settled = tuple(one for one in settled if one.proposal.pull != proposal.pull)
    entry = Entry.model_validate({
        "base": base, "day": today, "sha": sha, "status": record.status,
        "tried": by_verdict, "lessons": record.memory.lessons or (old.lessons if old else ()),
        "proposal": proposal, "settled": settled,
        "question": _digest_answers(record), "answers": answers[-ANSWERS:],
    })  # fmt: skip
    same = old is not None and entry == old.model_copy(update={"day": today})
    return old if old and same and today - old.day < _DAYS_UNWRITTEN else entry


def _digest_answers(record: OutcomeRecord) -> tuple[str, ...]:
    """The answers that decide, in the order of the choices; none where nothing was asked."""
    if (asked := record.question) is None:
        return ()
    return tuple(digest_answer(asked.call, answer.result) for answer in asked.answers)


def _proposal(
    old: Entry | None,
    record: OutcomeRecord,
    sha: str,
    done: Published,
    change: RecomputedChange | None,
    prior: Prior,
) -> Proposal | None:
    """The proposal for these failures after this run."""
    known, reported = (old.proposal if old else None), prior.situation.reported
    if done.status not in _PROPOSED or done.number is None or done.elsewhere:
        return known
    if change is None or change.shown.change is None:
        if known is None or known.pull != done.number:
            return known
        both = _join(known, reported)
        return _proposed(done.number, known.change, sha=sha, reported=both)
    own = change.shown.change
    if known is not None and (known.pull, known.change.change) == (done.number, own.change):
        reported = _join(known, reported)
    return _proposed(done.number, own, reported=reported)


def _proposed(pull: int, change: ProposedChange, **changes: object) -> Proposal:
    return Proposal(pull=pull, change=change.model_copy(update=changes))


def _join(known: Proposal, reported: tuple[str, ...]) -> tuple[str, ...]:
    """What several reports named for which the same is proposed."""
    return tuple(sorted({*known.change.reported, *reported}))[:MOST_TESTS]


def _refusal(
    old: Entry | None, done: Published, change: RecomputedChange | None, prior: Prior
) -> Settled | None:
    """What only the pull request itself said to be refused, so that it is not searched again."""
    own = change.shown.change if change is not None else None
    known = {one.proposal.pull for one in old.settled} if old else set()
    if done.status != "declined" or done.number is None or own is None or done.number in known:
        return None
    proposal = _proposed(done.number, own, reported=prior.situation.reported)
    return Settled(proposal=proposal, how="refused")


def _add_cost(state: State, record: OutcomeRecord, today: int) -> State:
    """The state with what the run cost, counted for the day."""
    usd = record.cost.usd or 0.0
    if not usd:
        return state
    spent = {**state.spent, str(today): round(state.spent_on(today) + usd, 6)}
    return state.model_copy(update={"spent": spent})
