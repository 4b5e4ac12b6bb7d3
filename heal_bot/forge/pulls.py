"""Pull requests, comments and permissions of one repository on GitHub: the Forge port."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from heal_bot.errors import UsageError
from heal_bot.events import Run
from heal_bot.forge.client import connect, create, found, speaking
from heal_bot.forge.git import GitObjects
from heal_bot.forge_port import ForgePull
from heal_bot.text import Secret, one_line

if TYPE_CHECKING:
    from github.IssueComment import IssueComment
    from github.PullRequest import PullRequest
    from github.Repository import Repository

REPO = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,38})/[A-Za-z0-9._-]{1,100}\Z")
_LOGIN = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,38})(?:\[bot\])?\Z")


@dataclass(frozen=True, slots=True)
class GitHub:
    """One repository on GitHub."""

    repo: str
    repository: Repository
    objects: GitObjects

    @classmethod
    def open(cls, token: Secret, api_url: str, repo: str) -> Self:
        """The repository `owner/name`; nothing is asked until it is used."""
        if not REPO.match(repo):
            raise UsageError(f"{one_line(repo)!r} names no repository; write it as owner/name")
        repository = connect(token, api_url).get_repo(repo)
        return cls(repo, repository, GitObjects(repository))

    def default_branch(self, run: Run) -> str:
        """The repository's default branch."""
        del run
        with speaking(f"repository {self.repo}"):
            return self.repository.default_branch

    def permission(self, run: Run, login: str) -> str:
        """The role of a user as the API says, never as a name or an event says."""
        del run
        if not _LOGIN.match(login):
            return "none"
        role = found(
            f"permission of {login}",
            lambda: self.repository.get_collaborator_role_name(login),
        )
        return role or "none"

    def pull(self, run: Run, number: int) -> ForgePull | None:
        """A pull request by its number."""
        del run
        return found(f"pull request {number}", lambda: _pull(self.repository.get_pull(number)))

    def pulls_from(self, run: Run, branch: str) -> tuple[ForgePull, ...]:
        """All pull requests from a branch of this repository, newest first."""
        del run
        head = f"{self.repo.partition('/')[0]}:{branch}"
        with speaking(f"pull requests from {branch}"):
            listed = tuple(_pull(p) for p in self.repository.get_pulls(state="all", head=head))
        return tuple(
            p for p in listed if p.head_ref == branch and p.head_repo.lower() == self.repo.lower()
        )

    def open_pull(
        self, run: Run, branch: str, base: str, title: str, body: str, *, draft: bool = False
    ) -> ForgePull:
        """Open a pull request, or find the one that a lost answer left open."""

        def look() -> ForgePull | None:
            opened = (p for p in self.pulls_from(run, branch) if p.state == "open")
            return next((p for p in opened if p.base_ref == base), None)

        def make() -> ForgePull:
            return _pull(
                self.repository.create_pull(
                    base=base, head=branch, title=title, body=body, draft=draft
                )
            )

        with speaking(f"open a pull request from {branch}"):
            return create(run, "pull request", look, make)

    def edit_pull(self, run: Run, number: int, title: str, body: str) -> None:
        """Replace title and body."""
        del run
        with speaking(f"edit pull request {number}"):
            self.repository.get_pull(number).edit(title=title, body=body)

    def comment(self, run: Run, number: int, marker: str, body: str) -> str:
        """Say it once: edit the comment that holds `marker`, else make one; its address."""

        def look() -> IssueComment | None:
            # Whoever can read the marker could copy it, so only a comment of a bot or of ours
            # may be edited; GitHub refuses the edit of a stranger's comment in any case.
            comments = self.repository.get_issue(number).get_comments()
            return next((c for c in comments if c.body.startswith(marker)), None)

        with speaking(f"comment on {number}"):
            there = look()
            if there is None:
                issue = self.repository.get_issue(number)
                there = create(run, "comment", look, lambda: issue.create_comment(body))
            if there.body != body:
                there.edit(body)
            return there.html_url


def _pull(pull: PullRequest) -> ForgePull:
    # A closed pull request's `merged` is absent from lists, `merged_at` is in both forms.
    state = "merged" if pull.merged_at else pull.state
    return ForgePull(
        pull.number,
        pull.html_url,
        state,
        pull.title,
        pull.body or "",
        pull.user.login,
        pull.head.ref,
        pull.head.sha,
        pull.head.repo.full_name if pull.head.repo else "",
        pull.base.ref,
    )
