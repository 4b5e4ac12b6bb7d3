"""Foreign paths opened beneath a root: no link followed, regular files only, capped."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_FOLDER = os.O_RDONLY | os.O_NOFOLLOW | os.O_DIRECTORY | os.O_CLOEXEC


@contextmanager
def open_beneath(root: Path, path: str) -> Iterator[int]:
    """A descriptor of the regular file `path` below `root`; OSError for anything else.

    `root` itself may be reached through links, no component of `path` may be one.
    """
    parts = path.split("/")
    if not all(part not in {"", ".", ".."} for part in parts):
        raise FileNotFoundError(path)
    folder = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for part in parts[:-1]:
            inner = os.open(part, _FOLDER, dir_fd=folder)
            os.close(folder)
            folder = inner
        file = os.open(parts[-1], _FILE, dir_fd=folder)
    finally:
        os.close(folder)
    try:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            raise FileNotFoundError(path)
        yield file
    finally:
        os.close(file)


def read(root: Path, path: str, cap: int) -> bytes:
    """The bytes of a regular file below `root`; OSError when it is none or longer than `cap`."""
    with open_beneath(root, path) as file:
        if os.fstat(file).st_size > cap:
            raise OSError(27, "file too large", path)
        return read_whole(file, cap)


def read_whole(file: int, cap: int) -> bytes:
    """All bytes of a descriptor; OSError when they are more than `cap`."""
    pieces: list[bytes] = []
    size = 0
    while piece := os.read(file, 1 << 20):
        size += len(piece)
        if size > cap:
            raise OSError(27, "file too large")
        pieces.append(piece)
    return b"".join(pieces)
