"""The processes of a job: found below the supervisor, measured, killed, reaped."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

_PAGE = os.sysconf("SC_PAGE_SIZE")
# A killer has its own real uid, so that those it kills cannot kill it first.
_KILLER_OFFSET = -1000


@dataclass(frozen=True, slots=True)
class Process:
    """A line of the process table; `memory` is resident bytes."""

    parent: int
    zombie: bool
    memory: int


def list_processes() -> dict[int, Process]:
    """All processes one can see, by pid."""
    found = {}
    for name in os.listdir("/proc"):  # noqa: PTH208 - called ten times a second
        if name.isdigit():
            with contextlib.suppress(OSError, IndexError, ValueError):
                found[int(name)] = _read(name)
    return found


def _read(pid: str) -> Process:
    # The command may hold spaces and parentheses; what follows the last one is regular.
    stat = os.open(f"/proc/{pid}/stat", os.O_RDONLY | os.O_CLOEXEC)
    try:
        fields = os.read(stat, 4096).rpartition(b")")[2].split()
    finally:
        os.close(stat)
    return Process(int(fields[1]), fields[0] in {b"Z", b"X"}, int(fields[21]) * _PAGE)


def list_descendants(root: int, processes: dict[int, Process]) -> list[int]:
    """The descendants of `root`, parents before children."""
    children: dict[int, list[int]] = {}
    for pid, process in processes.items():
        children.setdefault(process.parent, []).append(pid)
    found, waiting = [], list(children.get(root, ()))
    while waiting:
        pid = waiting.pop()
        found.append(pid)
        waiting += children.get(pid, ())
    return found


def real_uid(pid: int) -> int | None:
    """The real uid, read from `status`: the owner of /proc/<pid> lies when it is not dumpable."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        for line in Path("/proc", str(pid), "status").read_text().splitlines():
            if line.startswith("Uid:"):
                return int(line.split()[1])
    return None


def threads_of(uid: int) -> int:
    """How many threads a user has: RLIMIT_NPROC counts them all."""
    total = 0
    for pid in list_processes():
        if real_uid(pid) == uid:
            with contextlib.suppress(OSError):
                total += sum(1 for _ in Path(f"/proc/{pid}/task").iterdir())
    return total


def has_no_process(uid: int) -> bool:
    """Whether a uid has no process at all, zombies included; an exact answer of the kernel.

    Unlike a look at the table this cannot miss a process that forks and exits all the time: a
    new one is appended to the list that the kernel walks.
    """
    try:
        os.getpriority(os.PRIO_USER, uid)
    except ProcessLookupError:
        return True
    return False


def kill_uid(uid: int) -> None:
    """Kill every process of a uid at once, by a child that has taken that uid to signal all.

    Root only. The signal reaches all of them in one pass of the kernel, so a process that forks
    without end cannot slip through.
    """
    pid = os.fork()
    if pid == 0:
        try:
            killer = uid + _KILLER_OFFSET
            os.setgroups([])
            os.setresgid(killer, killer, killer)
            os.setresuid(killer, uid, killer)
            os.kill(-1, signal.SIGKILL)
        finally:
            os._exit(0)
    _reap(pid, 5.0)


def has_no_child() -> bool:
    """Whether this process has no child at all, dead or alive: as a subreaper, no descendant.

    Unlike a look at the table this cannot miss a process that forks and exits all the time.
    """
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return True
    return False


def kill_below(root: int) -> None:
    """Kill the descendants of `root`, taking away their right to fork first.

    The dead are not collected meanwhile: one that escapes by forking and exiting leaves a zombie
    each time, meets its limit of processes, stops, and is seen. Returns after 30 looks that found
    nobody, or a second.
    """
    _kill_all(partial(list_descendants, root), 30)


def kill_orphans(root: int, spared: frozenset[int]) -> None:
    """Kill the children of `root` but those spared, and what then becomes its child.

    As a subreaper it is the parent of every process whose own one has ended. They may not fork
    any more; returns after three looks that found nobody, or a second.
    """
    _kill_all(lambda table: [p for p in table if table[p].parent == root and p not in spared], 3)


def _kill_all(find: Callable[[dict[int, Process]], Iterable[int]], looks: int) -> None:
    """Kill what is found below this process, which may not fork any more from then on."""
    end, quiet = time.monotonic() + 1.0, 0
    while quiet < looks and time.monotonic() < end and not has_no_child():
        table = list_processes()
        live = [pid for pid in find(table) if not table[pid].zombie]
        quiet = 0 if live else quiet + 1
        for pid in live:
            with contextlib.suppress(OSError):
                resource.prlimit(pid, resource.RLIMIT_NPROC, (0, 0))
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)


def _reap(pid: int, seconds: float) -> None:
    """Wait for a child, and kill one that takes longer; a second more, then it is left."""
    with contextlib.suppress(ChildProcessError, ProcessLookupError):
        for patience in (seconds, 1.0):
            end = time.monotonic() + patience
            # A descriptor to wait on may be what there is none of when processes are killed.
            while time.monotonic() < end:
                if os.waitpid(pid, os.WNOHANG)[0]:
                    return
                time.sleep(0.0005)
            os.kill(pid, signal.SIGKILL)


def available_memory() -> int:
    """Bytes the machine can still give out."""
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return 1 << 62
