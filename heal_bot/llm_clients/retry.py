"""Asking again: only what was not billed, a few times, never longer than is reasonable.

A call that broke after the answer began may have been billed; asking again is then the decision
of who keeps the budget, so it is raised.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from heal_bot.core.errors import LLMError
from heal_bot.core.events import ModelSpoke, Run
from heal_bot.ports.language_model import Reply

_AGAIN = frozenset({"rate_limit", "overloaded", "transient", "bad_gateway"})
_SLICE = 0.1


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often to ask, and the seconds between: doubling from `first`, at most `longest`.

    A server that asks to wait longer than `honoured` is not waited for.
    """

    attempts: int = 3
    first: float = 1.0
    longest: float = 20.0
    honoured: float = 30.0


def ask_again(
    run: Run, patience: RetryPolicy, provider: str, model: str, once: Callable[[], Reply]
) -> Reply:
    """The answer of `once`, asked again after unbilled, passing failures; else its LLMError."""
    for attempt in range(1, patience.attempts + 1):
        try:
            return once()
        except LLMError as error:
            wait = _pause(run, patience, attempt, error)
            if wait is None:
                raise
            run.emit(
                ModelSpoke(
                    kind="retry", provider=provider, model=model, detail=f"{error}; {wait:.1f} s"
                )
            )
            _sleep(run, wait)
            if run.over():
                raise
    raise AssertionError("unreachable: the last attempt returns or raises")


def _pause(run: Run, patience: RetryPolicy, attempt: int, error: LLMError) -> float | None:
    """Seconds until the next attempt, None when there is to be none."""
    if error.kind not in _AGAIN or error.billed != (0, 0) or attempt >= patience.attempts:
        return None
    own = min(patience.longest, patience.first * 2 ** (attempt - 1))
    wait = own * (0.5 + run.rng.random() / 2)
    if error.retry_after is not None:
        if error.retry_after > patience.honoured:
            return None
        wait = max(wait, error.retry_after)
    return wait if wait < run.left() else None


def _sleep(run: Run, seconds: float) -> None:
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0 and not run.stopped():
        time.sleep(min(_SLICE, left))
