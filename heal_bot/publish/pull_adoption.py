"""What our pull requests themselves say, where the remembered state does not know them."""

from __future__ import annotations

import re
from collections.abc import Iterable

from heal_bot.core.errors import ForgeError
from heal_bot.core.events import Run
from heal_bot.ports.code_host import Forge, ForgePull
from heal_bot.publish.delivery_strategies import select_own
from heal_bot.publish.healing_state import Ending, Entry, Proposal, Settled, State
from heal_bot.report import pull_request_body, pull_request_memory

_ASKED = 10
_NOT_LOGIN = re.compile(r"[^A-Za-z0-9\[\]_-]")


def adopt_pulls(
    run: Run,
    state: State,
    opened: Iterable[ForgePull],
    forge: Forge,
    prefix: str,
    today: int,
) -> State:
    """The state with those of our pull requests that it does not know.

    Closed ones are asked for where it knows nothing: it is new, deleted, or not ours.
    """
    found = [*opened, *(() if state.entries else _list_closed(run, forge, prefix))]
    for pull in sorted(found, key=lambda pull: pull.number):
        state = _adopt(run, state, pull, forge, today)
    return state


def is_refused(run: Run, pull: ForgePull, forge: Forge) -> bool:
    """Whether a person closed a pull request of ours: no bot, and not ourselves."""
    return end_of(run, pull, forge)[0] == "refused"


def end_of(run: Run, pull: ForgePull, forge: Forge) -> tuple[Ending, str]:
    """How a pull request that is not open came to its end, and whose doing that was."""
    if pull.state == "merged":
        return "merged", ""
    by = forge.closer(run, pull.number)
    ours = pull_request_memory.is_withdrawn(pull.body) and by in {"", pull.author}
    how: Ending = "withdrawn" if ours or by.endswith("[bot]") else "refused"
    return how, _NOT_LOGIN.sub("", by)[:60]


def _list_closed(run: Run, forge: Forge, prefix: str) -> tuple[ForgePull, ...]:
    try:
        return select_own(run, forge.closed_pulls(run), forge, prefix)[:_ASKED]
    except ForgeError as error:
        run.warn("publish", f"closed pull requests are not known: {error}")
        return ()


def _adopt(run: Run, state: State, pull: ForgePull, forge: Forge, today: int) -> State:
    """The state with what one pull request says of its change and its end."""
    noted = pull_request_memory.read(pull.body)
    mark = pull_request_body.read_mark(pull.body)
    if noted is None or noted.change is None or mark is None or state.knows(pull.number):
        return state
    proposal = Proposal(pull=pull.number, change=noted.change)
    entry = state.entries.get(mark.fingerprint)
    if entry is None or entry.base != pull.base_ref:
        entry = Entry(base=pull.base_ref, day=today, sha=noted.change.sha, status="healed")
    if pull.state == "open":
        entry = entry.model_copy(update={"proposal": proposal})
    else:
        how, by = end_of(run, pull, forge)
        entry = entry.add_settled(Settled(proposal=proposal, how=how, by=by))
    return state.with_entries({mark.fingerprint: entry})
