"""prctl(2), and what a process says of itself by it: who may read it, whose orphans it takes."""

from __future__ import annotations

import ctypes
import os

PR_SET_DUMPABLE = 4
_PR_SET_CHILD_SUBREAPER = 36

LIBC = ctypes.CDLL(None, use_errno=True)


def check_result(result: int, what: str) -> None:
    """OSError where a call of libc returned that it failed."""
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")


def prctl(option: int, argument: int, pointer: object = 0) -> None:
    """prctl(2); OSError on failure."""
    none = ctypes.c_ulong(0)
    check_result(
        LIBC.prctl(option, ctypes.c_ulong(argument), pointer, none, none), f"prctl {option}"
    )


def become_private() -> None:
    """No core dump, no tracing, and /proc of this process for root alone; OSError on failure."""
    prctl(PR_SET_DUMPABLE, 0)


def become_subreaper() -> None:
    """Orphans of the jobs come to this process, which nobody else may trace or read."""
    prctl(_PR_SET_CHILD_SUBREAPER, 1)
    become_private()
