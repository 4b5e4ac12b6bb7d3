"""The HTTP client under an SDK, whose bodies may be neither too long nor one endless line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import cast

import httpx2

from heal_bot.llm_clients.http_timeouts import (
    Endpoint,
    WatchedConnection,
    client_options,
    pin_headers,
    timeouts,
)
from heal_bot.llm_clients.prompt_cache_order import growing_last

BODY = 64 << 20
LINE = 1 << 20
# Of a refusal no more is read: its reason stands at the beginning.
REFUSAL = 64 << 10
_MARK = b"\xef\xbb\xbf"


def make_client(
    link: Endpoint,
    wire: WatchedConnection,
    headers: Mapping[str, str],
    kept: frozenset[str],
    growing: str,
    line: int | None = LINE,
) -> httpx2.Client:
    """A client that sends the headers in `kept` alone, the field `growing` last, and reads capped.

    A stream of binary frames has no lines to bound (None).
    """
    return httpx2.Client(
        **client_options(link, httpx2.create_ssl_context),
        timeout=httpx2.Timeout(**timeouts(link)),
        limits=httpx2.Limits(max_connections=1, max_keepalive_connections=0),
        event_hooks={
            "request": [
                lambda request: pin_headers(request, wire, headers, kept),
                lambda request: growing_last(request, growing),
            ],
            "response": [lambda response: cap_response(response, wire, line)],
        },
    )


class Capped(httpx2.SyncByteStream):
    """The bytes of another stream within the caps; beyond them ValueError, told to the wire.

    Of a refusal the beginning is all there is.
    """

    def __init__(
        self,
        stream: httpx2.SyncByteStream,
        wire: WatchedConnection,
        line: int | None,
        refusal: bool,
    ) -> None:
        self._stream, self._wire = stream, wire
        self._line, self._refusal = line or BODY, refusal

    def __iter__(self) -> Iterator[bytes]:
        total = since = 0
        for part in _unmarked(self._stream):
            total += len(part)
            if self._refusal and total > REFUSAL:
                return
            at = part.rfind(b"\n")
            since = since + len(part) if at < 0 else len(part) - at - 1
            if total > BODY or since > self._line:
                what, most = ("a body", BODY) if total > BODY else ("a line", self._line)
                self._wire.flaw = f"{what} of more than {most} bytes came"
                raise ValueError(self._wire.flaw)
            yield part

    def close(self) -> None:
        """Close the stream beneath."""
        self._stream.close()


def cap_response(
    response: httpx2.Response, wire: WatchedConnection, line: int | None = LINE
) -> None:
    """Bound what can be read of a response; ValueError for one that came compressed.

    A stream of binary frames has no lines to bound (None).
    """
    if response.headers.get("content-encoding", "identity") != "identity":
        wire.flaw = "a compressed answer came, which was not asked for"
        raise ValueError(wire.flaw)
    # The synchronous client makes no other kind of stream.
    stream = cast(httpx2.SyncByteStream, response.stream)
    response.stream = Capped(stream, wire, line, response.status_code >= 400)


def _unmarked(parts: Iterable[bytes]) -> Iterator[bytes]:
    """The same without a byte order mark, which an SDK would take for text."""
    start: bytes | None = b""
    for part in parts:
        if start is None:
            yield part
        elif len(start + part) >= len(_MARK):
            yield (start + part).removeprefix(_MARK)
            start = None
        else:
            start += part
    if start:
        yield start
