"""A limit in seconds of the processor, and of the clock, on what is called in this process."""

from __future__ import annotations

from _heal_pristine_stdlib import signal


class Late(BaseException):
    """What was called took too long; no `except Exception` stops it."""


def arm():
    """Have the two bells raise Late."""
    for number in (signal.SIGALRM, signal.SIGVTALRM):
        signal.signal(number, _ring)


def ring_after(work, wait, again=None):
    """Ring once the processor or the clock has run so long, then every `again` seconds."""
    signal.setitimer(signal.ITIMER_VIRTUAL, work, again or work)
    signal.setitimer(signal.ITIMER_REAL, wait, again or wait)


def silence():
    """Ring no more."""
    signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    signal.setitimer(signal.ITIMER_REAL, 0)


def _ring(number, frame):
    raise Late
