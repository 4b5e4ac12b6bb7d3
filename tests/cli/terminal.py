"""A terminal for tests: a program in a pty, its bytes replayed through an emulator."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
ROWS = 24
_KEPT = 20_000


@dataclass(frozen=True)
class Shown:
    """What a program sent to a terminal, and what it printed to a pipe beside it."""

    data: bytes
    piped: str
    columns: int

    @property
    def rows(self) -> list[str]:
        """The terminal's rows from the first that scrolled away to the last."""
        return replay(self.data, self.columns)


def replay(data: bytes, columns: int) -> list[str]:
    """The rows of a terminal of that width, without blanks at their ends and empty last ones."""
    import pyte

    screen = pyte.HistoryScreen(columns, ROWS, history=_KEPT, ratio=0.5)
    pyte.ByteStream(screen).feed(data)
    above = [
        "".join(row[column].data for column in range(columns)).rstrip()
        for row in screen.history.top
    ]
    rows = [*above, *(row.rstrip() for row in screen.display)]
    while rows and not rows[-1]:
        rows.pop()
    return rows


def lay_out(lines: Sequence[str], columns: int) -> list[str]:
    """The rows that a terminal shows of lines that are printed one after the other."""
    return replay("".join(f"{line}\r\n" for line in lines).encode(), columns)


def run(
    argv: Sequence[str],
    columns: int,
    environ: Mapping[str, str] = {},
    *,
    pipe_stdout: bool = False,
    typed: str = "",
) -> Shown:
    """Run a program whose standard streams are a terminal; with `pipe_stdout` its output is not.

    What is `typed` waits for it from the start.
    """
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, columns, 0, 0))
    env = {"PATH": os.environ["PATH"], "TERM": "xterm-256color", "PYTHONPATH": str(ROOT),
           "LANG": "C.UTF-8", **environ}  # fmt: skip
    with subprocess.Popen(
        argv, cwd=ROOT, env=env, stdin=theirs, stderr=theirs,
        stdout=subprocess.PIPE if pipe_stdout else theirs,
    ) as program:  # fmt: skip
        os.close(theirs)
        os.write(ours, typed.encode())
        data = _read_all(ours)
        piped = program.stdout.read().decode() if program.stdout else ""
    os.close(ours)
    assert program.returncode == 0, data.decode(errors="replace")
    return Shown(data, piped, columns)


def _read_all(terminal: int) -> bytes:
    """Whatever comes until the other end is closed."""
    parts = []
    try:
        while data := os.read(terminal, 65_536):
            parts.append(data)
    except OSError:
        pass
    return b"".join(parts)


def python(module: str, *arguments: str) -> list[str]:
    """A module of this repository as a program."""
    return [sys.executable, "-m", module, *arguments]
