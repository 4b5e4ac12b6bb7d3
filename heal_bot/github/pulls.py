"""Pull requests and permissions of one repository on GitHub: the Forge port."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any, Self

from heal_bot.core.errors import ForgeForbiddenError, UsageError
from heal_bot.core.events import Run
from heal_bot.core.text import Secret, one_line
from heal_bot.github.client import DIRECT, Route, connect, create, find_or_none, translate_errors
from heal_bot.github.comments import Talk
from heal_bot.github.git_data import GitObjects
from heal_bot.github.state_ref import StateRef
from heal_bot.github.token_identity import Identity
from heal_bot.ports.code_host import ForgePull

if TYPE_CHECKING:
    from github.PullRequest import PullRequest
    from github.Repository import Repository

REPO = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,38})/[A-Za-z0-9._-]{1,100}\Z")
_LOGIN = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,38})(?:\[bot\])?\Z")
_ROLES = frozenset({"admin", "maintain", "write", "triage", "read", "none"})
_LISTED = 300
_CLOSED = 100
# How GitHub begins the tokens of installations, GITHUB_TOKEN among them.
_INSTALLED = "ghs_"


@dataclass(frozen=True, slots=True)
class GitHub:
    """One repository on GitHub."""

    repo: str
    page: str
    repository: Repository
    objects: GitObjects
    identity: Identity
    talk: Talk
    state: StateRef
    named_default: str = ""
    _open: list[tuple[ForgePull, ...]] = field(default_factory=list)

    @classmethod
    def open(
        cls,
        token: Secret,
        api_url: str,
        repo: str,
        *,
        server_url: str = "https://github.com",
        app: str = "",
        route: Route = DIRECT,
        default_branch: str = "",
    ) -> Self:
        """The repository `owner/name`; nothing is asked until it is used.

        `app` is the slug of the App the token is of, and `default_branch` what the event named,
        where that is known.
        """
        if not REPO.match(repo):
            raise UsageError(f"{one_line(repo)!r} names no repository; write it as owner/name")
        client = connect(token, api_url, route)
        repository, identity = (
            client.get_repo(repo),
            Identity(client, app, token.reveal().startswith(_INSTALLED)),
        )
        page = f"{server_url.rstrip('/')}/{repo}"
        talk = Talk(repository, identity)
        objects, state = GitObjects(repository), StateRef(repository)
        return cls(repo, page, repository, objects, identity, talk, state, default_branch)

    def me(self, run: Run) -> str:
        """The account that the token writes as."""
        del run
        return self.identity.login()

    def default_branch(self, run: Run) -> str:
        """The branch that pull requests target when nothing else is said."""
        del run
        if self.named_default:
            return self.named_default
        with translate_errors(f"repository {self.repo}"):
            return self.repository.default_branch

    def may_actions_propose(self, run: Run) -> bool | None:
        """Whether a workflow's own token may open pull requests; None where that is not told.

        Who administers the repository may read it, the workflow's own token never.
        """
        del run
        try:
            said = self._read("permissions of workflows", "actions/permissions/workflow")
        except ForgeForbiddenError:
            return None
        allowed = said.get("can_approve_pull_request_reviews")
        return allowed if isinstance(allowed, bool) else None

    def permission(self, run: Run, login: str) -> str:
        """The role of a user as the API says, never as a name or an event says.

        A role that an organization made itself counts as the one it is built on.
        """
        del run
        if not _LOGIN.match(login):
            return "none"
        said = self._read(f"permission of {login}", f"collaborators/{login}/permission")
        role = str(said.get("role_name") or "none")
        return role if role in _ROLES else str(said.get("permission") or "none")

    def _read(self, what: str, path: str) -> dict[str, Any]:
        """What the API has below the repository's address; nothing where there is no such thing."""
        ask, url = self.repository.requester.requestJsonAndCheck, f"{self.repository.url}/{path}"
        said = find_or_none(what, lambda: ask("GET", url)[1])
        return said if isinstance(said, dict) else {}

    def pull(self, run: Run, number: int) -> ForgePull | None:
        """A pull request by its number."""
        del run
        return find_or_none(
            f"pull request {number}", lambda: _pull(self.repository.get_pull(number))
        )

    def open_pulls(self, run: Run) -> tuple[ForgePull, ...]:
        """The newest 300 open pull requests, as they were when first asked for."""
        del run
        if not self._open:
            with translate_errors("open pull requests"):
                listed = islice(self.repository.get_pulls(state="open"), _LISTED)
                self._open.append(tuple(_pull(p) for p in listed))
        return self._open[0]

    def closed_pulls(self, run: Run) -> tuple[ForgePull, ...]:
        """Of the closed and merged pull requests the 100 that were changed last."""
        del run
        with translate_errors("closed pull requests"):
            listed = self.repository.get_pulls(state="closed", sort="updated", direction="desc")
            return tuple(_pull(p) for p in islice(listed, _CLOSED))

    def pulls_from(self, run: Run, branch: str) -> tuple[ForgePull, ...]:
        """All pull requests from a branch of this repository, newest first."""
        del run
        head = f"{self.repo.partition('/')[0]}:{branch}"
        with translate_errors(f"pull requests from {branch}"):
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

        with translate_errors(f"open a pull request from {branch}"):
            return create(run, "pull request", look, make)

    def edit_pull(self, run: Run, number: int, title: str, body: str) -> None:
        """Replace title and body."""
        del run
        with translate_errors(f"edit pull request {number}"):
            self.repository.get_pull(number).edit(title=title, body=body)

    def set_draft(self, run: Run, number: int, *, draft: bool) -> None:
        """Make a pull request a draft, or ready for review; only GitHub's other API can."""

        def look() -> bool | None:
            return self.repository.get_pull(number).draft == draft or None

        def make() -> bool:
            pull = self.repository.get_pull(number)
            _ = pull.convert_to_draft() if draft else pull.mark_ready_for_review()
            return True

        with translate_errors(f"make pull request {number} {'a draft' if draft else 'ready'}"):
            create(run, "draft", look, make)

    def close_pull(self, run: Run, number: int, body: str) -> None:
        """Close a pull request, with a new body in the same request."""
        del run
        with translate_errors(f"close pull request {number}"):
            self.repository.get_pull(number).edit(state="closed", body=body)

    def closer(self, run: Run, number: int) -> str:
        """The account that closed a pull request; '' where GitHub does not say."""
        del run
        issue = self.repository.get_issue(number)
        by = find_or_none(f"who closed {number}", lambda: issue.closed_by)
        return by.login if by is not None else ""


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
        tuple(label.name for label in pull.labels),
        pull.draft,
    )
