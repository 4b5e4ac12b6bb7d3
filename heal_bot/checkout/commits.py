"""The commits between two states of a repository, and the files that one of them changes."""

from __future__ import annotations

import os

from heal_bot.checkout.bare_repository import DEPTH, Repository
from heal_bot.checkout.git_objects import read_former
from heal_bot.core.errors import UsageError, WorkspaceError
from heal_bot.core.events import Run
from heal_bot.core.model import ChangedFile, Commit
from heal_bot.source.paths import tells_users

# Beyond so many commits a bisection asks for what a checkout of CI does not hold.
_MOST = 10_000
_FILES = 200
_BYTES = 32 << 20
_LOG = "--format=%H%x00%P%x00%s"


def list_commits(run: Run, repository: Repository, good: str, bad: str) -> tuple[Commit, ...]:
    """The commits of the first-parent line from where `good` branches off to `bad`, oldest first.

    Without a `good`, or where it is gone, as many as are at hand. The history is deepened no
    further than needed. Those whose parent is not at hand are left out.
    """
    base = _branching(run, repository, good, bad) if good else ""
    span = (f"{base}..{bad}",) if base not in {"", bad} else (bad, f"--max-count={DEPTH}")
    rows = repository.git.read(run, "log", "--first-parent", "-z", _LOG, *span, "--").split(b"\0")
    found = [
        Commit(sha.decode(), parents.decode().partition(" ")[0], title.decode(errors="replace"))
        for sha, parents, title in zip(rows[::3], rows[1::3], rows[2::3], strict=False)
    ]
    cut = next((at for at, commit in enumerate(found) if not commit.parent), len(found))
    return tuple(reversed(found[:cut]))


def _branching(run: Run, repository: Repository, good: str, bad: str) -> str:
    """The newest commit that both have; '' where there is none at hand."""
    try:
        repository.fetch(run, good)
    except (UsageError, WorkspaceError):
        return ""
    depth = DEPTH
    while True:
        if told := repository.git.read(run, "merge-base", good, bad):
            return told.decode().strip()
        depth *= 8
        if depth > _MOST or not repository.deepen(run, (good, bad), depth):
            return ""


def changed_files(run: Run, repository: Repository, good: str, bad: str) -> tuple[ChangedFile, ...]:
    """The Python files and docs that a commit changes, moves or adds; an added one was empty.

    Of a commit that changes more than 200 of them, or 32 MiB, the first ones.
    """
    told = repository.git.read(
        run, "diff-tree", "-r", "-z", "-M", "--diff-filter=AMR", "--name-status",
        "--end-of-options", good, bad,
    )  # fmt: skip
    parts = [os.fsdecode(part) for part in told.split(b"\0")]
    found: list[ChangedFile] = []
    at, room = 0, _BYTES
    while at + 1 < len(parts) and len(found) < _FILES:
        old, new = parts[at + 1], parts[at + 2] if parts[at].startswith("R") else parts[at + 1]
        at += 3 if parts[at].startswith("R") else 2
        if new.endswith(".py") or tells_users(new):
            before = read_former(run, repository, good, old) or b""
            after = read_former(run, repository, bad, new) or b""
            room -= len(before) + len(after)
            if room < 0:
                break
            found.append(ChangedFile(new, before, after))
    return tuple(found)
