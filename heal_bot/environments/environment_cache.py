"""A folder of finished installations, shared by runs and safe against other users.

A copy of an environment has 160 MB and more, and every project has its own: the ones used longest
ago go when a new one comes. A process keeps a shared lock on those it uses until it ends; these
stay, and so do those used within the hour, as long as the disk has room.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import stat
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heal_bot.core import safe_open
from heal_bot.core.errors import ProvisionError

RECORD = "heal-bot.json"
# How many stay that nobody has used for an hour: a machine of several projects, each with an
# interpreter and an environment.
KEPT = 12
FRESH = 3600.0
# All together take at most this part of the room that they could have.
_PART = 4
# No copy takes as long: what a killed process left behind.
_LEFT = 6 * FRESH
_BYTES = "bytes"
# How often one is made again that another run removed at the same moment.
_TRIES = 3
# The locks of this process, by device and inode; they end with it.
_LOCKS: dict[tuple[int, int], int] = {}


@dataclass(frozen=True, slots=True)
class EnvironmentCache:
    """Installations by name below `folder`; each is complete once its folder stands."""

    folder: Path

    @classmethod
    def at(cls, folder: Path) -> EnvironmentCache:
        """Open or make the store; ProvisionError when another user could write or hide it.

        As root every user must be able to reach it, because tests run as another user.
        """
        try:
            folder.mkdir(mode=0o755, parents=True, exist_ok=True)
            real = folder.resolve(strict=True)
            if folder.is_symlink():
                raise ProvisionError(f"{folder} is a link: name a folder of your own for the cache")
            _own(real)
            for parent in real.parents:
                _passable(parent, real)
        except OSError as error:
            raise ProvisionError(
                f"the cache folder {folder} cannot be used ({error.strerror}): name a writable one"
            ) from error
        return cls(real)

    def get(self, name: str, build: Callable[[Path, Path], dict[str, Any]]) -> dict[str, Any]:
        """The record of installation `name`, which `build(work, final)` makes when it is new.

        `build` fills the folder `work`, which becomes `final` by renaming, and returns what to
        remember. Of two builds at once the first to finish stays. The installation is not removed
        by another run while this process lives.
        """
        final = self.folder / name
        made = False
        for _ in range(_TRIES):
            made = self._make(final, build) or made
            # Another run may remove the folder between any two of these steps.
            with contextlib.suppress(FileNotFoundError):
                _own(final)
                if _held(final / RECORD):
                    break
        else:
            raise _unsound(final)
        if made:
            # Housekeeping: what stands in its way is no matter of this run.
            with contextlib.suppress(OSError):
                self._forget()
        try:
            return {key: value for key, value in _record(final).items() if key != _BYTES}
        except (ValueError, AttributeError) as error:
            raise _unsound(final) from error

    def _make(self, final: Path, build: Callable[[Path, Path], dict[str, Any]]) -> bool:
        """Build it unless it stands; whether it was built."""
        missing = not final.is_dir()
        if missing:
            work = Path(tempfile.mkdtemp(prefix=".new-", dir=self.folder))
            try:
                work.chmod(0o755)
                record = {**build(work, final), _BYTES: _size(work)}
                (work / RECORD).write_text(json.dumps(record))
                (work / RECORD).chmod(0o644)
                _move(work, final)
            except OSError as error:
                raise ProvisionError(
                    f"{self.folder} cannot take a copy of the interpreter ({error}): free space "
                    "there or name another cache folder"
                ) from error
            finally:
                shutil.rmtree(work, ignore_errors=True)
        return missing

    def _forget(self) -> None:
        """Remove what is superfluous and held by no process, and what killed ones left."""
        used = {path.parent: _used(path) for path in self.folder.glob(f"[!.]*/{RECORD}")}
        sizes = {final: _taken(final) for final in used}
        for left in self.folder.glob(".[no]*-*"):
            if max(used.values(), default=0.0) - _used(left) > _LEFT:
                shutil.rmtree(left, ignore_errors=True)
        for final in choose_superfluous(used, sizes, shutil.disk_usage(self.folder).free):
            with contextlib.suppress(OSError), (final / RECORD).open("rb") as record:
                fcntl.flock(record, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if not _stands(record.fileno(), final / RECORD):
                    continue
                # Under another name first: a folder that stands is complete.
                work = Path(tempfile.mkdtemp(prefix=".old-", dir=self.folder))
                final.rename(work / final.name)
                shutil.rmtree(work, ignore_errors=True)


def choose_superfluous(
    used: Mapping[Path, float], sizes: Mapping[Path, int], free: int
) -> list[Path]:
    """Of installations, by when they were used, those that may go; the newest never does.

    Beyond KEPT they go after an hour, and earlier where all take more than a part of the disk's
    room, of which `free` bytes are left.
    """
    newest = max(used.values(), default=0.0)
    room = (free + sum(sizes.values())) // _PART
    gone, taken = [], 0
    for number, final in enumerate(sorted(used, key=lambda path: -used[path])):
        taken += sizes[final]
        old = number >= KEPT and newest - used[final] > FRESH
        if number and (old or taken > room):
            gone.append(final)
    return gone


def _unsound(final: Path) -> ProvisionError:
    return ProvisionError(f"{final} has no sound {RECORD}: remove that folder and run again")


def _record(final: Path) -> dict[str, Any]:
    """What is remembered of an installation; nothing where another run just removed it."""
    try:
        loaded: dict[str, Any] = json.loads(safe_open.read(final, RECORD, 1 << 20))
    except FileNotFoundError:
        return {}
    return loaded


def _taken(final: Path) -> int:
    """The bytes of an installation, counted where its record does not tell."""
    with contextlib.suppress(OSError, ValueError):
        told = _record(final)
        if isinstance(told, dict) and isinstance(size := told.get(_BYTES), int):
            return size
    return _size(final)


def _size(folder: Path) -> int:
    """The bytes of all files below a folder; what is removed meanwhile has none."""
    total = 0
    with contextlib.suppress(FileNotFoundError):
        for _, _, files, place in os.fwalk(folder):
            for name in files:
                with contextlib.suppress(FileNotFoundError):
                    total += os.stat(name, dir_fd=place, follow_symlinks=False).st_size
    return total


def _held(record: Path) -> bool:
    """Lock a record until this process ends, and note its use; False where it was just removed."""
    try:
        descriptor = os.open(record, os.O_RDONLY | os.O_NOFOLLOW)
    except FileNotFoundError:
        return False
    fcntl.flock(descriptor, fcntl.LOCK_SH)
    status = os.fstat(descriptor)
    if not _stands(descriptor, record):
        os.close(descriptor)
        return False
    os.utime(descriptor)
    if _LOCKS.setdefault((status.st_dev, status.st_ino), descriptor) != descriptor:
        os.close(descriptor)
    return True


def _stands(descriptor: int, record: Path) -> bool:
    """Whether an open record is the one that lies there: another run may have made it anew."""
    try:
        return os.path.samestat(os.fstat(descriptor), record.lstat())
    except FileNotFoundError:
        return False


def _used(record: Path) -> float:
    try:
        return record.lstat().st_mtime
    except OSError:
        return 0.0


def _move(work: Path, final: Path) -> None:
    try:
        work.rename(final)
    except OSError:
        if not final.is_dir():
            raise


def _own(folder: Path) -> None:
    status = folder.lstat()
    if status.st_uid != os.geteuid() or status.st_mode & 0o022 or not stat.S_ISDIR(status.st_mode):
        raise ProvisionError(
            f"{folder} belongs to another user or can be written by one: remove it or name "
            "another cache folder"
        )


def _passable(parent: Path, folder: Path) -> None:
    status = parent.stat()
    if status.st_mode & 0o022 and not status.st_mode & stat.S_ISVTX:
        raise ProvisionError(f"{parent} can be written by others: name another cache folder")
    if os.geteuid() == 0 and not status.st_mode & stat.S_IXOTH:
        raise ProvisionError(
            f"{folder} cannot be reached by the user that tests run as, because {parent} is "
            "private: name a cache folder that others can enter"
        )
