"""JSON lines with descriptors over a socket pair: how client and supervisor talk."""

from __future__ import annotations

import array
import contextlib
import json
import os
import socket
from collections.abc import Mapping, Sequence
from typing import Any

_MOST_FDS = 64
_CHUNK = 1 << 16
_LONGEST = 64 << 20


class SocketChannel:
    """One end of the connection.

    `send` blocks until the peer took everything; `queue` and `flush` are for the single-threaded
    supervisor, which must never wait for its client.
    """

    __slots__ = ("_fds", "_in", "_out", "socket")

    def __init__(self, connection: socket.socket) -> None:
        self.socket = connection
        self._in = bytearray()
        self._out = bytearray()
        self._fds: list[int] = []

    def send(self, message: Mapping[str, Any], fds: Sequence[int] = ()) -> None:
        """Write one message; the descriptors go with its first byte."""
        data = json.dumps({**message, "fds": len(fds)}).encode() + b"\n"
        sent = self.socket.sendmsg(
            [data], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
        )
        self.socket.sendall(data[sent:])

    def queue(self, message: Mapping[str, Any]) -> None:
        """Add a message to what `flush` writes."""
        self._out += json.dumps({**message, "fds": 0}).encode() + b"\n"

    def flush(self) -> bool:
        """Write what the peer takes now; whether everything is out."""
        while self._out:
            try:
                sent = self.socket.send(self._out[:_CHUNK], socket.MSG_DONTWAIT)
            except BlockingIOError:
                return False
            del self._out[:sent]
        return True

    def receive(self) -> list[tuple[dict[str, Any], tuple[int, ...]]] | None:
        """Wait for data; the messages completed by it with their descriptors, None at the end."""
        room = socket.CMSG_SPACE(_MOST_FDS * array.array("i").itemsize)
        try:
            data, ancillary, _, _ = self.socket.recvmsg(_CHUNK, room, socket.MSG_CMSG_CLOEXEC)
        except ConnectionResetError:
            return None
        for level, kind, payload in ancillary:
            if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                self._fds += array.array("i", payload[: len(payload) // 4 * 4])
        if not data or len(self._in) > _LONGEST:
            return None
        *lines, rest = (self._in + data).split(b"\n")
        self._in = bytearray(rest)
        return [self._message(line) for line in lines]

    def _message(self, line: bytes | bytearray) -> tuple[dict[str, Any], tuple[int, ...]]:
        message: dict[str, Any] = json.loads(line)
        count = message.pop("fds")
        fds, self._fds = tuple(self._fds[:count]), self._fds[count:]
        return message, fds

    def close(self) -> None:
        """Close the socket and the descriptors nobody claimed."""
        for fd in self._fds:
            with contextlib.suppress(OSError):
                os.close(fd)
        self._fds = []
        self.socket.close()
