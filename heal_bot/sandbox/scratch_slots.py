"""Scratch folders of the sandbox: where they may lie, and how a hostile one is emptied."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from dataclasses import dataclass
from pathlib import Path

from heal_bot.core.errors import ProvisionError

SCRATCH_PARTS = ("repo", "home", "tmp")
_SHM = Path("/dev/shm")  # noqa: S108 - emptied of what a slot's uid left there
_ENOUGH = 256 << 20


@dataclass(frozen=True, slots=True)
class Slot:
    """One place where a job may run: a uid of its own (None without root) and its folders.

    `root` belongs to us and cannot be changed from inside; `repo`, `home` and `tmp` belong to
    the uid, mode 0700. After a job ran, whatever lies in them was written by the enemy.
    """

    index: int
    uid: int | None
    root: Path

    @property
    def repo(self) -> Path:
        """Where the tree under test is put."""
        return self.root / "repo"

    @property
    def home(self) -> Path:
        """The program's HOME."""
        return self.root / "home"

    @property
    def tmp(self) -> Path:
        """The program's TMPDIR."""
        return self.root / "tmp"

    def renew(self) -> None:
        """Throw away what is there and make the folders anew; no job may be running."""
        if self.uid is None:
            # Modes can be changed from inside where the job had our own uid.
            self.root.parent.chmod(0o711)
        remove_tree(self.root)
        self.root.mkdir(mode=0o711)
        self.root.chmod(0o711)
        for name in SCRATCH_PARTS:
            part = self.root / name
            part.mkdir(mode=0o700)
            if self.uid is not None:
                os.chown(part, self.uid, self.uid)
        if self.uid is not None:
            purge_shared_memory(self.uid)


def choose_scratch(wanted: Path | None) -> Path:
    """A fresh folder (0711) that any uid can reach, below `wanted` or a system folder."""
    candidates = [wanted] if wanted else [Path("/tmp"), Path("/var/tmp")]  # noqa: S108
    complaints = []
    for parent in candidates:
        complaint = _unusable(parent)
        if not complaint:
            folder = Path(tempfile.mkdtemp(prefix="heal-bot-", dir=parent))
            folder.chmod(0o711)
            return folder.resolve()
        complaints.append(complaint)
    raise ProvisionError(
        f"no folder for scratch copies: {'; '.join(complaints)}; name one with "
        "HEAL_BOT_SCRATCH that every user may enter and that has 256 MiB free"
    )


def _unusable(parent: Path) -> str:
    """Why scratch folders cannot lie below `parent`, or nothing."""
    try:
        for ancestor in (parent.resolve(strict=True), *parent.resolve().parents):
            if os.geteuid() == 0 and not ancestor.stat().st_mode & stat.S_IXOTH:
                return f"{ancestor} cannot be entered by other users"
        space = os.statvfs(parent)
    except OSError as error:
        return f"{parent}: {error.strerror}"
    if not os.access(parent, os.W_OK | os.X_OK):
        return f"{parent} is not writable"
    if space.f_bavail * space.f_frsize < _ENOUGH:
        return f"{parent} has less than 256 MiB free"
    return ""


def remove_scratch(folder: Path) -> None:
    """Remove a sandbox's scratch folder: its slots, and the logs beside them."""
    folder.chmod(0o711)
    for entry in folder.iterdir():
        if entry.is_dir() and not entry.is_symlink():
            remove_tree(entry)
        else:
            entry.unlink()
    folder.rmdir()


def purge_shared_memory(uid: int) -> None:
    """Remove the files in /dev/shm that belong to a slot's uid."""
    with contextlib.suppress(FileNotFoundError), os.scandir(_SHM) as entries:
        for entry in entries:
            with contextlib.suppress(FileNotFoundError):
                if entry.stat(follow_symlinks=False).st_uid == uid:
                    Path(entry.path).unlink()


def remove_tree(root: Path) -> None:
    """Remove a folder written by an enemy: any depth, any mode, never through a link.

    Nested folders are moved up beside their parent before they are entered, so that neither
    recursion nor path length nor open descriptors grow with the depth.
    """
    try:
        top = _enter(root)
    except FileNotFoundError:
        return
    try:
        waiting, count = _empty(top, None, None), 0
        while waiting:
            name = waiting.pop()
            os.chmod(name, 0o700, dir_fd=top)
            inner = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=top)
            try:
                for child in _empty(inner, top, count):
                    waiting.append(child)
                    count += 1
            finally:
                os.close(inner)
            os.rmdir(name, dir_fd=top)
    finally:
        os.close(top)
    root.rmdir()


def _enter(root: Path) -> int:
    """A descriptor of a folder in a folder of ours; its mode may have been taken away."""
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
    if not stat.S_ISLNK(root.lstat().st_mode):
        root.chmod(0o711)
    return os.open(root, flags)


def _empty(folder: int, top: int | None, count: int | None) -> list[str]:
    """Unlink the files of a folder; the names its folders have in `top` afterwards."""
    moved: list[str] = []
    with os.scandir(folder) as entries:
        found = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
    for name, is_folder in found:
        if not is_folder:
            os.unlink(name, dir_fd=folder)
        elif top is None or count is None:
            moved.append(name)
        else:
            # Moving a folder rewrites its "..", which needs write access to the folder itself.
            os.chmod(name, 0o700, dir_fd=folder)
            place = f".heal-bot-{count + len(moved)}"
            os.rename(name, place, src_dir_fd=folder, dst_dir_fd=top)
            moved.append(place)
    return moved
