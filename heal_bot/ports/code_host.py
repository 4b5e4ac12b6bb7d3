"""The protocol between publishing and a forge; wiring puts GitHub behind it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from heal_bot.core.errors import ForgeError
from heal_bot.core.events import Run

# The label by which people stop heal-bot on a pull request.
STOPPED = "heal-bot-stop"
# The label by which people want unasked proposals to a pull request.
OPTED_IN = "heal-bot"
# GITHUB_TOKEN writes as this account; the API does not say so to the token itself.
ACTIONS = "github-actions[bot]"
# What git allows in no branch (`git check-ref-format`): control characters, blanks, and what it
# gives a meaning; `..`, `@{`, `//`, `.lock`.
_NO_BRANCH = re.compile(
    r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|(?:^|/)\.|\.lock(?:/|$)|^[-/]|[/.]$|^@$"
)
_LONGEST = 250


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
class Blamed:
    """Lines of a file, counted from 1, and the account that last changed them."""

    first: int
    last: int
    login: str


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
    labels: tuple[str, ...] = ()
    draft: bool = False


@dataclass(frozen=True, slots=True)
class Remark:
    """A remark on lines of a file, counted from 1; without a line it is about the whole file."""

    path: str
    body: str
    first: int | None = None
    last: int | None = None


@dataclass(frozen=True, slots=True)
class Annotation:
    """A line of a check run; level: notice | warning."""

    path: str
    line: int
    level: str
    message: str


@dataclass(frozen=True, slots=True)
class Check:
    """A finished check run; conclusion: success | neutral. `about` tells one result from another.

    Its first three words name the failures, the rest what came of them.
    """

    sha: str
    conclusion: str
    title: str
    summary: str
    annotations: tuple[Annotation, ...] = ()
    about: str = ""


@dataclass(frozen=True, slots=True)
class Stored:
    """The text behind our ref and the commit that holds it; no text where it is not ours."""

    commit: str
    text: str | None


class ForgeState(Protocol):
    """One text that is kept in the repository from run to run; raises ForgeError."""

    def read(self, run: Run, *, fresh: bool = False) -> Stored | None:
        """The text and its commit; None where there is none, read once unless `fresh`."""

    def write(self, run: Run, text: str, parent: str) -> bool:
        """Put it on top of commit `parent`, or begin; False when that is not the newest."""


class ForgeObjects(Protocol):
    """Git objects and branches of one repository on the forge; raises ForgeError."""

    def head(self, run: Run, branch: str) -> str | None:
        """The commit a branch points to, or None without such a branch."""

    def is_protected(self, run: Run, branch: str) -> bool:
        """Whether rules protect a branch, as long-lived ones are."""

    def commit(self, run: Run, sha: str) -> ForgeCommit | None:
        """A commit, or None; that the forge knows one does not say it is on a branch."""

    def ahead(self, run: Run, base: str, tip: str) -> tuple[ForgeCommit, ...] | None:
        """The commits `tip` has and `base` has not, oldest first; None without common history."""

    def contains(self, run: Run, tip: str, sha: str) -> bool:
        """Whether `sha` is `tip` or an ancestor of it; `tip` is a commit or a branch."""

    def paths(self, run: Run, sha: str) -> tuple[str, ...]:
        """All file paths of a commit."""

    def blobs(self, run: Run, sha: str) -> Mapping[str, str]:
        """The blob ids of all files of a commit, by path."""

    def text(self, run: Run, blob: str) -> bytes | None:
        """The bytes of a blob of at most 2 MiB by its id, or None."""

    def blame(self, run: Run, sha: str, path: str) -> tuple[Blamed, ...]:
        """Who last changed the lines of a file of a commit, as far as they have an account."""

    def file(self, run: Run, sha: str, path: str) -> ForgeFile | None:
        """A regular file of a commit; None for a link, a submodule, a folder, or nothing."""

    def subjects(self, run: Run, sha: str) -> tuple[str, ...]:
        """The first lines of the newest commits up to one, without merges."""

    def save_tree(self, run: Run, base: ForgeCommit, files: Sequence[ForgeFile]) -> str:
        """The id of `base`'s tree with these files replaced."""

    def save_commit(self, run: Run, message: str, tree: str, parents: Sequence[str]) -> ForgeCommit:
        """A commit; no branch points to it yet."""

    def create_branch(self, run: Run, branch: str, sha: str) -> bool:
        """Make a branch; False when it exists and points elsewhere."""

    def advance_branch(self, run: Run, branch: str, sha: str) -> bool:
        """Fast-forward a branch; False when that would lose a commit. Never forces."""

    def delete_branch(self, run: Run, branch: str) -> None:
        """Remove a branch; nothing happens without such a branch."""


