"""The remembered state, read from the repository and changed there beside other runs."""

from __future__ import annotations

from collections.abc import Callable

from heal_bot.core.errors import ForgeError
from heal_bot.core.events import Run
from heal_bot.ports.code_host import Forge, Stored
from heal_bot.publish import healing_state
from heal_bot.publish.healing_state import State

_TRIES = 5
_NOT_OURS = (
    "refs/heal-bot/state holds something else than this version of heal-bot writes; it is left as"
    " it is, and nothing is remembered; `git push origin --delete refs/heal-bot/state` ends that"
)


def read_state(run: Run, forge: Forge, today: int) -> State:
    """What is remembered; nothing where it cannot be read, or is not ours."""
    try:
        stored = forge.state.read(run)
    except ForgeError as error:
        run.warn("publish", f"nothing is remembered: {error}")
        return State()
    state = _parsed(stored)
    if state is None:
        run.warn("publish", _NOT_OURS)
    return healing_state.drop_old(state or State(), today)


def change_state(run: Run, forge: Forge, today: int, change: Callable[[State], State]) -> None:
    """Apply a change to the newest state and write it, unless it is what is there.

    Where somebody wrote meanwhile it is applied again to what they wrote. What is not ours stays.
    Raises ForgeError where nothing may be written.
    """
    for attempt in range(_TRIES):
        stored = forge.state.read(run, fresh=attempt > 0)
        state = _parsed(stored)
        if state is None:
            return
        changed = change(healing_state.drop_old(state, today))
        if changed == state:
            return
        parent = stored.commit if stored is not None else ""
        if forge.state.write(run, healing_state.dump(changed, today), parent):
            return
    raise ForgeError("refs/heal-bot/state moved at each of 5 tries; this run is not remembered")


def _parsed(stored: Stored | None) -> State | None:
    """The state; None where what is there is not ours."""
    if stored is None:
        return State()
    return None if stored.text is None else healing_state.parse(stored.text)
