"""The connection under a model client, watched by the caller while a thread of its own is used.

A read timeout counts per read, so a body that drips never meets it. The caller shuts the socket
itself at the deadline, which wakes a blocked read; closing a response from another thread does
not. Where there is no socket yet (a name server that keeps silent), the thread is left behind.
"""

from __future__ import annotations

import contextlib
import socket
import threading
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from heal_bot.core.events import Run

LONGEST = 3_600.0
_PULSE = 0.05
# Of the time left, what one call may take.
_PART = 0.5
# What a call may take to notice that its socket was shut.
_GRACE = 1.0


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a provider lives and how to get there; nothing of it comes from the environment."""

    base_url: str
    timeout: float = LONGEST
    proxy: str = ""
    ca_file: str = ""

    def seconds(self, run: Run) -> float:
        """What one call may take: of the time left a part, so that another can follow it."""
        return min(self.timeout, run.left() * _PART)


@dataclass(slots=True)
class WatchedConnection:
    """The socket in use by one client.

    `cut` says why it was shut, `flaw` what was wrong with the answer; both empty otherwise.
    """

    cut: str = ""
    flaw: str = ""
    _socket: socket.socket | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def trace(self, name: str, info: Mapping[str, Any]) -> None:
        """Remember the newest connection; the HTTP layer calls this at each of its steps."""
        if name.endswith(("connect_tcp.complete", "start_tls.complete")):
            with self._lock:
                self._socket = info["return_value"].get_extra_info("socket")
            if self.cut:
                self._shut(self.cut)

    def call(self, run: Run, seconds: float, work: Callable[[], None]) -> None:
        """Do `work` in a thread; cut its connection after `seconds`, or when the run is over.

        Raises what `work` raises, or TimeoutError when it does not come back: then neither this
        wire nor its client may be used again.
        """
        self.cut, self.flaw, self._socket = "", "", None
        failed: list[Exception] = []

        def worker() -> None:
            try:
                work()
            except Exception as error:  # noqa: BLE001 - raised again by the caller
                failed.append(error)

        thread = threading.Thread(target=worker, name="model-call", daemon=True)
        end = time.monotonic() + seconds
        thread.start()
        while thread.is_alive():
            thread.join(_PULSE)
            if self.cut and time.monotonic() >= end:
                raise TimeoutError(self.cut)
            if not self.cut and (reason := _why_end(run, seconds, end)):
                self._shut(reason)
                end = time.monotonic() + _GRACE
        if failed:
            raise failed[0]

    def _shut(self, reason: str) -> None:
        self.cut = reason
        with self._lock:
            if self._socket is not None:
                # The plain socket's method: TLS's own would wait for the peer's farewell.
                with contextlib.suppress(OSError):
                    socket.socket.shutdown(self._socket, socket.SHUT_RDWR)


def _why_end(run: Run, seconds: float, end: float) -> str:
    if time.monotonic() >= end:
        return f"no complete answer within {seconds:g} s"
    return "the run ended before the answer did" if run.over() else ""


def silence_sdks(*modules: str) -> None:
    """Keep SDKs from printing what a server said: they warn with the odd values in it."""
    for module in modules:
        warnings.filterwarnings("ignore", category=UserWarning, module=module)
