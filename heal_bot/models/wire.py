"""The connection under a model client, and the watchdog that cuts it at a deadline.

A read timeout counts per read, so a body that drips never meets it. The watchdog shuts the socket
itself, which wakes a blocked read; closing a response from another thread does not.
"""

from __future__ import annotations

import contextlib
import socket
import ssl
import threading
import time
from collections.abc import Iterator, Mapping, MutableMapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from heal_bot.events import Run

_PULSE = 0.05
_CONNECT = 15.0


@dataclass(frozen=True, slots=True)
class Link:
    """Where a provider lives and how to get there; nothing of it comes from the environment."""

    base_url: str
    timeout: float = 300.0
    proxy: str = ""
    ca_file: str = ""


class Outgoing(Protocol):
    """What an HTTP client is about to send, of either generation of the library."""

    @property
    def headers(self) -> MutableMapping[str, str]: ...

    extensions: MutableMapping[str, Any]


@dataclass(slots=True)
class Wire:
    """The socket in use by one client; `cut` says why the watchdog shut it, or is empty."""

    cut: str = ""
    _socket: socket.socket | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def trace(self, name: str, info: Mapping[str, Any]) -> None:
        """Remember the newest connection; the HTTP layer calls this at each of its steps."""
        if name.endswith(("connect_tcp.complete", "start_tls.complete")):
            with self._lock:
                self._socket = info["return_value"].get_extra_info("socket")
            if self.cut:
                self._shut(self.cut)

    @contextlib.contextmanager
    def guard(self, run: Run, seconds: float) -> Iterator[None]:
        """While open, cut the connection after `seconds`, or when the run is over."""
        self.cut, self._socket = "", None
        done = threading.Event()
        end = time.monotonic() + seconds

        def watch() -> None:
            while not done.wait(_PULSE):
                if time.monotonic() >= end:
                    return self._shut(f"no complete answer within {seconds:g} s")
                if run.over():
                    return self._shut("the run ended before the answer did")
            return None

        thread = threading.Thread(target=watch, name="model-watchdog", daemon=True)
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join(1.0)

    def _shut(self, reason: str) -> None:
        self.cut = reason
        with self._lock:
            if self._socket is not None:
                # The plain socket's method: TLS's own would wait for the peer's farewell.
                with contextlib.suppress(OSError):
                    socket.socket.shutdown(self._socket, socket.SHUT_RDWR)


def client_options(link: Link) -> dict[str, Any]:
    """Keyword arguments for an HTTP client that follows nobody and reads no environment."""
    return {
        "trust_env": False,
        "follow_redirects": False,
        "verify": ssl.create_default_context(cafile=link.ca_file) if link.ca_file else True,
        "proxy": link.proxy or None,
    }


def timeouts(link: Link) -> dict[str, float]:
    """Seconds to connect, and for anything else; the watchdog keeps the wall time."""
    return {"timeout": link.timeout, "connect": min(_CONNECT, link.timeout)}


def pin(request: Outgoing, wire: Wire, headers: Mapping[str, str], kept: frozenset[str]) -> None:
    """Let only headers named in `kept` leave, with `headers` as given, and watch the connection.

    SDKs add headers from environment variables; they end here.
    """
    for name in [name for name in request.headers if name.lower() not in kept]:
        del request.headers[name]
    for name, value in headers.items():
        request.headers[name] = value
    request.extensions = {**request.extensions, "trace": wire.trace}
