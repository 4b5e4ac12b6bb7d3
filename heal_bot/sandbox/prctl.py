"""prctl(2), and what a process says of itself by it: who may read it, whose orphans it takes."""

from __future__ import annotations

import ctypes
import os

PR_SET_DUMPABLE = 4
_PR_SET_CHILD_SUBREAPER = 36

_libc = ctypes.CDLL(None, use_errno=True)


def prctl(option: int, argument: int = 0, pointer: object = 0) -> int:
    """prctl(2); OSError on failure."""
    result: int = _libc.prctl(
        option, ctypes.c_ulong(argument), pointer, ctypes.c_ulong(0), ctypes.c_ulong(0)
    )
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"prctl {option}: {os.strerror(code)}")
    return result


def become_private() -> None:
    """No core dump, no tracing, and /proc of this process for root alone; OSError on failure."""
    prctl(PR_SET_DUMPABLE, 0)


def become_subreaper() -> None:
    """Orphans of the jobs come to this process, which nobody else may trace or read."""
    prctl(_PR_SET_CHILD_SUBREAPER, 1)
    become_private()
