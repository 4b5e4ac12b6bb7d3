"""A body that may be neither too long nor one endless line, for the SDKs that would read on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

import httpx2

from heal_bot.models.wire import Wire

BODY = 64 << 20
LINE = 1 << 20


class Capped(httpx2.SyncByteStream):
    """The bytes of another stream within the caps; beyond them ValueError, told to the wire."""

    def __init__(self, stream: httpx2.SyncByteStream, wire: Wire) -> None:
        self._stream, self._wire = stream, wire

    def __iter__(self) -> Iterator[bytes]:
        total = since = 0
        for part in self._stream:
            total += len(part)
            at = part.rfind(b"\n")
            since = since + len(part) if at < 0 else len(part) - at - 1
            if total > BODY or since > LINE:
                what, most = ("a line", LINE) if since > LINE else ("a body", BODY)
                self._wire.flaw = f"{what} of more than {most} bytes came"
                raise ValueError(self._wire.flaw)
            yield part

    def close(self) -> None:
        """Close the stream beneath."""
        self._stream.close()


def cap(response: httpx2.Response, wire: Wire) -> None:
    """Bound what can be read of a response; ValueError for one that came compressed."""
    if response.headers.get("content-encoding", "identity") != "identity":
        wire.flaw = "a compressed answer came, which was not asked for"
        raise ValueError(wire.flaw)
    # The synchronous client makes no other kind of stream.
    response.stream = Capped(cast(httpx2.SyncByteStream, response.stream), wire)