class ForgeTalk(Protocol):
    """What is said on pull requests and commits; raises ForgeError."""

    def comment(
        self,
        run: Run,
        number: int,
        marker: str,
        body: str,
        *,
        new: bool = False,
        keep: bool = False,
    ) -> str:
        """Say it once: the comment of ours that begins with `marker` is edited, else one is made.

        `new` spares the search where none can be there yet; `keep` leaves what is there as it is.
        Returns its address.
        """

    def discussion(self, run: Run, number: int) -> tuple[tuple[str, str], ...]:
        """The newest comments of members on a pull request and its lines: login and text."""

    def react(self, run: Run, comment: int, content: str, *, review: bool = False) -> None:
        """React to a comment, or with `review` to a comment of a review."""

    def review(
        self, run: Run, number: int, sha: str, marker: str, body: str, remarks: Sequence[Remark]
    ) -> str:
        """One review with remarks on lines, and a comment per remark on a whole file.

        A review of ours that begins with `marker` is there already; its address either way.
        """

    def shown_lines(self, run: Run, number: int) -> Mapping[str, frozenset[int]]:
        """Per file the new lines that the pull request's diff shows, where remarks can be."""

    def label(self, run: Run, number: int, labels: Sequence[str]) -> None:
        """Add labels."""

    def assign(self, run: Run, number: int, who: Sequence[str]) -> None:
        """Assign people."""

    def ask_review(self, run: Run, number: int, who: Sequence[str]) -> None:
        """Ask people (`login`) and teams (`org/team`) for a review."""

    def is_checked(self, run: Run, sha: str, about: str) -> bool:
        """Whether the check run of a commit tells this result."""

    def check(self, run: Run, check: Check) -> None:
        """Write the one check run of a commit; nothing where it says the same already."""


class Forge(Protocol):
    """One repository on GitHub as publishing and admission need it; raises ForgeError."""

    @property
    def repo(self) -> str:
        """owner/name."""

    @property
    def page(self) -> str:
        """The address of the repository for people."""

    @property
    def objects(self) -> ForgeObjects:
        """Its git objects and branches."""

    @property
    def talk(self) -> ForgeTalk:
        """What is said in it."""

    @property
    def state(self) -> ForgeState:
        """What heal-bot keeps in it."""

    def me(self, run: Run) -> str:
        """The account that the token writes as."""

    def default_branch(self, run: Run) -> str:
        """The branch that pull requests target when nothing else is said."""

    def permission(self, run: Run, login: str) -> str:
        """admin | maintain | write | triage | read | none, as the API says."""

    def pull(self, run: Run, number: int) -> ForgePull | None:
        """A pull request by its number."""

    def open_pulls(self, run: Run) -> tuple[ForgePull, ...]:
        """The newest 300 open pull requests, as they were when first asked for."""

    def closed_pulls(self, run: Run) -> tuple[ForgePull, ...]:
        """Of the closed and merged pull requests the 100 that were changed last."""

    def pulls_from(self, run: Run, branch: str) -> tuple[ForgePull, ...]:
        """All pull requests from a branch of this repository, newest first."""

    def open_pull(
        self, run: Run, branch: str, base: str, title: str, body: str, *, draft: bool = False
    ) -> ForgePull:
        """Open one; the one that is open already when GitHub says so or an answer was lost."""

    def edit_pull(self, run: Run, number: int, title: str, body: str) -> None:
        """Replace title and body."""

    def set_draft(self, run: Run, number: int, *, draft: bool) -> None:
        """Make one a draft, or ready for review."""

    def close_pull(self, run: Run, number: int, body: str) -> None:
        """Close one, with a new body."""

    def closer(self, run: Run, number: int) -> str:
        """The account that closed one; '' where GitHub does not say."""


def try_aside(run: Run, do: Callable[[], object]) -> bool:
    """Whether it was done; where GitHub fails, say so in the log and go on."""
    try:
        do()
    except ForgeError as error:
        run.warn("publish", str(error))
        return False
    return True


def is_branch(name: str) -> bool:
    """Whether git allows a branch of this name."""
    return 0 < len(name.encode("utf-8", "replace")) <= _LONGEST and not _NO_BRANCH.search(name)
