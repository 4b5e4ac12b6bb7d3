"""Clones of public projects in the folder of `--data`, read with git alone."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from benchmarks.street.recipes import EXCLUDED

# No configuration of the machine or of a clone takes part.
GIT = {
    "PATH": os.environ.get("PATH", os.defpath),
    "HOME": "/nonexistent",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C.UTF-8",
}


class CloneError(Exception):
    """A clone or a commit that is not there; the message names it."""


@dataclass(frozen=True, slots=True)
class Clone:
    """The git directory of a project; `repository` is its owner and name."""

    repository: str
    path: Path

    def git(self, *args: str, seconds: float = 120) -> str:
        """What a git command on the clone prints."""
        done = subprocess.run(
            ["git", "--git-dir", str(self.path), "-c", "core.quotePath=false", *args],
            capture_output=True, env=GIT, timeout=seconds,
        )  # fmt: skip
        if done.returncode:
            said = done.stderr.decode(errors="replace").strip()
            raise CloneError(f"{self.repository}: git {args[0]}: {said[-300:]}")
        return done.stdout.decode(errors="surrogateescape")

    def read(self, sha: str, path: str) -> str:
        """A text file at a commit; '' where it is not there or no text."""
        try:
            return self.git("show", "--end-of-options", f"{sha}:{path}")
        except CloneError:
            return ""

    def check_out(self, folder: Path) -> None:
        """A work tree of its own, at no commit yet."""
        argv = ["git", "clone", "--quiet", "--shared", "--no-checkout", str(self.path), str(folder)]
        subprocess.run(argv, env=GIT, check=True, capture_output=True, timeout=300)


@dataclass(frozen=True)
class CommitTree:
    """A commit of a clone, as stages read a tree; no history takes part."""

    clone: Clone
    sha: str
    _known: dict[str, bytes] = field(default_factory=dict)

    @cached_property
    def _listed(self) -> tuple[str, ...]:
        return tuple(self.clone.git("ls-tree", "-r", "--name-only", self.sha).splitlines())

    def paths(self) -> tuple[str, ...]:
        """All files."""
        return self._listed

    def read(self, path: str) -> bytes:
        """One file; KeyError where the commit has none of that name."""
        if path not in self._listed:
            raise KeyError(path)
        if path not in self._known:
            text = self.clone.read(self.sha, path)
            self._known[path] = text.encode("utf-8", "surrogateescape")
        return self._known[path]

    def changed_lines(self) -> dict[str, frozenset[int]]:
        """None: no history takes part."""
        return {}

    def former(self, path: str) -> bytes | None:
        """None likewise."""
        return None


def git_in(folder: Path, *args: str) -> str:
    """What a git command in a work tree prints."""
    done = subprocess.run(
        ["git", "-C", str(folder), *args], env=GIT, capture_output=True, check=True, timeout=120
    )
    return done.stdout.decode(errors="replace")


def show(folder: Path, base: str, fix: str = "", paths: Sequence[str] = ()) -> None:
    """Put a work tree at a commit, some paths of it as another commit has them, or has not."""
    git_in(folder, "checkout", "--quiet", "--force", "--detach", base)
    git_in(folder, "clean", "-ffdqx", "-e", "*.egg-info", "-e", "_version.py", "-e", "version.py")
    if paths:
        named = git_in(folder, "ls-tree", "-r", "-z", "--name-only", fix, "--", *paths)
        there = set(filter(None, named.split("\0")))
        if there:
            git_in(folder, "checkout", "--quiet", fix, "--", *sorted(there))
        for path in set(paths) - there:
            (folder / path).unlink(missing_ok=True)


def find(data: Path, repository: str) -> Clone:
    """The clone of a project; CloneError where the folder has none."""
    path = data / "clones" / repository.replace("/", "+")
    inner = (path / "repo/.git", path / "repo", path / ".git", path)
    found = next((one for one in inner if (one / "HEAD").is_file()), None)
    if found is None:
        raise CloneError(f"no clone of {repository} below {data}/clones: see benchmarks/README.md")
    return Clone(repository, found)


def clones(data: Path) -> Iterator[Clone]:
    """All clones of the folder that may take part, by name."""
    for path in sorted((data / "clones").iterdir()):
        repository = path.name.replace("+", "/", 1)
        name = repository.rpartition("/")[2].lower()
        if "/" in repository and name not in EXCLUDED:
            yield find(data, repository)
