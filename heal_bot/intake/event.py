"""A webhook event to a heal request: what is asked, believed in nothing that the API can say."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from heal_bot.errors import UsageError
from heal_bot.model import HealRequest
from heal_bot.text import one_line, printable

_MAX_BYTES = 8 << 20
_SHA = re.compile(r"[0-9a-f]{40}\Z")
_COMMAND = re.compile(r"/heal(?:[ \t]+(?P<rest>[^\n]*))?(?:\n(?P<more>.*))?\Z", re.DOTALL)
_DISPATCHES = frozenset({"heal", "heal-bot"})
# These run with write rights on code that anybody may have written.
_PRIVILEGED = frozenset({"pull_request_target", "workflow_run"})


@dataclass(frozen=True, slots=True)
class Facts:
    """What the runner says of this job: repository, commit, branch, run, and the inputs."""

    repo: str
    sha: str
    ref_name: str
    run_id: int | None = None
    junit: tuple[str, ...] = ()
    instruction: str = ""


@dataclass(frozen=True, slots=True)
class Asked:
    """A request read from an event; what only the API can say is still empty in it.

    `report` is JUnit XML that came with the event itself.
    """

    request: HealRequest
    report: str = ""


@dataclass(frozen=True, slots=True)
class Ignored:
    """An event that asks for nothing, or for what is never done; `answer` if a person waits."""

    reason: str
    answer: bool = False


class _Loose(BaseModel):
    # An event has hundreds of fields; the ones read here must have their type.
    model_config = ConfigDict(extra="ignore", strict=True, frozen=True)


class _Repository(_Loose):
    full_name: str
    default_branch: str = ""


class _User(_Loose):
    login: str
    type: str = "User"


class _End(_Loose):
    sha: str
    ref: str
    repo: _Repository | None


class _Pull(_Loose):
    number: int
    head: _End
    base: _End


class _Issue(_Loose):
    number: int
    pull_request: dict[str, Any] | None = None


class _Comment(_Loose):
    id: int
    body: str
    user: _User


class _PullEvent(_Loose):
    repository: _Repository
    sender: _User
    pull_request: _Pull


class _CommentEvent(_Loose):
    action: str
    repository: _Repository
    sender: _User
    issue: _Issue
    comment: _Comment


_Lines = Annotated[
    tuple[Annotated[str, StringConstraints(max_length=1_000)], ...], Field(max_length=500)
]


class _Dispatch(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)
    sha: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{40}$")]
    branch: Annotated[str, StringConstraints(max_length=250)] = ""
    report: Annotated[str, StringConstraints(max_length=65_536)] = ""
    tests: _Lines = ()
    function: Annotated[str, StringConstraints(max_length=1_000)] = ""
    error_log: Annotated[str, StringConstraints(max_length=65_536)] = ""
    instruction: Annotated[str, StringConstraints(max_length=10_000)] = ""
    callback: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9._-]{0,64}$")] = ""


class _DispatchEvent(_Loose):
    action: str
    repository: _Repository
    sender: _User
    client_payload: dict[str, Any] | None = None


def load(path: Path) -> dict[str, Any]:
    """The payload in the runner's event file; UsageError when it is none."""
    try:
        with path.open("rb") as file:
            data = file.read(_MAX_BYTES + 1)
        payload = json.loads(data) if len(data) <= _MAX_BYTES else None
    except OSError as error:
        raise UsageError(f"cannot read the event {path}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise UsageError(f"the event {path} is not JSON: {one_line(str(error))}") from error
    if not isinstance(payload, dict):
        raise UsageError(f"the event {path} is no JSON object of at most {_MAX_BYTES} bytes")
    return payload


def read(name: str, payload: dict[str, Any], facts: Facts) -> Asked | Ignored:
    """What the event `name` asks for.

    A push, pull request or any other event is the failed run of this very job; a comment and a
    dispatch are requests of their own. Raises UsageError for a payload that is not such an event.
    """
    try:
        if name in _PRIVILEGED:
            return Ignored(f"{name} runs with write rights on code of others; it is not served")
        if name == "issue_comment":
            return _comment(_CommentEvent.model_validate(payload), facts)
        if name == "repository_dispatch":
            return _dispatch(_DispatchEvent.model_validate(payload), facts)
        if name == "pull_request":
            return _pull_request(_PullEvent.model_validate(payload), facts)
        return _step(name, facts)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise UsageError(f"event {name}: {one_line(where)}: {one_line(first['msg'])}") from error


def _step(name: str, facts: Facts) -> Asked:
    request = HealRequest(
        repo=facts.repo,
        base_sha=_sha(facts.sha),
        base_ref=facts.ref_name,
        tested_sha=facts.sha,
        head_repo=facts.repo,
        trigger=f"step:{name}",
        reports=facts.junit,
        run_id=facts.run_id,
        instruction=facts.instruction,
    )
    return Asked(request)


def _pull_request(event: _PullEvent, facts: Facts) -> Asked | Ignored:
    """CI tested the merge commit; the patch is made on the head, for the head's branch."""
    head = event.pull_request.head
    head_repo = head.repo.full_name if head.repo else ""
    if head_repo.lower() != facts.repo.lower():
        return Ignored(f"the code is from {one_line(head_repo) or 'a deleted fork'}, not trusted")
    asked = _step("pull_request", facts)
    request = replace(
        asked.request,
        base_sha=_sha(head.sha),
        base_ref=head.ref,
        head_repo=head_repo,
        actor=event.sender.login,
        pull_number=event.pull_request.number,
    )
    return Asked(request)


def _comment(event: _CommentEvent, facts: Facts) -> Asked | Ignored:
    command = _COMMAND.match(printable(event.comment.body).strip())
    if event.action != "created" or command is None:
        return Ignored("the comment is no new /heal command")
    if event.issue.pull_request is None:
        return Ignored("/heal works on pull requests", answer=True)
    if event.sender.login != event.comment.user.login or event.sender.type != "User":
        return Ignored(f"{one_line(event.sender.login)} is not the person who wrote the comment")
    words = (command["rest"] or "").split()
    request = HealRequest(
        repo=facts.repo,
        base_sha="",
        trigger="comment",
        actor=event.sender.login,
        reports=facts.junit,
        run_id=facts.run_id,
        pull_number=event.issue.number,
        reply_to=event.comment.id,
        instruction=facts.instruction,
    )
    if words and words[0] == "retry":
        said = one_line(" ".join([*words[1:], command["more"] or ""]), 2_000)
        return Asked(replace(request, verb="retry", instruction=said or facts.instruction))
    for word in words:
        if word.startswith("@") and _SHA.match(word[1:]):
            request = replace(request, base_sha=word[1:])
        elif "::" in word and len(word) <= 1_000:
            request = _about(request, word)
        else:
            return Ignored(
                f"/heal does not know {one_line(word, 60)!r}; it takes a test or function"
                " (path::name), @ and a full SHA, or retry and a hint",
                answer=True,
            )
    return Asked(request)


def _about(request: HealRequest, word: str) -> HealRequest:
    """`path::name`: a test to heal, or a function to suspect, by the name pytest would collect."""
    name = word.rpartition("::")[2].rpartition(".")[2]
    if name.startswith("test") or "[" in word:
        return replace(request, only=(*request.only, word))
    return replace(request, targets=(*request.targets, word))


def _dispatch(event: _DispatchEvent, facts: Facts) -> Asked | Ignored:
    if event.action not in _DISPATCHES:
        return Ignored(f"the dispatch type is {one_line(event.action)!r}, not 'heal'")
    given = _Dispatch.model_validate(event.client_payload or {})
    request = HealRequest(
        repo=facts.repo,
        base_sha=given.sha,
        base_ref=given.branch or event.repository.default_branch,
        tested_sha=given.sha,
        head_repo=facts.repo,
        trigger="dispatch",
        actor=event.sender.login,
        reports=() if given.report else facts.junit,
        run_id=facts.run_id,
        only=given.tests,
        targets=(given.function,) if given.function else (),
        instruction=given.instruction or facts.instruction,
        error_log=given.error_log,
        callback=given.callback,
    )
    return Asked(request, given.report)


def _sha(sha: str) -> str:
    if not _SHA.match(sha):
        raise UsageError(f"{one_line(sha, 60)!r} is no full commit SHA of 40 hex digits")
    return sha
