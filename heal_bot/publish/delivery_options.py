"""What a workflow may choose about the way a change is delivered, and what came of it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from heal_bot.core.errors import UsageError
from heal_bot.core.text import one_line

MODES = ("pull-request", "push", "suggest", "comment", "dry-run")
WHEN = ("on-request", "label", "auto")
# What is written onto a pull request itself says already that people want it there.
_UNASKED = frozenset({"push", "suggest", "comment"})
MOST_OPEN = 2
_PREFIX = re.compile(r"(?!.*(?:\.\.|//|\.lock/))[A-Za-z0-9_][A-Za-z0-9._/-]{0,60}\Z")


@dataclass(frozen=True, slots=True)
class Options:
    """The way of delivery; empty texts mean heal-bot's own.

    `pull_requests` says when a red pull request of a person gets a proposal: on-request, label or
    auto; empty it is auto for the modes that write onto pull requests alone. `base` is the branch
    that the workflow names for proposals. `diagnosis_comment` asks for a comment where nothing is
    proposed.

    `reviewers` are logins and `org/team`s; the word `codeowners` stands for whoever CODEOWNERS of
    the base commit names for the changed files, `blame` for who last wrote the changed lines;
    `paths` are patterns of files that may change; `project` is the folder that is healed, where
    the repository holds several.
    """

    mode: str = "pull-request"
    prefix: str = "heal-bot/"
    title: str = ""
    commit_message: str = ""
    labels: tuple[str, ...] = ()
    reviewers: tuple[str, ...] = ()
    draft: bool = False
    signoff: bool = False
    paths: tuple[str, ...] = ()
    project: str = ""
    pull_requests: str = ""
    base: str = ""
    diagnosis_comment: bool = False
    assignees: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise UsageError(f"mode is {one_line(self.mode)!r}; use one of {', '.join(MODES)}")
        if self.pull_requests not in {"", *WHEN}:
            given = one_line(self.pull_requests)
            raise UsageError(f"pull-requests is {given!r}; use one of {', '.join(WHEN)}")
        if not _PREFIX.match(self.prefix):
            raise UsageError(f"branch-prefix {one_line(self.prefix)!r} begins no branch name")

    @property
    def when(self) -> str:
        """When a person's red pull request gets a proposal."""
        return self.pull_requests or ("auto" if self.mode in _UNASKED else "on-request")


DEFAULT = Options()


@dataclass(frozen=True, slots=True)
class Published:
    """What came of publishing.

    status: created | updated | unchanged | pushed | suggested | commented | branch_only | summary |
    dry_run | on_request | declined | superseded | refused | nothing. `reason` is one plain
    sentence; `head` is the commit that superseded a patch; `checked` says that a check run shows
    the failing lines, `elsewhere` that the pull request proposes more than this change, or into
    another branch; `commit` is what was pushed.
    """

    status: str
    reason: str
    url: str = ""
    number: int | None = None
    branch: str = ""
    head: str = ""
    checked: bool = False
    elsewhere: bool = False
    commit: str = ""
