"""A commit's files as git lists and hands them out: entries, blobs, changed lines."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from heal_bot.checkout.bare_repository import Repository
from heal_bot.core.errors import ProvisionError, WorkspaceError
from heal_bot.core.events import Run
from heal_bot.core.model.regression import MAX_FILES

# Caps for what a commit may hold: beyond them a checkout per run would take minutes.
MAX_FILE = 256 << 20
MAX_TOTAL = 4 << 30
# What the system takes as a path below our folder, and what can be removed again.
MAX_PATH = 3_000
MAX_DEPTH = 400
_BATCH = 32 << 20
_HUNK = re.compile(rb"@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


@dataclass(frozen=True, slots=True)
class TreeEntry:
    """A path of a commit; mode as git writes it: 100644, 100755, 120000 (link), 160000 (module)."""

    path: str
    mode: str
    blob: str
    size: int


def list_entries(
    run: Run, repository: Repository, sha: str, most: int = MAX_FILES
) -> tuple[TreeEntry, ...]:
    """All entries of a commit, sorted by path; ProvisionError when it is beyond the caps."""
    listed = repository.git.run(
        run, "ls-tree", "-r", "-z", "-l", "--full-tree", "--end-of-options", sha
    )
    found = []
    for line in listed.split(b"\0")[:-1]:
        head, _, raw = line.partition(b"\t")
        mode, _, blob, size = head.decode().split()
        path = os.fsdecode(raw)
        _refuse_odd(path)
        found.append(TreeEntry(path, mode, blob, 0 if size == "-" else int(size)))
    total = sum(entry.size for entry in found)
    count = len(found) + _count_folders((entry.path for entry in found), most)
    if count > most or total > MAX_TOTAL or any(e.size > MAX_FILE for e in found):
        raise ProvisionError(
            f"commit {sha[:12]} holds {len(found)} files of {total >> 20} MiB, with their folders "
            f"more than heal-bot checks out ({most} files and folders, {MAX_TOTAL >> 30} GiB, "
            f"{MAX_FILE >> 20} MiB a file)"
        )
    longest = max((os.fsencode(entry.path) for entry in found), key=len, default=b"")
    deepest = max((entry.path.count("/") for entry in found), default=0)
    if len(longest) > MAX_PATH or deepest > MAX_DEPTH:
        raise ProvisionError(
            f"commit {sha[:12]} holds paths of up to {deepest} folders and {len(longest)} bytes, "
            f"more than heal-bot checks out ({MAX_DEPTH} folders, {MAX_PATH} bytes)"
        )
    return tuple(sorted(found, key=lambda entry: entry.path))


def read_blobs(
    run: Run, repository: Repository, wanted: Sequence[TreeEntry]
) -> Iterator[tuple[TreeEntry, bytes]]:
    """The bytes of each entry, in order, a few MiB at a time."""
    batch: list[TreeEntry] = []
    size = 0
    for entry in wanted:
        if batch and size + entry.size > _BATCH:
            yield from _batch(run, repository, batch)
            batch, size = [], 0
        batch.append(entry)
        size += entry.size
    if batch:
        yield from _batch(run, repository, batch)


def changed_lines(
    run: Run, repository: Repository, since: str, sha: str
) -> dict[str, frozenset[int]]:
    """Lines of each Python file of `sha` that are new or different since commit `since`."""
    told = repository.git.read(
        run, "diff", "--unified=0", "--no-ext-diff", "--no-textconv", "--no-renames", "--no-color",
        "--src-prefix=a/", "--dst-prefix=b/", "--ignore-submodules=all", "--text",
        "--end-of-options", since, sha, "--", "*.py",
    )  # fmt: skip
    changed: dict[str, set[int]] = {}
    lines: set[int] = set()
    left = 0
    for line in told.split(b"\n"):
        if left > 0:
            left -= line[:1] in {b"+", b"-"}
        elif line.startswith(b"+++ b/"):
            lines = changed.setdefault(os.fsdecode(line[6:].rstrip(b"\t")), set())
        elif line.startswith(b"+++ "):
            lines = set()
        elif hunk := _HUNK.match(line):
            first = int(hunk[2])
            removed, added = (1 if count is None else int(count) for count in (hunk[1], hunk[3]))
            lines.update(range(first, first + added))
            left = removed + added
    return {path: frozenset(found) for path, found in changed.items() if found}


def changed_paths(run: Run, repository: Repository, since: str, sha: str) -> tuple[str, ...]:
    """The paths that differ between two commits, deleted ones too."""
    asked = ("--name-only", "-z", "--no-renames", "--no-ext-diff", "--end-of-options", since, sha)
    told = repository.git.read(run, "diff", *asked)
    return tuple(os.fsdecode(path) for path in told.split(b"\0")[:-1])


def base_of(run: Run, repository: Repository, sha: str) -> str | None:
    """The first parent, where the changes under test began; None beyond the history at hand."""
    asked = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{sha}^1")
    return repository.git.read(run, *asked).decode().strip() or None


def read_former(run: Run, repository: Repository, since: str, path: str) -> bytes | None:
    """A regular file as commit `since` had it; None when that has none, or one beyond the caps."""
    where = f":(literal){path}"
    listed = repository.git.read(
        run, "ls-tree", "-z", "--full-tree", "--end-of-options", since, "--", where
    )
    head = listed.partition(b"\t")[0].split()
    if len(head) != 3 or head[0] not in {b"100644", b"100755"}:
        return None
    told = repository.git.attempt(run, "cat-file", "blob", head[2].decode())
    return told.stdout if told.ok else None


def find_newest_commit(run: Run, repository: Repository, since: str, sha: str, path: str) -> str:
    """The newest commit after `since` up to `sha` that changed the file; '' without one."""
    told = repository.git.read(
        run, "log", "-1", "--format=%H", "--no-renames", "--end-of-options",
        f"{since}..{sha}", "--", f":(literal){path}",
    )  # fmt: skip
    return told.decode().strip()


def _batch(
    run: Run, repository: Repository, batch: Sequence[TreeEntry]
) -> Iterator[tuple[TreeEntry, bytes]]:
    names = "".join(f"{entry.blob}\n" for entry in batch).encode()
    cap = sum(entry.size for entry in batch) + 256 * len(batch) + 4096
    data = repository.git.run(run, "cat-file", "--batch", stdin=names, cap=cap, seconds=300)
    at = 0
    for entry in batch:
        end = data.index(b"\n", at)
        header = data[at:end].decode().split()
        if header[1:] != ["blob", str(entry.size)]:
            raise WorkspaceError(f"object {entry.blob} of {entry.path} is missing: {header}")
        yield entry, data[end + 1 : end + 1 + entry.size]
        at = end + 1 + entry.size + 1


def _count_folders(paths: Iterable[str], most: int) -> int:
    """How many folders the paths lie in; no more than one beyond `most` are counted."""
    found: set[str] = set()
    for path in paths:
        while (path := path.rpartition("/")[0]) and path not in found and len(found) <= most:
            found.add(path)
    return len(found)


def _refuse_odd(path: str) -> None:
    parts = path.split("/")
    if any(part in {"", ".", ".."} or part.lower() == ".git" for part in parts):
        raise WorkspaceError(f"the commit contains an unsafe path: {path!r}")
