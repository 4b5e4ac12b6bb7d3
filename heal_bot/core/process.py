"""The one way trusted code starts a program: list argv, built environment, bounded in all ways."""

from __future__ import annotations

import contextlib
import os
import resource
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from heal_bot.core.errors import HealBotError

_CHUNK = 65536
_GRACE = 5.0


@dataclass(frozen=True, slots=True)
class Completed:
    """A finished program; ended: exited | timeout | flooded (more output than the cap)."""

    argv: tuple[str, ...]
    code: int
    stdout: bytes
    stderr: bytes
    ended: str = "exited"

    @property
    def ok(self) -> bool:
        """Whether it ended by itself with code 0."""
        return self.ended == "exited" and self.code == 0

    @property
    def full(self) -> bool:
        """Whether it failed for want of room on a disk."""
        return not self.ok and b"No space left on device" in self.stderr

    def complaint(self) -> str:
        """One line: the command, how it ended, the last line it wrote to stderr."""
        lines = self.stderr.decode(errors="replace").strip().splitlines()
        last = lines[-1][:300] if lines else "no message"
        how = f"exit {self.code}" if self.ended == "exited" else self.ended
        return f"{' '.join(self.argv[:3])}: {how}: {last}"


def run(
    argv: Sequence[str],
    *,
    env: Mapping[str, str],
    cwd: Path | None = None,
    seconds: float = 60.0,
    cap: int = 64 << 20,
    stdin: bytes = b"",
    tee: Callable[[bytes], None] | None = None,
    memory: int = 0,
) -> Completed:
    """Run `argv` in its own process group; kill the group at `seconds` or `cap` bytes of output.

    `memory` bounds the bytes that each of its processes may have for itself (RLIMIT_DATA). `tee`
    gets what the program writes, of both streams, as it comes. Raises HealBotError when the
    program cannot be started.
    """
    try:
        child = subprocess.Popen(
            list(argv),
            env=dict(env),
            cwd=cwd,
            stdin=subprocess.PIPE if stdin else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except OSError as error:
        raise HealBotError(f"cannot start {argv[0]}: {error.strerror}; is it installed?") from error
    try:
        if memory:
            with contextlib.suppress(ProcessLookupError):
                resource.prlimit(child.pid, resource.RLIMIT_DATA, (memory, memory))
        streams, ended = _pump(child, stdin, time.monotonic() + seconds, cap, tee)
    finally:
        _end(child)
    return Completed(tuple(argv), child.returncode, streams[0], streams[1], ended)


def _pump(
    child: subprocess.Popen[bytes],
    stdin: bytes,
    deadline: float,
    cap: int,
    tee: Callable[[bytes], None] | None,
) -> tuple[tuple[bytes, bytes], str]:
    """Feed stdin and drain both outputs until they close, the deadline, or the cap."""
    assert child.stdout is not None
    assert child.stderr is not None
    kept: dict[int, list[bytes]] = {child.stdout.fileno(): [], child.stderr.fileno(): []}
    order = list(kept)
    total, sent = 0, 0
    with selectors.DefaultSelector() as selector:
        for fd in order:
            selector.register(fd, selectors.EVENT_READ)
        if child.stdin is not None:
            os.set_blocking(child.stdin.fileno(), False)
            selector.register(child.stdin.fileno(), selectors.EVENT_WRITE)
        ended = "exited"
        while any(fd in selector.get_map() for fd in order):
            if (left := deadline - time.monotonic()) <= 0:
                ended = "timeout"
                break
            for key, _ in selector.select(min(left, 1.0)):
                if key.fd in kept:
                    data = _drain(selector, key.fd)
                    kept[key.fd].append(data)
                    if tee is not None and data:
                        tee(data)
                    total += len(data)
                elif child.stdin is not None:
                    sent = _feed(child, selector, stdin, sent)
            if total > cap:
                ended = "flooded"
                break
    return (b"".join(kept[order[0]]), b"".join(kept[order[1]])), ended


def _drain(selector: selectors.BaseSelector, fd: int) -> bytes:
    """The next piece of an output; nothing once it is closed, which is heard no more."""
    data = os.read(fd, _CHUNK)
    if not data:
        selector.unregister(fd)
    return data


def _feed(
    child: subprocess.Popen[bytes], selector: selectors.BaseSelector, stdin: bytes, sent: int
) -> int:
    """Write the next piece of stdin; close it when all is sent or nobody reads."""
    assert child.stdin is not None
    fd = child.stdin.fileno()
    try:
        sent += os.write(fd, stdin[sent : sent + _CHUNK])
    except BrokenPipeError:
        sent = len(stdin)
    if sent >= len(stdin):
        selector.unregister(fd)
        child.stdin.close()
    return sent


def _end(child: subprocess.Popen[bytes]) -> None:
    """Wait a moment for the program, then kill its group; never wait unbounded."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        child.wait(0.2)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait(_GRACE)
    for stream in (child.stdin, child.stdout, child.stderr):
        if stream is not None and not stream.closed:
            stream.close()
