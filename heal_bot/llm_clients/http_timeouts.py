"""The connection under a model client, watched by the caller while a thread of its own is used.

A read timeout counts per read, so a body that drips never meets it. The caller shuts the socket
itself at the deadline, which wakes a blocked read; closing a response from another thread does
not. Where there is no socket yet (a name server that keeps silent), the thread is left behind.
"""

from __future__ import annotations

import contextlib
import socket
import ssl
import threading
import time
import warnings
from collections.abc import Callable, Mapping, MutableMapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Protocol

from heal_bot.core.events import Run

LONGEST = 3_600.0
_PULSE = 0.05
# Of the time left, what one call may take.
_PART = 0.5
_CONNECT = 15.0
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


class Outgoing(Protocol):
    """What an HTTP client is about to send, of either generation of the library."""

    @property
    def headers(self) -> MutableMapping[str, str]: ...

    extensions: MutableMapping[str, Any]


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


def client_options(link: Endpoint, trust: Callable[..., ssl.SSLContext]) -> dict[str, Any]:
    """Keyword arguments for an HTTP client that follows nobody and reads no environment.

    `trust` is its library's maker of a context with the certificates it trusts by itself.
    """
    return {
        "trust_env": False,
        "follow_redirects": False,
        "verify": _context(link.ca_file, trust),
        "proxy": link.proxy or None,
    }


@lru_cache(maxsize=8)
def _context(ca_file: str, trust: Callable[..., ssl.SSLContext]) -> ssl.SSLContext:
    """Reading all certificates takes longer than a call does here, so a chain reads them once."""
    if ca_file:
        return ssl.create_default_context(cafile=ca_file)
    return trust(trust_env=False)


def timeouts(link: Endpoint) -> dict[str, float]:
    """Seconds to connect, and for anything else; the watchdog keeps the wall time."""
    return {"timeout": link.timeout, "connect": min(_CONNECT, link.timeout)}


def pin_headers(
    request: Outgoing, wire: WatchedConnection, headers: Mapping[str, str], kept: frozenset[str]
) -> None:
    """Let only headers named in `kept` leave, with `headers` as given, and watch the connection.

    SDKs add headers from environment variables; they end here. Nothing compressed is asked for,
    since a cap on bytes says little about what they unpack to.
    """
    for name in [name for name in request.headers if name.lower() not in kept]:
        del request.headers[name]
    for name, value in headers.items():
        request.headers[name] = value
    request.headers["accept-encoding"] = "identity"
    request.extensions = {**request.extensions, "trace": wire.trace}
