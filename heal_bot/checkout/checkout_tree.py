"""A checkout made by us: files written from blobs of one commit, with or without a patch."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from heal_bot.checkout import blame
from heal_bot.checkout.bare_repository import Repository
from heal_bot.checkout.git_objects import (
    TreeEntry,
    base_of,
    changed_lines,
    changed_paths,
    find_newest_commit,
    list_entries,
    read_blobs,
    read_former,
)
from heal_bot.checkout.version_file import version_files
from heal_bot.core import safe_open
from heal_bot.core.errors import BudgetError, ProvisionError, WorkspaceError
from heal_bot.core.events import Run
from heal_bot.core.model import PatchedFile, Removal
from heal_bot.source.edit import blob_id

_LINK, _MODULE, _EXECUTABLE = "120000", "160000", "100755"
_LFS = b"version https://git-lfs.github.com/spec/"
# Sources kept in memory, because every stage reads them; the rest is asked for when needed.
_KEPT = (".py", ".pyi", ".toml", ".cfg", ".ini")
_KEPT_FILE = 2 << 20
_KEPT_TOTAL = 128 << 20


@dataclass(frozen=True, slots=True)
class GitTree:
    """One commit as files below `root`; implements the Tree port.

    `notes` name what the checkout lacks: submodules, links that leave it, Git LFS pointers.
    """

    sha: str
    tree_sha: str
    root: Path
    notes: tuple[str, ...]
    _run: Run
    _repository: Repository
    _entries: Mapping[str, TreeEntry]
    _kept: Mapping[str, bytes]
    _patched: Mapping[str, bytes]
    _since: str = ""

    def paths(self) -> tuple[str, ...]:
        """All file paths of the commit, sorted; links are among them, submodules are not."""
        return tuple(path for path, entry in self._entries.items() if entry.mode != _MODULE)

    def read(self, path: str) -> bytes:
        """The bytes of a regular file, patched or as committed; KeyError when there is none."""
        if path in self._patched:
            return self._patched[path]
        if path in self._kept:
            return self._kept[path]
        entry = self._regular(path)
        return next(data for _, data in read_blobs(self._run, self._repository, (entry,)))

    def blob(self, path: str) -> str:
        """The blob id of a regular file in the commit; KeyError when there is none."""
        return self._regular(path).blob

    def since(self, sha: str) -> GitTree:
        """The same tree, with what was changed counted from another commit than its parent."""
        return replace(self, _since=sha)

    def _base(self) -> str | None:
        return self._since or base_of(self._run, self._repository, self.sha)

    def changed_lines(self) -> dict[str, frozenset[int]]:
        """Lines per Python file that the commits under test changed; empty without history."""
        since = self._base()
        return changed_lines(self._run, self._repository, since, self.sha) if since else {}

    def changed_paths(self) -> tuple[str, ...]:
        """All files that the commits under test changed, brought or deleted."""
        since = self._base()
        return changed_paths(self._run, self._repository, since, self.sha) if since else ()

    def former(self, path: str) -> bytes | None:
        """A file as it was before the commits under test; None without history or such a file."""
        since = self._base()
        return read_former(self._run, self._repository, since, path) if since else None

    def changed_by(self, path: str) -> str:
        """The newest of the commits under test that changed the file; '' without one."""
        since = self._base()
        return (
            find_newest_commit(self._run, self._repository, since, self.sha, path) if since else ""
        )

    def blamed(self, path: str, line: int) -> tuple[str, str]:
        """The commit that a line is from, and its title; '' where the history does not tell."""
        return blame.blame_line(self._run, self._repository, self.sha, path, line)

    def removal(self, path: str, name: str) -> Removal | None:
        """The newest commit that took a name out of a file, or, for '', a file of that end away."""
        return blame.find_removal(self._run, self._repository, self.sha, path, name)

    def with_files(self, run: Run, files: Sequence[PatchedFile], scratch: Path) -> GitTree:
        """A fresh checkout of the same commit in which `files` have their new content.

        WorkspaceError when a file is not in the commit or its base blob differs.
        """
        for file in files:
            if file.path not in self._entries or self._regular(file.path).blob != file.base_blob:
                raise WorkspaceError(
                    f"{file.path} is not the file the patch was made for in {self.sha[:12]}"
                )
        patch = {file.path: file.content.encode("utf-8", "surrogateescape") for file in files}
        return _write(run, self, scratch, patch)

    def _regular(self, path: str) -> TreeEntry:
        entry = self._entries[path]
        if entry.mode in {_LINK, _MODULE}:
            raise KeyError(path)
        return entry


def checkout(run: Run, repository: Repository, sha: str, scratch: Path) -> GitTree:
    """Write the files of commit `sha` to a new folder below `scratch`."""
    return _write(run, list_committed(run, repository, sha, scratch), scratch, {})


def list_committed(run: Run, repository: Repository, sha: str, scratch: Path) -> GitTree:
    """The files of commit `sha` as git holds them; nothing is written."""
    repository.fetch(run, sha)
    told = repository.git.run(run, "rev-parse", "--verify", "--end-of-options", f"{sha}^{{tree}}")
    found = {entry.path: entry for entry in list_entries(run, repository, sha)}
    return GitTree(sha, told.decode().strip(), scratch, (), run, repository, found, {}, {})


def list_dirty(source: Path, tree: GitTree) -> tuple[str, ...]:
    """Committed paths whose working file below `source` is missing or differs in its bytes.

    Line endings that differ throughout, links, submodules and Git LFS files do not count.
    """
    found = []
    for path, entry in tree._entries.items():
        if entry.mode in {_LINK, _MODULE}:
            continue
        try:
            data = safe_open.read(source, path, max(entry.size * 2, 1 << 20))
        except OSError:
            found.append(path)
            continue
        plain = data.replace(b"\r\n", b"\n")
        if entry.blob not in {blob_id(data, entry.blob), blob_id(plain, entry.blob)}:
            pointer = entry.size < 1024 and tree.read(path).startswith(_LFS)
            if not pointer:
                found.append(path)
    return tuple(found)


def _write(run: Run, tree: GitTree, scratch: Path, patch: Mapping[str, bytes]) -> GitTree:
    """Write the files of `tree`, `patch` in place of what it names, to a new folder."""
    try:
        scratch.mkdir(mode=0o755, parents=True, exist_ok=True)
        root = Path(tempfile.mkdtemp(prefix=f"{tree.sha[:12]}-", dir=scratch)).resolve()
        root.chmod(0o755)
        kept, notes = _fill(run, tree, root, patch)
    except OSError as error:
        raise ProvisionError(
            f"{scratch} cannot take a checkout ({error.strerror}): free space or name another "
            "folder"
        ) from error
    patched = {**tree._patched, **patch}
    return replace(tree, root=root, notes=notes, _run=run, _kept=kept, _patched=patched)


def _fill(
    run: Run, tree: GitTree, root: Path, patch: Mapping[str, bytes]
) -> tuple[dict[str, bytes], tuple[str, ...]]:
    repository, found = tree._repository, tree._entries.values()
    patched = {**tree._patched, **patch}
    folders = {path.rpartition("/")[0] for path in tree._entries} - {""}
    for folder in sorted({f[:i] for f in folders for i in _ends(f)}):
        (root / folder).mkdir(mode=0o755)
        (root / folder).chmod(0o755)
    notes = [
        f"submodule {e.path} is left out: give what it holds with setup, or commit it"
        for e in found
        if e.mode == _MODULE
    ]
    kept: dict[str, bytes] = {}
    room = _KEPT_TOTAL
    links: list[tuple[str, bytes]] = []
    for entry, data in read_blobs(run, repository, [e for e in found if e.mode != _MODULE]):
        if run.left() <= 0:
            raise BudgetError(
                f"commit {tree.sha[:12]} of {len(found)} files was not checked out in time: "
                "raise max-minutes"
            )
        if entry.mode == _LINK:
            links.append((entry.path, data))
            continue
        _put(root / entry.path, patched.get(entry.path, data), entry.mode == _EXECUTABLE)
        if data.startswith(_LFS):
            notes.append(
                f"{entry.path} is a Git LFS pointer, its content is not here: tests that read it"
                " need a small copy in git"
            )
        if entry.path.endswith(_KEPT) and len(data) <= min(_KEPT_FILE, room):
            kept[entry.path] = data
            room -= len(data)
    for path, data in version_files(repository.source, kept, tree._entries).items():
        _put(root / path, data, False)
    return kept, tuple(notes + _link(root, links))


def _ends(folder: str) -> list[int]:
    """Where each leading part of a path ends."""
    return [i for i, letter in enumerate(folder) if letter == "/"] + [len(folder)]


def _put(path: Path, data: bytes, executable: bool) -> None:
    mode = 0o755 if executable else 0o644
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, mode)
    with os.fdopen(file, "wb") as stream:
        os.fchmod(file, mode)
        stream.write(data)


def _link(root: Path, links: Sequence[tuple[str, bytes]]) -> list[str]:
    """Make the links that stay inside `root`; say which did not.

    They come after all files, so that no file is written through one, and are looked at again
    when all stand, because a link may lead out only through another.
    """
    made = []
    for path, raw in links:
        target = os.fsdecode(raw)
        if raw and b"\0" not in raw and not target.startswith("/"):
            (root / path).symlink_to(target)
            made.append(path)
    left = set(made)
    while out := [path for path in left if not _inside(root, root / path)]:
        for path in out:
            (root / path).unlink()
            left.discard(path)
    return [
        f"link {path} leaves the checkout and is left out" for path, _ in links if path not in left
    ]


def _inside(root: Path, link: Path) -> bool:
    try:
        end = Path(os.path.realpath(link, strict=False))
    except OSError:
        return False
    return end.is_relative_to(root)
