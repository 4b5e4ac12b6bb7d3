"""The HTTP client of all dialects, whose bodies may be neither too long nor one endless line."""

from __future__ import annotations

import json
import ssl
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import cast

import httpx2

from heal_bot.llm_clients.http_timeouts import Endpoint, WatchedConnection

BODY = 64 << 20
LINE = 1 << 20
# Of a refusal no more is read: its reason stands at the beginning.
REFUSAL = 64 << 10
_CONNECT = 15.0
_MARK = b"\xef\xbb\xbf"
_USUAL = frozenset(
    {
        "host", "accept", "accept-encoding", "connection", "content-type", "content-length",
        "transfer-encoding", "user-agent",
    }
)  # fmt: skip


def make_client(
    link: Endpoint,
    wire: WatchedConnection,
    headers: Mapping[str, str],
    kept: frozenset[str],
    growing: str,
    *,
    lined: bool = True,
) -> httpx2.Client:
    """A client that follows nobody, reads no environment, and reads capped.

    It sends `headers` and those in `kept` beside the usual ones, and the field `growing` last.
    """
    return httpx2.Client(
        trust_env=False,
        follow_redirects=False,
        verify=_context(link.ca_file),
        proxy=link.proxy or None,
        # The watchdog keeps the wall time.
        timeout=httpx2.Timeout(link.timeout, connect=min(_CONNECT, link.timeout)),
        limits=httpx2.Limits(max_connections=1, max_keepalive_connections=0),
        event_hooks={
            "request": [
                lambda request: _pin_headers(request, wire, headers, _USUAL | kept),
                lambda request: _put_last(request, growing),
            ],
            "response": [lambda response: _cap_response(response, wire, LINE if lined else BODY)],
        },
    )


@lru_cache(maxsize=8)
def _context(ca_file: str) -> ssl.SSLContext:
    """Reading all certificates takes longer than a call does here, so a chain reads them once."""
    if ca_file:
        return ssl.create_default_context(cafile=ca_file)
    return httpx2.create_ssl_context(trust_env=False)


def _pin_headers(
    request: httpx2.Request,
    wire: WatchedConnection,
    headers: Mapping[str, str],
    kept: frozenset[str],
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


def _put_last(request: httpx2.Request, name: str) -> None:
    """Move the field that grows behind all others, so that a request begins as the one before."""
    body = json.loads(request.content)
    body[name] = body.pop(name)
    data = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
    request.stream = httpx2.ByteStream(data)
    request.headers["content-length"] = str(len(data))


class Capped(httpx2.SyncByteStream):
    """The bytes of another stream within the caps; beyond them ValueError, told to the wire.

    Of a refusal the beginning is all there is.
    """

    def __init__(
        self,
        stream: httpx2.SyncByteStream,
        wire: WatchedConnection,
        line: int,
        refusal: bool,
    ) -> None:
        self._stream, self._wire = stream, wire
        self._line, self._refusal = line, refusal

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


def _cap_response(response: httpx2.Response, wire: WatchedConnection, line: int) -> None:
    """Bound what can be read of a response; ValueError for one that came compressed."""
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
