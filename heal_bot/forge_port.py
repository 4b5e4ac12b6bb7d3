"""The protocol between publishing and a forge; wiring puts GitHub behind it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from heal_bot.events import Run


@dataclass(frozen=True, slots=True)
class ForgeFile:
    """A regular file of a commit on the forge; mode is 100644 or 100755."""

    path: str
    mode: str
    blob: str
    data: bytes


@dataclass(frozen=True, slots=True)
class ForgeCommit:
    """A commit on the forge."""

    sha: str
    tree: str
    parents: tuple[str, ...]
    message: str


@dataclass(frozen=True, slots=True)
class ForgePull:
    """A pull request; state: open | closed | merged."""

    number: int
    url: str
    state: str
    title: str
    body: str
    author: str
    head_ref: str
    head_sha: str
    head_repo: str
    base_ref: str


class ForgeObjects(Protocol):
    """Git objects and branches of one repository on the forge; raises ForgeError."""

    def head(self, run: Run, branch: str) -> str | None:
        """The commit a branch points to, or None without such a branch."""

    def commit(self, run: Run, sha: str) -> ForgeCommit | None:
        """A commit, or None; that the forge knows one does not say it is on a branch."""

    def ahead(self, run: Run, base: str, tip: str) -> tuple[ForgeCommit, ...] | None:
        """The commits `tip` has and `base` has not, oldest first; None without common history."""

    def contains(self, run: Run, tip: str, sha: str) -> bool:
        """Whether `sha` is `tip` or an ancestor of it; `tip` is a commit or a branch."""

    def paths(self, run: Run, sha: str) -> tuple[str, ...]:
        """All file paths of a commit."""

    def file(self, run: Run, sha: str, path: str) -> ForgeFile | None:
        """A regular file of a commit; None for a link, a submodule, a folder, or nothing."""

    def save_tree(self, run: Run, base: ForgeCommit, files: Sequence[ForgeFile]) -> str:
        """The id of `base`'s tree with these files replaced."""

    def save_commit(self, run: Run, message: str, tree: str, parents: Sequence[str]) -> ForgeCommit:
        """A commit; no branch points to it yet."""

    def create_branch(self, run: Run, branch: str, sha: str) -> bool:
        """Make a branch; False when it exists and points elsewhere."""

    def advance_branch(self, run: Run, branch: str, sha: str) -> bool:
        """Fast-forward a branch; False when that would lose a commit. Never forces."""


class Forge(Protocol):
    """One repository on GitHub as publishing and admission need it; raises ForgeError."""

    @property
    def repo(self) -> str:
        """owner/name."""

    @property
    def objects(self) -> ForgeObjects:
        """Its git objects and branches."""

    def default_branch(self, run: Run) -> str:
        """The branch that pull requests target when nothing else is said."""

    def permission(self, run: Run, login: str) -> str:
        """admin | maintain | write | triage | read | none, as the API says."""

    def pull(self, run: Run, number: int) -> ForgePull | None:
        """A pull request by its number."""

    def pulls_from(self, run: Run, branch: str) -> tuple[ForgePull, ...]:
        """All pull requests from a branch of this repository, newest first."""

    def open_pull(
        self, run: Run, branch: str, base: str, title: str, body: str, *, draft: bool = False
    ) -> ForgePull:
        """Open one; the one that is open already when GitHub says so or an answer was lost."""

    def edit_pull(self, run: Run, number: int, title: str, body: str) -> None:
        """Replace title and body."""

    def comment(self, run: Run, number: int, marker: str, body: str) -> str:
        """Say it once: the comment of ours that holds `marker` is edited, else one is made.

        Returns its address.
        """
