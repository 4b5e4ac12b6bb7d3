"""Records from inside the sandbox: JSON lines on one descriptor, each carrying the run's nonce.

Functions of the standard library are kept as instance attributes: suites replace `os.write`,
`time.perf_counter` or `json.dumps` while their tests run.
"""

from __future__ import annotations

import fcntl

from _heal_pristine_stdlib import json, os, time

_HIGH = 180
_LATER = ("phase", "end", "lines", "hits", "sieved")


class Records:
    """The way out: `send` writes one record, and only from the process that opened it."""

    def __init__(self, fd, nonce):
        self.fd = fd
        self.nonce = nonce
        self.clock = time.perf_counter
        self._write = os.write
        self._getpid = os.getpid
        self._exit = os._exit
        self._encode = json.JSONEncoder(ensure_ascii=True, separators=(",", ":")).encode
        self._pid = os.getpid()
        self._kept = b""

    def send(self, kind, **fields):
        """Write a record; a fork of the test process stays silent, a lost channel ends it.

        How a test went is written when the next thing begins: one write per test.
        """
        if self._getpid() != self._pid:
            return
        fields["n"] = self.nonce
        fields["t"] = kind
        self._kept += self._encode(fields).encode("ascii") + b"\n"
        if kind not in _LATER:
            self._flush()

    def _flush(self):
        data, self._kept = self._kept, b""
        try:
            while data:
                data = data[self._write(self.fd, data) :]
        except OSError:
            self._exit(97)

    def adopt(self, nonce):
        """Speak from this process on, with another nonce (after a fork made for it)."""
        self._pid = self._getpid()
        self.nonce = nonce


def move_away(fd):
    """The descriptor at a high number, closed on exec, so that 3 and 4 are free for the tests."""
    high = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, _HIGH)
    os.close(fd)
    return high


def encode(order):
    """An order as the line `read_line` reads."""
    return json.dumps(order).encode("ascii") + b"\n"


def read_line(fd, buffer):
    """The next order from `fd` as a dict, None at its end; `buffer` (bytearray) keeps the rest."""
    while True:
        end = buffer.find(b"\n")
        if end >= 0:
            line = bytes(buffer[:end])
            del buffer[: end + 1]
            return json.loads(line)
        data = os.read(fd, 1 << 16)
        if not data:
            return None
        buffer += data
