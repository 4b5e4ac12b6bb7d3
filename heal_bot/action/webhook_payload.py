"""The fields of webhook events that are read, each with its type; all others are passed over."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from heal_bot.core.errors import UsageError
from heal_bot.core.text import describe_fault


class _Loose(BaseModel):
    # An event has hundreds of fields; the ones read here must have their type.
    model_config = ConfigDict(defer_build=True, extra="ignore", strict=True, frozen=True)


class PayloadRepository(_Loose):
    """A repository."""

    full_name: str
    default_branch: str = ""


class User(_Loose):
    """An account; type: User | Bot | Organization."""

    login: str
    type: str = "User"


class End(_Loose):
    """One end of a pull request; a deleted fork has no repository."""

    sha: str
    ref: str
    repo: PayloadRepository | None


class Label(_Loose):
    """A label."""

    name: str


class Pull(_Loose):
    """A pull request."""

    number: int
    head: End
    base: End
    labels: tuple[Label, ...] = Field(default=(), strict=False)


class Issue(_Loose):
    """An issue; with `pull_request` it is one."""

    number: int
    pull_request: dict[str, Any] | None = None


class Comment(_Loose):
    """A comment, or a review, whose body may be null."""

    id: int
    body: str | None
    user: User


class LineComment(Comment):
    """A comment of a review; `line` is null where the diff moved on."""

    path: str
    line: int | None = None
    side: str | None = None
    commit_id: str = ""


class CommitComment(Comment):
    """A comment on a commit."""

    commit_id: str


class PushEvent(_Loose):
    """A push; `before` is what the branch pointed to, zeros for a new one."""

    before: str = ""


class _Event(_Loose):
    repository: PayloadRepository
    sender: User


class PullEvent(_Event):
    """pull_request."""

    pull_request: Pull


class CommentEvent(_Event):
    """issue_comment."""

    action: str
    issue: Issue
    comment: Comment


class CommitCommentEvent(_Event):
    """commit_comment."""

    action: str
    comment: CommitComment


class LineCommentEvent(_Event):
    """pull_request_review_comment."""

    action: str
    pull_request: Pull
    comment: LineComment


class ReviewEvent(_Event):
    """pull_request_review."""

    action: str
    pull_request: Pull
    review: Comment


class RunBase(_Loose):
    """What a pull request is to be merged into, as a workflow run names it."""

    sha: str


class RunPull(_Loose):
    """A pull request as a workflow run names it."""

    number: int
    base: RunBase | None = None


class WorkflowRun(_Loose):
    """A finished run; `event` is what started it."""

    id: int
    head_sha: str
    head_branch: str | None
    event: str
    conclusion: str | None
    head_repository: PayloadRepository | None
    pull_requests: tuple[RunPull, ...] = Field(default=(), strict=False)


class RunEvent(_Event):
    """workflow_run."""

    action: str
    workflow_run: WorkflowRun


_Lines = Annotated[
    tuple[Annotated[str, StringConstraints(max_length=1_000)], ...], Field(max_length=500)
]


class Dispatch(BaseModel):
    """The client's payload of a repository_dispatch: a run's id, or a commit and what is known."""

    model_config = ConfigDict(defer_build=True, extra="forbid", frozen=True)
    run_id: Annotated[int, Field(ge=1, lt=10**18)] | None = None
    sha: Annotated[str, StringConstraints(pattern=r"^([0-9a-f]{40})?$")] = ""
    branch: Annotated[str, StringConstraints(max_length=250)] = ""
    report: Annotated[str, StringConstraints(max_length=65_536)] = ""
    tests: _Lines = ()
    function: Annotated[str, StringConstraints(max_length=1_000)] = ""
    error_log: Annotated[str, StringConstraints(max_length=65_536)] = ""
    instruction: Annotated[str, StringConstraints(max_length=10_000)] = ""
    callback: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9._-]{0,64}$")] = ""
    retry: bool = False


def parse_dispatch(given: dict[str, Any] | None) -> Dispatch:
    """The payload of a dispatch. UsageError naming the field that cannot be meant."""
    try:
        return Dispatch.model_validate(given or {})
    except ValidationError as error:
        raise UsageError(
            f"event repository_dispatch: client_payload: {describe_fault(error)}"
        ) from error


class DispatchEvent(_Event):
    """repository_dispatch."""

    action: str
    client_payload: dict[str, Any] | None = None
