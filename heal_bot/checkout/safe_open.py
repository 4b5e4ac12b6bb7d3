"""Foreign paths opened beneath a root: no link followed, regular files only, capped."""

from __future__ import annotations

import os
import stat
from pathlib import Path

_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_FOLDER = os.O_RDONLY | os.O_NOFOLLOW | os.O_DIRECTORY | os.O_CLOEXEC


def read(root: Path, path: str, cap: int) -> bytes:
    """The bytes of a regular file below `root`; OSError when it is none or longer than `cap`.

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
        status = os.fstat(file)
        if not stat.S_ISREG(status.st_mode):
            raise FileNotFoundError(path)
        if status.st_size <= cap:
            with os.fdopen(file, "rb", closefd=False) as stream:
                data = stream.read(cap + 1)
            if len(data) <= cap:
                return data
        raise OSError(27, "file too large", path)
    finally:
        os.close(file)
