"""Folders copied byte by byte: nothing shared with the original, no link out, a hash of it all."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

_PIECE = 1 << 20
_DEEPEST = 100
_BELOW = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
Change = Callable[[str, bytes], bytes | None]


@dataclass(slots=True)
class Manifest:
    """What was copied: a line per file; `hash()` names the whole.

    Compiled files (__pycache__) are copied, because a read-only folder cannot make them, but not
    counted, because they differ from machine to machine.
    """

    lines: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)

    def hash(self) -> str:
        """SHA-256 over the sorted lines."""
        return hashlib.sha256("\n".join(sorted(self.lines)).encode()).hexdigest()


def walk(top: Path, leave: Callable[[str], bool]) -> Iterator[tuple[str, int, os.stat_result]]:
    """Files and links below `top`: relative path, descriptor of its folder, status.

    `leave` says which relative paths (folders with a slash at the end) are passed over.
    """
    place = os.open(top, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield from _walked(place, "", leave)
    finally:
        os.close(place)


def _walked(
    place: int, prefix: str, leave: Callable[[str], bool]
) -> Iterator[tuple[str, int, os.stat_result]]:
    """The files of an open folder by name, then those of its folders."""
    with os.scandir(place) as entries:
        found = sorted(entries, key=lambda entry: entry.name)
    inner = []
    for entry in found:
        if entry.is_dir(follow_symlinks=False):
            inner.append(entry.name)
        elif not leave(prefix + entry.name):
            yield prefix + entry.name, place, entry.stat(follow_symlinks=False)
    for name in inner:
        if not leave(f"{prefix}{name}/"):
            try:
                below = os.open(name, _BELOW, dir_fd=place)
            except PermissionError:  # the tests could not read it where it lies, either
                continue
            try:
                yield from _walked(below, f"{prefix}{name}/", leave)
            finally:
                os.close(below)


def fingerprint(top: Path, leave: Callable[[str], bool]) -> str:
    """SHA-256 over path, size, time and inode of every file: changes when a file does."""
    digest = hashlib.sha256(str(top).encode())
    for path, _, status in walk(top, leave):
        digest.update(
            f"{path}\0{status.st_size}\0{status.st_mtime_ns}\0{status.st_ino}\n".encode(
                errors="surrogateescape"
            )
        )
    return digest.hexdigest()


def signature(top: Path, leave: str = "") -> str:
    """What the kernel knows of every file and folder below, as a number: changes when one does.

    Who changes a file can give back its size and times, but not its ctime. `leave` is a name at
    the top that does not count. Only to be compared within this process, whose hashes nobody
    else can foresee; a sum of them, since sorting and a digest would double what it takes.
    """
    total = 0
    waiting = [str(top)]
    while waiting:
        folder = waiting.pop()
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name == leave and folder == str(top):
                    continue
                status = entry.stat(follow_symlinks=False)
                total += hash(
                    (entry.path, status.st_mode, status.st_size, status.st_ino,
                     status.st_mtime_ns, status.st_ctime_ns)
                )  # fmt: skip
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
    return f"{total:x}"


def copy(
    top: Path,
    target: Path,
    manifest: Manifest,
    leave: Callable[[str], bool],
    change: Change | None = None,
    label: str = "",
) -> None:
    """Copy what is below `top` to `target`, times kept, as ours: 0644, 0755 where executable.

    `change(path, bytes)` may replace what is copied, None leaves it out; it sees files up to
    1 MiB. Files that exist in `target` already stay (the first folder of sys.path wins). Links
    are kept when they stay below `top`; other links and special files go to `manifest.skipped`.
    """
    real = top.resolve()
    for path, place, status in walk(top, leave):
        goal = target / path
        if os.path.lexists(goal):
            continue
        name = path.rpartition("/")[2]
        if stat.S_ISLNK(status.st_mode):
            if not _link(real, goal, path, os.readlink(name, dir_fd=place)):
                manifest.skipped.append(path)
        elif stat.S_ISREG(status.st_mode):
            _file(place, name, goal, status, manifest, change, label + path)
        else:
            manifest.skipped.append(path)


def take_over(top: Path, target: Path) -> None:
    """Move what a job left below `top`, which no process changes any more, to `target`, as ours.

    Files that exist in `target` already stay. OSError for a link or what else is no file of the
    job's user, and for folders that lie too deep.
    """
    owner, files = top.lstat(), Manifest()
    if not stat.S_ISDIR(owner.st_mode):
        raise NotADirectoryError(errno.ENOTDIR, "it is no folder", str(top.name))
    for path, place, status in walk(top, lambda _: False):
        if path.count("/") > _DEEPEST:
            raise OSError(errno.ENAMETOOLONG, "folders lie too deep", path[:100])
        if not stat.S_ISREG(status.st_mode) or status.st_uid != owner.st_uid:
            raise OSError(errno.EINVAL, "it is no file of a package", path)
        goal, name = target / path, path.rpartition("/")[2]
        if os.path.lexists(goal):
            continue
        _folder(goal.parent)
        if status.st_uid != os.geteuid():
            os.chown(name, os.geteuid(), os.getegid(), dir_fd=place, follow_symlinks=False)
        os.chmod(name, 0o755 if status.st_mode & stat.S_IXUSR else 0o644, dir_fd=place)
        try:
            os.rename(name, goal, src_dir_fd=place)
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            _file(place, name, goal, status, files, None, path)


def _link(top: Path, goal: Path, path: str, text: str) -> bool:
    end = os.path.realpath(top / path)
    if text.startswith("/") or not end.startswith(f"{top}/"):
        return False
    _folder(goal.parent)
    goal.symlink_to(text)
    return True


def _file(
    place: int,
    name: str,
    goal: Path,
    status: os.stat_result,
    manifest: Manifest,
    change: Change | None,
    label: str,
) -> None:
    digest = hashlib.sha256()
    mode = 0o755 if status.st_mode & stat.S_IXUSR else 0o644
    source = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=place)
    try:
        data: bytes | None = os.read(source, _PIECE)
        whole = len(data or b"") == status.st_size
        if change is not None and whole and data is not None:
            data = change(label, data)
        if data is None:
            return
        _folder(goal.parent)
        out = os.open(goal, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, mode)
        with os.fdopen(out, "wb") as stream:
            while data:
                digest.update(data)
                stream.write(data)
                data = b"" if whole else os.read(source, _PIECE)
            os.fchmod(out, mode)
    finally:
        os.close(source)
    os.utime(goal, ns=(status.st_mtime_ns, status.st_mtime_ns))
    if "__pycache__/" not in label:
        manifest.lines.append(f"{label} {mode:o} {digest.hexdigest()}")


def _folder(path: Path) -> None:
    if not path.is_dir():
        _folder(path.parent)
        path.mkdir(mode=0o755)
        path.chmod(0o755)
