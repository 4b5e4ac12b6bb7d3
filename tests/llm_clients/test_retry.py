from __future__ import annotations

import contextlib
import time

import pytest

from heal_bot.core.errors import LLMError
from heal_bot.core.events import Event, Run
from heal_bot.core.model import Cost
from heal_bot.llm_clients.retry import RetryPolicy, ask_again
from heal_bot.ports.language_model import Reply

QUICK = RetryPolicy(attempts=3, first=0.02, longest=0.05)
FINE = Reply("fine", Cost(), "m")


def asked(error: LLMError, answers_at: int, run: Run, patience: RetryPolicy = QUICK) -> int:
    """How often it asked until it answered or gave up."""
    count = 0

    def once() -> Reply:
        nonlocal count
        count += 1
        if count < answers_at:
            raise error
        return FINE

    with contextlib.suppress(LLMError):
        assert ask_again(run, patience, "p", "m", once) is FINE
    return count


@pytest.mark.parametrize(
    ("kind", "billed", "count"),
    [
        ("rate_limit", (0, 0), 3),
        ("overloaded", (0, 0), 3),
        ("transient", (0, 0), 3),
        ("transient", None, 1),
        ("transient", (5, 0), 1),
        ("auth", (0, 0), 1),
        ("context_overflow", (0, 0), 1),
        ("timeout", (0, 0), 1),
        ("out_of_credit", (0, 0), 1),
    ],
)
def test_only_passing_unbilled_failures_are_asked_again(kind, billed, count) -> None:
    events: list[Event] = []
    error = LLMError(kind, "m: busy", None, billed)
    assert asked(error, 99, Run(events.append)) == count
    assert [event.kind for event in events] == ["retry"] * (count - 1)


def test_a_short_retry_after_is_honoured_and_a_long_one_is_not() -> None:
    start = time.monotonic()
    assert asked(LLMError("rate_limit", "m", 0.3), 2, Run(lambda event: None)) == 2
    assert time.monotonic() - start >= 0.3
    assert asked(LLMError("rate_limit", "m", 31.0), 2, Run(lambda event: None)) == 1


def test_no_wait_goes_past_the_deadline_or_a_stop() -> None:
    late = Run(lambda event: None, deadline=time.monotonic() + 0.2)
    assert asked(LLMError("rate_limit", "m", 5.0), 2, late) == 1
    stopped = Run(lambda event: None, stopped=lambda: True)
    start = time.monotonic()
    assert asked(LLMError("rate_limit", "m", 5.0), 2, stopped) == 1
    assert time.monotonic() - start < 1
