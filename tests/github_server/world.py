"""The state of the loopback GitHub beside its git repository, and how it looks in answers."""

from __future__ import annotations

import base64
import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

from tests.github_server.contract import component
from tests.github_server.repository import GitCommit, GitRepository

BOT = "github-actions[bot]"
WHEN = "2026-01-02T03:04:05Z"


class Refused(Exception):
    """An answer that is no success: status, message, and GitHub's error list."""

    def __init__(self, status: int, message: str, errors: list[Any] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.body: dict[str, Any] = {
            "message": message,
            "documentation_url": "https://docs.example.invalid/",
        } | ({"errors": errors} if errors is not None else {})


@dataclass
class Pull:
    """A pull request; `head_repo` differs from the repository for a fork."""

    number: int
    title: str
    body: str
    head: str
    base: str
    user: str
    head_repo: str
    head_sha: str
    draft: bool = False
    state: str = "open"
    merged: bool = False
    closed_by: str = ""
    labels: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    assigned: list[str] = field(default_factory=list)


@dataclass
class Comment:
    """A comment on an issue or pull request."""

    id: int
    issue: int
    user: str
    body: str


@dataclass
class Review:
    """A review with its remarks on lines; `remarks` are as the request gave them."""

    id: int
    pull: int
    user: str
    body: str
    commit: str
    remarks: list[dict[str, Any]]


@dataclass
class Run:
    """A workflow run with its artifacts (name -> zip); `repo` differs for a fork's.

    `started` is when its latest attempt began, where that is not the first.
    """

    id: int
    head_sha: str
    head_branch: str
    conclusion: str = "failure"
    event: str = "push"
    artifacts: dict[str, bytes] = field(default_factory=dict)
    workflow: int = 1
    repo: str = ""
    created: str = WHEN
    started: str = ""


@dataclass
class World:
    """One repository with everything around it."""

    name: str
    git: GitRepository
    url: str = ""
    default_branch: str = "main"
    tokens: dict[str, str] = field(default_factory=lambda: {"token-for-tests": BOT})
    read_only: set[str] = field(default_factory=set)
    permissions: dict[str, str] = field(default_factory=lambda: {"ada": "admin"})
    more: bool = False
    base_roles: dict[str, str] = field(default_factory=dict)
    may_open_pulls: bool = True
    drafts: bool = True
    protected: tuple[str, ...] = ()
    denied: set[str] = field(default_factory=set)
    pulls: dict[int, Pull] = field(default_factory=dict)
    comments: dict[int, Comment] = field(default_factory=dict)
    reactions: dict[tuple[int, str, str], int] = field(default_factory=dict)
    runs: dict[int, Run] = field(default_factory=dict)
    checks: dict[int, dict[str, Any]] = field(default_factory=dict)
    annotated: dict[int, int] = field(default_factory=dict)
    reviews: dict[int, Review] = field(default_factory=dict)
    line_comments: dict[int, Review] = field(default_factory=dict)
    _numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))
    _ids: Iterator[int] = field(default_factory=lambda: itertools.count(1001))

    @property
    def api(self) -> str:
        """The address of the repository in the API."""
        return f"{self.url}/repos/{self.name}"

    def next_id(self) -> int:
        """A new id."""
        return next(self._ids)

    def branch(self, name: str) -> str | None:
        """The commit a branch points to."""
        return self.git.refs().get(f"refs/heads/{name}")

    def is_protected(self, ref: str) -> bool:
        """Whether a rule keeps the token from a branch; a rule may end in `*`."""
        name = ref.removeprefix("refs/heads/")
        return any(fnmatchcase(name, rule) for rule in self.protected)

    def note_merged(self, branch: str) -> None:
        """A pull request whose commits are all on its base is merged, as GitHub notices itself."""
        tip = self.branch(branch)
        for pull in self.pulls.values():
            head = self.branch(pull.head) if pull.head_repo == self.name else None
            known = pull.state == "open" and pull.base == branch
            if known and head and tip and self.git.is_ancestor(head, tip):
                pull.state, pull.merged = "closed", True

    def add_pull(self, **values: Any) -> Pull:
        """A new pull request with the next number."""
        pull = Pull(number=next(self._numbers), **values)
        self.pulls[pull.number] = pull
        return pull

    def add_comment(self, issue: int, user: str, body: str) -> Comment:
        """A new comment."""
        comment = Comment(self.next_id(), issue, user, body)
        self.comments[comment.id] = comment
        return comment

    def user(self, login: str) -> dict[str, Any]:
        """A user as answers show one."""
        kind = "Bot" if login.endswith("[bot]") else "User"
        return component("simple-user") | {"login": login, "type": kind, "id": 7}

    def repository(self, full_name: str = "", schema: str = "full-repository") -> dict[str, Any]:
        """The repository, or a fork of it, as answers show one."""
        full_name = full_name or self.name
        owner, _, name = full_name.partition("/")
        shown = component(schema)
        return shown | {
            "id": 1 + (full_name != self.name),
            "name": name,
            "full_name": full_name,
            "owner": self.user(owner),
            "url": f"{self.url}/repos/{full_name}",
            "html_url": f"{self.url}/{full_name}",
            "clone_url": f"{self.url}/{full_name}.git",
            "default_branch": self.default_branch,
            "fork": full_name != self.name,
        }

    def commit(self, commit: GitCommit) -> dict[str, Any]:
        """A commit as the Git Data API shows one."""

        def person(who: tuple[str, str, str]) -> dict[str, str]:
            return {"name": who[0], "email": who[1], "date": who[2].replace("+00:00", "Z")}

        url = f"{self.api}/git/commits/{commit.sha}"
        return component("git-commit") | {
            "sha": commit.sha,
            "url": url,
            "html_url": f"{self.url}/{self.name}/commit/{commit.sha}",
            "message": commit.message,
            "tree": {"sha": commit.tree, "url": f"{self.api}/git/trees/{commit.tree}"},
            "parents": [
                {"sha": p, "url": f"{self.api}/git/commits/{p}", "html_url": f"{self.url}/{p}"}
                for p in commit.parents
            ],
            "author": person(commit.author),
            "committer": person(commit.committer),
        }

    def listed_commit(self, sha: str) -> dict[str, Any]:
        """A commit as lists of commits show one."""
        commit = self.git.commit(sha)
        data = self.commit(commit)
        inner = component("commit")["commit"] | {
            "message": commit.message,
            "author": data["author"],
            "committer": data["committer"],
            "tree": data["tree"],
        }
        return component("commit") | {
            "sha": sha,
            "url": f"{self.api}/commits/{sha}",
            "commit": inner,
            "author": self.user(commit.author[0].replace(" ", "-")),
            "committer": self.user(commit.committer[0].replace(" ", "-")),
            "parents": data["parents"],
        }

    def ref(self, name: str, sha: str) -> dict[str, Any]:
        """A reference as the Git Data API shows one."""
        return component("git-ref") | {
            "ref": name,
            "url": f"{self.api}/git/{name}",
            "object": {
                "type": self.git.kind(sha) or "commit",
                "sha": sha,
                "url": f"{self.api}/git/commits/{sha}",
            },
        }

    def pull(self, pull: Pull, schema: str = "pull-request") -> dict[str, Any]:
        """A pull request, whole or (pull-request-simple) as in lists."""
        head_sha = self.branch(pull.head) if pull.head_repo == self.name else pull.head_sha
        if pull.state == "open" and head_sha:
            pull.head_sha = head_sha
        shown = component(schema)

        def end(ref: str, sha: str, repo: str) -> dict[str, Any]:
            owner = repo.partition("/")[0]
            kind = "repository"
            return {
                "label": f"{owner}:{ref}",
                "ref": ref,
                "sha": sha,
                "user": self.user(owner),
                "repo": self.repository(repo, kind),
            }

        base_sha = self.branch(pull.base) or "0" * 40
        return (
            shown
            | {
                "number": pull.number,
                "node_id": f"PR_{pull.number}",
                "url": f"{self.api}/pulls/{pull.number}",
                "html_url": f"{self.url}/{self.name}/pull/{pull.number}",
                "issue_url": f"{self.api}/issues/{pull.number}",
                "comments_url": f"{self.api}/issues/{pull.number}/comments",
                "title": pull.title,
                "body": pull.body,
                "state": pull.state,
                "draft": pull.draft,
                "merged_at": WHEN if pull.merged else None,
                "closed_at": None if pull.state == "open" else WHEN,
                "user": self.user(pull.user),
                "labels": [self.label(name) for name in pull.labels],
                "head": end(pull.head, pull.head_sha, pull.head_repo),
                "base": end(pull.base, base_sha, self.name),
            }
            | ({"merged": pull.merged} if schema == "pull-request" else {})
        )

    def issue(self, pull: Pull) -> dict[str, Any]:
        """A pull request as the API of issues shows it."""
        return component("issue") | {
            "number": pull.number,
            "url": f"{self.api}/issues/{pull.number}",
            "html_url": f"{self.url}/{self.name}/pull/{pull.number}",
            "title": pull.title,
            "body": pull.body,
            "state": pull.state,
            "user": self.user(pull.user),
            "labels": [self.label(name) for name in pull.labels],
            "closed_at": None if pull.state == "open" else WHEN,
            "closed_by": self.user(pull.closed_by) if pull.closed_by else None,
        }

    def label(self, name: str) -> dict[str, Any]:
        """A label as answers show one."""
        url = f"{self.api}/labels/{name}"
        return component("label") | {"id": 1, "name": name, "description": "", "url": url}

    def comment(self, comment: Comment) -> dict[str, Any]:
        """A comment as answers show one."""
        return component("issue-comment") | {
            "id": comment.id,
            "url": f"{self.api}/issues/comments/{comment.id}",
            "html_url": f"{self.url}/{self.name}/pull/{comment.issue}#issuecomment-{comment.id}",
            "issue_url": f"{self.api}/issues/{comment.issue}",
            "body": comment.body,
            "user": self.user(comment.user),
            "author_association": "MEMBER" if comment.user in self.permissions else "NONE",
        }

    def run(self, run: Run) -> dict[str, Any]:
        """A workflow run as answers show one."""
        return component("workflow-run") | {
            "id": run.id,
            "url": f"{self.api}/actions/runs/{run.id}",
            "head_sha": run.head_sha,
            "head_branch": run.head_branch,
            "conclusion": run.conclusion,
            "status": "completed",
            "event": run.event,
            "workflow_id": run.workflow,
            "created_at": run.created,
            "run_started_at": run.started or run.created,
            "artifacts_url": f"{self.api}/actions/runs/{run.id}/artifacts",
            "head_repository": self.repository(run.repo, "minimal-repository"),
        }

    def artifact(self, number: int, name: str, data: bytes) -> dict[str, Any]:
        """An artifact as answers show one."""
        return component("artifact") | {
            "id": number,
            "name": name,
            "size_in_bytes": len(data),
            "created_at": WHEN,
            "expired": False,
            "url": f"{self.api}/actions/artifacts/{number}",
            "archive_download_url": f"{self.api}/actions/artifacts/{number}/zip",
        }

    def content(self, sha: str, size_only: bool = False) -> dict[str, Any]:
        """A blob as the Git Data API shows one."""
        data = self.git.blob(sha)
        return {
            "sha": sha,
            "node_id": "",
            "url": f"{self.api}/git/blobs/{sha}",
            "size": len(data),
            "encoding": "base64",
            "content": "" if size_only else base64.encodebytes(data).decode(),
        }
