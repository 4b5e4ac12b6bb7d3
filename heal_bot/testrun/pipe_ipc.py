"""Both pipes to a sandboxed driver: orders in on its descriptor 4, records out on its 3."""

from __future__ import annotations

import contextlib
import json
import os
import select
from collections.abc import Mapping
from typing import Any

from heal_bot.core.errors import HealBotError

_CHUNK = 1 << 16


class Flooded(HealBotError):
    """More bytes of records than the channel may carry, or a line without an end."""


class Channel:
    """Never blocks: orders wait in a buffer, `pump` writes what fits and reads what is there.

    `cap` bounds all bytes of records, `longest` a single line.
    """

    def __init__(self, cap: int, longest: int = 1 << 20) -> None:
        self.cap = cap
        self._longest = longest
        self._in, their_report = os.pipe()
        their_orders, self._out = os.pipe()
        self.theirs: tuple[int, ...] = (their_report, their_orders)
        os.set_blocking(self._in, False)
        os.set_blocking(self._out, False)
        self._waiting = bytearray()
        self._part = bytearray()
        self._seen = 0
        self._last_order = False
        self.ended = False

    def started(self) -> None:
        """Close our copies of the child's ends, so that its end is seen."""
        for fd in self.theirs:
            os.close(fd)
        self.theirs = ()

    def order(self, order: Mapping[str, Any], *, last: bool = False) -> None:
        """Queue an order; after the `last` one the driver sees the end of its orders."""
        self._waiting += json.dumps(order).encode() + b"\n"
        self._last_order = last
        self._write()

    def pump(self, seconds: float) -> list[bytes]:
        """The complete lines that arrived within `seconds`, as soon as there are any.

        Raises Flooded at the cap.
        """
        if self.ended:
            return []
        poll = select.poll()
        poll.register(self._in, select.POLLIN)
        if self._waiting:
            poll.register(self._out, select.POLLOUT)
        for fd, _ in poll.poll(max(0.0, seconds) * 1000):
            if fd == self._out:
                self._write()
            else:
                return self._read()
        return []

    def _read(self) -> list[bytes]:
        try:
            data = os.read(self._in, _CHUNK)
        except BlockingIOError:
            return []
        if not data:
            self.ended = True
            return []
        self._seen += len(data)
        self._part += data
        if self._seen > self.cap:
            raise Flooded(f"more than {self.cap >> 10} KiB of records")
        end = self._part.rfind(b"\n") + 1
        lines = bytes(self._part[:end]).split(b"\n")[:-1]
        del self._part[:end]
        if len(self._part) > self._longest:
            raise Flooded(f"a record of more than {self._longest >> 10} KiB")
        return lines

    def _write(self) -> None:
        if self._out < 0:
            return
        with contextlib.suppress(BlockingIOError):
            try:
                while self._waiting:
                    del self._waiting[: os.write(self._out, self._waiting[:_CHUNK])]
            except BrokenPipeError:
                self._waiting.clear()
        if self._last_order and not self._waiting:
            os.close(self._out)
            self._out = -1

    @property
    def fd(self) -> int:
        """The descriptor that becomes readable when records arrive, for a poll over channels."""
        return self._in

    def close(self) -> None:
        """Close whatever is still open."""
        for fd in (*self.theirs, self._in, self._out):
            if fd >= 0:
                os.close(fd)
        self.theirs, self._in, self._out, self.ended = (), -1, -1, True
