"""The uids of the slots: each belongs to one supervisor of a machine at a time."""

from __future__ import annotations

import errno
import secrets
import socket

_FIRST = 64_000
_COUNT = 500


def claim_uids(count: int) -> tuple[tuple[int, ...], list[socket.socket]]:
    """Uids that no other supervisor of this machine uses, and the locks that say so.

    A lock is the name of an abstract socket: it needs no folder and ends with its holders. The
    search begins anywhere, because a container does not see the locks of the machine around it.
    """
    first = secrets.randbelow(_COUNT)
    uids: list[int] = []
    locks: list[socket.socket] = []
    for number in range(_COUNT):
        uid = _FIRST + (first + number) % _COUNT
        lock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            lock.bind(f"\0heal-bot-slot-{uid}")
        except OSError as error:
            lock.close()
            if error.errno != errno.EADDRINUSE:
                raise
            continue
        uids.append(uid)
        locks.append(lock)
        if len(uids) == count:
            break
    return tuple(uids), locks
