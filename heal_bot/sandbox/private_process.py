"""A process whose memory and environment no other process of its user may read."""

from __future__ import annotations

import ctypes
import os

_PR_SET_DUMPABLE = 4


def become_private() -> None:
    """No core dump, no tracing, and /proc of this process for root alone; OSError on failure."""
    libc = ctypes.CDLL(None, use_errno=True)
    zero = ctypes.c_ulong(0)
    if libc.prctl(_PR_SET_DUMPABLE, zero, zero, zero, zero) != 0:
        code = ctypes.get_errno()
        raise OSError(code, f"prctl: {os.strerror(code)}")
