"""Foreign paths opened beneath a root: no link followed, regular files only, capped."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_FOLDER = os.O_RDONLY | os.O_NOFOLLOW | os.O_DIRECTORY | os.O_CLOEXEC


def open_below(root: Path, path: str) -> int:
    """The descriptor of what is at `path` below `root`, of whatever type; OSError without it.

    `root` itself may be reached through links, no component of `path` may be one.
    """
    parts = path.split("/")
    if not all(part not in {"", ".", ".."} for part in parts):
        raise FileNotFoundError(errno.ENOENT, "no such file", path)
    folder = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for part in parts[:-1]:
            inner = os.open(part, _FOLDER, dir_fd=folder)
            os.close(folder)
            folder = inner
        return os.open(parts[-1], _FILE, dir_fd=folder)
    finally:
        os.close(folder)


def read(root: Path, path: str, cap: int, *, one_name: bool = False) -> bytes:
    """The bytes of a regular file below `root`; OSError when it is none or longer than `cap`.

    With `one_name` it may have no other name: a hard link can lead to a file of somebody else.
    """
    descriptor = open_below(root, path)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or (one_name and status.st_nlink != 1):
            raise FileNotFoundError(errno.ENOENT, "not a plain file", path)
        if status.st_size <= cap:
            with os.fdopen(descriptor, "rb", closefd=False) as file:
                data = file.read(cap + 1)
            if len(data) <= cap:
                return data
        raise OSError(errno.EFBIG, f"larger than {cap} bytes", path)
    finally:
        os.close(descriptor)


def list_names(root: Path, path: str) -> list[str]:
    """The names in a folder below `root`; OSError where it is none, or reached through a link."""
    descriptor = open_below(root, path)
    try:
        return sorted(os.listdir(descriptor))  # noqa: PTH208 - a descriptor
    finally:
        os.close(descriptor)
