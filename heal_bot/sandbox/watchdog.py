"""The guard: a process outside every sandbox that ends the jobs if the supervisor is killed."""

from __future__ import annotations

import os
import signal
import time

from heal_bot.sandbox import processes


def fork_watchdog(uids: tuple[int, ...]) -> tuple[int, int]:
    """Fork the guard of these uids; its pid, and the descriptor whose closing calls it to act.

    The descriptor is closed by the supervisor's death and must never reach another program. Root
    only: without a uid of their own the processes of a job cannot be told from others once their
    supervisor is gone.
    """
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.setsid()
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            os.close(writer)
            os.read(reader, 1)
            _sweep(uids)
        finally:
            os._exit(0)
    os.close(reader)
    return pid, writer


def _sweep(uids: tuple[int, ...]) -> None:
    """Kill until nothing of these uids is left, for five seconds at most."""
    end = time.monotonic() + 5.0
    while time.monotonic() < end:
        for uid in uids:
            processes.kill_uid(uid)
        wanted = frozenset(uids)
        alive = [
            pid
            for pid, process in processes.list_processes().items()
            if not process.zombie and processes.real_uid(pid) in wanted
        ]
        if not alive:
            return
        time.sleep(0.01)
