"""What is known of a failure before any search: proposed, refused, red on its base too."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from heal_bot.core.errors import ForgeError
from heal_bot.core.events import Run
from heal_bot.core.model import HealRequest, Memory
from heal_bot.core.outcome import OutcomeRecord
from heal_bot.ports.code_host import STOPPED, Forge, ForgePull
from heal_bot.publish import change_identity
from heal_bot.publish.carried_patch import carry_proposal
from heal_bot.publish.delivery_options import Options, Published
from heal_bot.publish.delivery_strategies import list_own_pulls
from heal_bot.publish.healing_state import Ending, Entry, Settled, State
from heal_bot.publish.pull_adoption import adopt_pulls, end_of
from heal_bot.publish.state_store import read_state
from heal_bot.report import pull_request_memory
from heal_bot.report.proposed_change import ProposedChange

_FINAL = frozenset({"refused", "merged"})


@dataclass(frozen=True, slots=True)
class Situation:
    """What is red: the report's failures as digests, and the branch that its own goes into.

    `into` is '' where the commit belongs to no pull request; `today` counts days.
    """

    reported: tuple[str, ...] = ()
    into: str = ""
    today: int = 0


@dataclass(frozen=True, slots=True)
class Prior:
    """What earlier runs left: their state with `endings` in it, and what that decides.

    `adopted` is what only pull requests themselves told.

    `done` is the result where nothing needs to be searched, else `memory` and `resumed` are for
    the search; `lifted` says that a person asked to try again what was refused, `picked` is the
    digest of the answer that a person gives to the question of an earlier run.
    """

    situation: Situation = field(default_factory=Situation)
    state: State = field(default_factory=State)
    endings: Mapping[int, tuple[Ending, str]] = field(default_factory=dict)
    adopted: Mapping[str, Entry] = field(default_factory=dict)
    memory: Memory = field(default_factory=Memory)
    done: Published | None = None
    resumed: OutcomeRecord | None = None
    lifted: bool = False
    picked: str = ""

    def update(self, state: State, base: str) -> State:
        """A state with what this run learned of pull requests."""
        new = {key: one for key, one in self.adopted.items() if key not in state.entries}
        state = _apply_endings(state.with_entries(new), self.endings)
        return _lift(state, base) if self.lifted else state

    def settled(self, base: str) -> Iterator[Settled]:
        """What people refused or merged on a branch, the newest of each failure first."""
        for entry in self.state.of_base(base).values():
            yield from (one for one in reversed(entry.settled) if one.how in _FINAL)


def recall(
    run: Run, request: HealRequest, situation: Situation, forge: Forge, options: Options
) -> Prior:
    """What earlier runs left for the branch of a request, and the one that it goes into."""
    state, bases = read_state(run, forge, situation.today), (request.base_ref, situation.into)
    opened = {pull.number: pull for pull in list_own_pulls(run, forge, options.prefix)}
    known = state.entries
    state = adopt_pulls(run, state, opened.values(), forge, options.prefix, situation.today)
    adopted = {key: entry for key, entry in state.entries.items() if key not in known}
    endings = dict(_find_endings(run, state, bases, opened, forge))
    prior = Prior(situation, state, endings, adopted, lifted=request.verb == "retry")
    prior = replace(prior, state=prior.update(state, request.base_ref))
    if prior.lifted:
        return prior
    prior = replace(prior, memory=_remembered(run, prior, request, opened, forge))
    return _picked(prior, request) if request.verb == "pick" else prior


def _picked(prior: Prior, request: HealRequest) -> Prior:
    """With the answer that is picked as the newest, or with why there is none of that letter."""
    asked = [one for one in prior.state.of_base(request.base_ref).values() if one.question]
    asked.sort(key=lambda entry: entry.sha != request.base_sha)
    answers = dict(zip("AB", asked[0].question, strict=False)) if asked else {}
    if (picked := answers.get(request.choice)) is None:
        reason = f"/heal pick {request.choice}: the choices are A and B"
        if not asked:
            reason = f"no question is remembered for branch {request.base_ref}; ask with /heal"
        return replace(prior, done=Published("declined", reason))
    memory = replace(prior.memory, answers=(*prior.memory.answers, picked))
    return replace(prior, memory=memory, picked=picked)


def decide(run: Run, prior: Prior, request: HealRequest, forge: Forge, options: Options) -> Prior:
    """With the result where nothing needs to be searched, else with the open proposal.

    Who picks a choice wants that one, whatever is proposed or was refused.
    """
    if prior.lifted or request.verb == "pick" or not request.base_sha:
        return prior
    opened = {pull.number: pull for pull in list_own_pulls(run, forge, options.prefix)}
    if done := _find_done(run, prior, request, opened, forge):
        return replace(prior, done=done)
    try:
        return replace(prior, resumed=_find_open(run, prior, request, opened, forge))
    except ForgeError as error:
        run.warn("publish", f"the open proposal is not tried first: {error}")
        return prior


def explain_refused(number: int, how: str) -> str:
    """Why a change is not proposed again."""
    told = "merged" if how == "merged" else "closed"
    return f"pull request {number} with this change was {told}; ask with /heal retry"


def _find_done(
    run: Run, prior: Prior, request: HealRequest, opened: Mapping[int, ForgePull], forge: Forge
) -> Published | None:
    """The result that a search would end with, as far as it is known."""
    into = prior.situation.into
    for base in dict.fromkeys(filter(None, (request.base_ref, into))):
        for one in prior.settled(base):
            gone = one.proposal.pull not in opened
            if gone and _covers(run, prior.situation, request, one.proposal.change, forge):
                reason = explain_refused(one.proposal.pull, one.how)
                url = f"{forge.page}/pull/{one.proposal.pull}"
                return Published("declined", reason, url, one.proposal.pull)
        for entry in prior.state.of_base(base).values():
            pull = opened.get(entry.proposal.pull) if entry.proposal else None
            if pull is None or entry.proposal is None:
                continue
            stopped = STOPPED in pull.labels
            wanted = stopped or base != request.base_ref
            if wanted and _covers(run, prior.situation, request, entry.proposal.change, forge):
                if stopped:
                    reason = f"pull request {pull.number} bears the label {STOPPED}"
                    return Published("declined", reason, pull.url, pull.number, pull.head_ref)
                return point_to(pull)
    return None


def point_to(pull: ForgePull) -> Published:
    """The result for a branch whose failure is red on its base too, and proposed there."""
    reason = f"pull request {pull.number} repairs this on {pull.base_ref}, where it is red too"
    return Published("unchanged", reason, pull.url, pull.number, pull.head_ref, elsewhere=True)


def _covers(
    run: Run, situation: Situation, request: HealRequest, proposal: ProposedChange, forge: Forge
) -> bool:
    """Whether the search would find this proposal: the same is red, and its code is as it was."""
    now, then = set(situation.reported), set(proposal.reported)
    try:
        if not (now and then):
            return change_identity.is_formatting_only(run, forge, proposal.sha, request.base_sha)
        return now <= then and (
            proposal.sha == request.base_sha
            or change_identity.still_applies(run, forge, request.base_sha, proposal.places)
        )
    except ForgeError as error:
        run.warn("publish", f"not compared: {error}")
        return False


def _find_open(
    run: Run, prior: Prior, request: HealRequest, opened: Mapping[int, ForgePull], forge: Forge
) -> OutcomeRecord | None:
    """The open proposal for some of what is red, on the commit of the request."""
    now = set(prior.situation.reported)
    for key, entry in prior.state.of_base(request.base_ref).items():
        found = entry.proposal
        if found is None or found.pull not in opened:
            continue
        then = set(found.change.reported)
        if not now or not then or now & then:
            carried = carry_proposal(run, found.change, request, key, forge)
            if carried is not None:
                return carried
    return None


def _remembered(
    run: Run, prior: Prior, request: HealRequest, opened: Mapping[int, ForgePull], forge: Forge
) -> Memory:
    """What was tried on the branch and on the one it goes into, and what people refused there."""
    tried: dict[str, str] = {}
    lessons: dict[str, None] = {}
    answers: list[str] = []
    for pull in opened.values():
        noted = pull_request_memory.read(pull.body) if pull.base_ref == request.base_ref else None
        tried.update(noted.memory.tried if noted else ())
    for base in dict.fromkeys(filter(None, (prior.situation.into, request.base_ref))):
        entries = prior.state.of_base(base).values()
        # The newest answer last, as an entry has it; of the entries it comes first.
        answers += [one for entry in reversed(entries) for one in entry.answers]
        for entry in entries:
            tried.update(entry.verdicts)
            lessons.update(dict.fromkeys(entry.lessons))
    for one in prior.settled(request.base_ref):
        if one.proposal.pull not in opened and _applies(run, request, one.proposal.change, forge):
            tried.update(dict.fromkeys(one.proposal.change.parts, "rejected"))
    return Memory(tuple(tried.items()), tuple(lessons)[:5], tuple(answers))


def _applies(run: Run, request: HealRequest, proposal: ProposedChange, forge: Forge) -> bool:
    try:
        return proposal.sha == request.base_sha or change_identity.still_applies(
            run, forge, request.base_sha, proposal.places
        )
    except ForgeError:
        return True


def _find_endings(
    run: Run,
    state: State,
    bases: tuple[str, ...],
    opened: Mapping[int, ForgePull],
    forge: Forge,
) -> Iterator[tuple[int, tuple[Ending, str]]]:
    """How the proposals ended that are no longer open."""
    entries = [entry for entry in state.entries.values() if entry.base in bases]
    numbers = {entry.proposal.pull for entry in entries if entry.proposal}
    for number in sorted(numbers - opened.keys()):
        try:
            pull = forge.pull(run, number)
            if pull is None or pull.state != "open":
                yield number, end_of(run, pull, forge) if pull else ("withdrawn", "")
        except ForgeError as error:
            run.warn("publish", f"how pull request {number} ended is not known: {error}")


def _apply_endings(state: State, endings: Mapping[int, tuple[Ending, str]]) -> State:
    changed: dict[str, Entry] = {}
    for key, entry in state.entries.items():
        if entry.proposal is not None and (found := endings.get(entry.proposal.pull)):
            ended = Settled(proposal=entry.proposal, how=found[0], by=found[1])
            changed[key] = entry.model_copy(update={"proposal": None}).add_settled(ended)
    return state.with_entries(changed)


def _lift(state: State, base: str) -> State:
    """A person asked to try again: what was refused or merged on a branch counts no longer."""
    changed = {
        key: entry.model_copy(update={
            "settled": tuple(
                one.model_copy(update={"how": "lifted"}) if one.how in _FINAL else one
                for one in entry.settled
            )
        })
        for key, entry in state.of_base(base).items()
    }  # fmt: skip
    return state.with_entries(changed)
