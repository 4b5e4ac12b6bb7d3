"""What the supervisor observes of a running job: output, memory, disk, time."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from heal_bot.sandbox.job_spec import Limits

_SHM = "/dev/shm"  # noqa: S108 - counted as memory of the uid that owns the file
_TERMINALS = "/dev/pts"
_DEEPEST = 3500
MEMORY_FLOOR = 256 << 20
DISK_FLOOR = 64 << 20


@dataclass(slots=True)
class Output:
    """The first and last bytes of a stream, and how many there were."""

    keep: int
    total: int = 0
    head: bytearray = field(default_factory=bytearray)
    tail: bytearray = field(default_factory=bytearray)

    def add(self, data: bytes) -> None:
        """Take what was read."""
        self.total += len(data)
        room = self.keep // 2 - len(self.head)
        self.head += data[:room]
        self.tail += data[max(room, 0) :]
        if len(self.tail) > self.keep:
            del self.tail[: len(self.tail) - self.keep // 2]

    def kept(self) -> bytes:
        """Head and tail, with the number of bytes cut between them."""
        tail = bytes(self.tail[max(0, len(self.tail) - self.keep // 2) :])
        cut = self.total - len(self.head) - len(tail)
        mark = f"\n[… {cut} bytes cut …]\n".encode() if cut > 0 else b""
        return bytes(self.head) + mark + tail


def excess_scratch(roots: tuple[Path, ...], limits: Limits) -> str:
    """Why the scratch folders hold too much, or nothing; stops counting at the first excess."""
    total = entries = 0
    waiting = [str(root) for root in roots]
    while waiting:
        folder = waiting.pop()
        if len(folder) > _DEEPEST:
            return "folders nested too deep to be counted"
        try:
            with os.scandir(folder) as found:
                for entry in found:
                    entries += 1
                    if entries > limits.scratch_files:
                        return f"more than {limits.scratch_files} files"
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                    else:
                        total += entry.stat(follow_symlinks=False).st_blocks * 512
        except OSError:
            # The job renames and deletes while we look; what is gone holds nothing.
            continue
        if total > limits.scratch_bytes:
            return f"more than {limits.scratch_bytes >> 20} MiB in files"
    space = os.statvfs(roots[0])
    if space.f_bavail * space.f_frsize < DISK_FLOOR:
        return f"less than {DISK_FLOOR >> 20} MiB left on the disk of the scratch folder"
    return ""


def shared_memory(uid: int | None) -> int:
    """Bytes in /dev/shm that a slot's uid owns: no process's resident memory shows them."""
    return sum(status.st_blocks * 512 for status in _owned(_SHM, uid))


def count_terminals(uid: int | None) -> int:
    """How many pseudo-terminals a slot's uid has open."""
    return sum(1 for _ in _owned(_TERMINALS, uid))


def _owned(folder: str, uid: int | None) -> Iterator[os.stat_result]:
    """The entries of a folder that a uid owns, as far as they are still there."""
    with contextlib.suppress(OSError), os.scandir(folder) as found:
        for entry in found:
            status = entry.stat(follow_symlinks=False)
            if status.st_uid == uid:
                yield status


@dataclass(slots=True)
class SamplingInterval:
    """When a measurement is due: every `interval` seconds, or 25 times what it last cost.

    The cost is processor time: on a busy machine, where a measurement takes long because others
    run meanwhile, it must not become rare.
    """

    interval: float
    next: float = 0.0
    began: float = 0.0

    def begin(self, now: float) -> None:
        """A first job starts: there is nothing to measure for an interval."""
        self.next = max(self.next, now + self.interval)

    def due(self, now: float) -> bool:
        """Whether to measure now; if so, `done` must follow."""
        self.began = time.process_time()
        return now >= self.next

    def done(self) -> None:
        """Plan the next measurement."""
        cost = time.process_time() - self.began
        self.next = time.monotonic() + max(self.interval, 25 * cost)
