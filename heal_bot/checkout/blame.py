"""Which commit brought a line, or took a name or a file away."""

from __future__ import annotations

import os
import re

from heal_bot.checkout.bare_repository import Repository
from heal_bot.checkout.git_objects import read_former
from heal_bot.core.events import Run
from heal_bot.core.model import Removal

_HEAD = re.compile(rb"([0-9a-f]{40,64}) ")
_FORMAT = "--format=%H%x00%s%x00"


def blame_line(run: Run, repository: Repository, sha: str, path: str, line: int) -> tuple[str, str]:
    """The commit that a line is from, and its title; '' where it is older than what is at hand."""
    told = repository.git.read(run, "blame", "--porcelain", "-L", f"{line},{line}", sha, "--", path)
    head = _HEAD.match(told)
    if head is None or (b"\nboundary\n" in told and _is_cut(run, repository)):
        return "", ""
    title = re.search(rb"^summary (.*)$", told, re.MULTILINE)
    return head[1].decode(), title[1].decode(errors="replace") if title else ""


def find_removal(
    run: Run, repository: Repository, sha: str, path: str, name: str
) -> Removal | None:
    """The newest commit that took a name out of a file; without a name, the file away.

    A file is named by its end. None where the history at hand does not tell.
    """
    where = f":(literal){path}" if name else f":(glob)**/{path}"
    asked = ("-S", _binds(name), "--pickaxe-regex") if name else ("--diff-filter=D",)
    told = repository.git.read(
        run, "log", "-1", _FORMAT, "-z", "--name-only", "--no-renames", *asked,
        "--end-of-options", sha, "--", where,
    )  # fmt: skip
    parts = told.split(b"\0")
    if len(parts) < 4:
        return None
    commit, title, *rest = parts
    files = [os.fsdecode(part.strip(b"\n")) for part in rest if part.strip(b"\n")]
    if not files:
        return None
    parent = f"{commit.decode()}^1"
    before = read_former(run, repository, parent, files[0])
    if before is None:
        return None
    moved = "" if name else _moved(run, repository, parent, commit.decode(), files[0])
    return Removal(commit.decode(), title.decode(errors="replace"), files[0], before, moved)


def _binds(name: str) -> str:
    """What binds a name at the top of a module, as an extended regular expression."""
    return (
        rf"^[ \t]*(async[ \t]+)?(def|class)[ \t]+{name}\b|^{name}[ \t]*[:=,]"
        rf"|^(from|import)[ \t].*\b{name}\b|^[ \t]+(.*\bas[ \t]+)?{name}[ \t]*(,|\)|$)"
    )


def _moved(run: Run, repository: Repository, before: str, after: str, path: str) -> str:
    """Where a commit moved a file, as git finds it; '' where it found nowhere."""
    told = repository.git.read(
        run, "diff-tree", "-r", "-z", "-M", "--diff-filter=R", "--name-status",
        "--end-of-options", before, after,
    )  # fmt: skip
    parts = [os.fsdecode(part) for part in told.split(b"\0")]
    triples = zip(parts[::3], parts[1::3], parts[2::3], strict=False)
    return next((new for _, old, new in triples if old == path), "")


def _is_cut(run: Run, repository: Repository) -> bool:
    """Whether the history at hand has an end that is not its beginning."""
    return repository.git.read(run, "rev-parse", "--is-shallow-repository").strip() != b"false"
