"""What no delivery hangs on: where GitHub refuses it, that is a warning."""

from __future__ import annotations

from collections.abc import Callable

from heal_bot.core.errors import ForgeError
from heal_bot.core.events import Noted, Run


def try_aside(run: Run, do: Callable[[], object]) -> bool:
    """Whether it was done; where GitHub fails, say so in the log and go on."""
    try:
        do()
    except ForgeError as error:
        run.emit(Noted(stage="publish", message=str(error), level="warning"))
        return False
    return True
