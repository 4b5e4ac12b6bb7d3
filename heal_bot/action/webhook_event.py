"""A webhook event to a heal request: what is asked, believed in nothing that the API can say."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

from pydantic import ValidationError

from heal_bot.action import comment_command, event_file, webhook_payload
from heal_bot.core.errors import UsageError
from heal_bot.core.model import HealRequest
from heal_bot.core.text import describe_fault, one_line
from heal_bot.ports.code_host import STOPPED

_SHA = re.compile(r"[0-9a-f]{40}\Z")
_DISPATCHES = frozenset({"heal", "heal-bot"})


@dataclass(frozen=True, slots=True)
class EventFacts:
    """What the runner says of this job: repository, commit, branch, run, and the inputs.

    `bots` are the accounts that may ask although they are no people.
    """

    repo: str
    sha: str
    ref_name: str
    run_id: int | None = None
    junit: tuple[str, ...] = ()
    instruction: str = ""
    bots: tuple[str, ...] = ()
    job: str = ""
    python: str = ""


@dataclass(frozen=True, slots=True)
class EventPlace:
    """A line of a file, on the new side of a pull request's diff at `sha`."""

    path: str
    line: int
    sha: str


@dataclass(frozen=True, slots=True)
class CommandRequest:
    """A request read from an event; what only the API can say is still empty in it.

    `report` is JUnit XML that came with the event itself; `artifacts` says that the reports are
    those of the request's run; `place` picks the function to suspect; `review` that the request is
    answered on a review's comment; `green` that the run passed and nothing is to be healed.
    """

    request: HealRequest
    report: str = ""
    artifacts: bool = False
    place: EventPlace | None = None
    review: bool = False
    green: bool = False


@dataclass(frozen=True, slots=True)
class Ignored:
    """An event that asks for nothing, or for what is never done.

    With `reply_to` a person waits for the answer, on pull request `pull_number` where it is one;
    `once` that there is no second answer of the kind for that person.
    """

    reason: str
    pull_number: int | None = None
    reply_to: int | None = None
    actor: str = ""
    once: bool = False


def read_event(name: str, given: dict[str, Any], facts: EventFacts) -> CommandRequest | Ignored:
    """What the event `name` asks for.

    A push, pull request or any other event is the failed run of this very job; comments, dispatches
    and finished runs are requests of their own. UsageError for a payload that is no such event.
    """
    try:
        return _read_request(name, given, facts) or _read_own_run(name, given, facts)
    except ValidationError as error:
        raise UsageError(f"event {name}: {describe_fault(error)}") from error


def _read_request(
    name: str, given: dict[str, Any], facts: EventFacts
) -> CommandRequest | Ignored | None:
    """What an event asks for that says itself which failed run it is about; None for others."""
    match name:
        case "pull_request_target":
            return Ignored(event_file.NOT_SERVED)
        case "issue_comment":
            return _comment(webhook_payload.CommentEvent.model_validate(given), facts)
        case "pull_request_review":
            return _review(webhook_payload.ReviewEvent.model_validate(given), facts)
        case "pull_request_review_comment":
            return _line(webhook_payload.LineCommentEvent.model_validate(given), facts)
        case "commit_comment":
            return _commit(webhook_payload.CommitCommentEvent.model_validate(given), facts)
        case "workflow_run":
            return _finished(webhook_payload.RunEvent.model_validate(given), facts)
        case "repository_dispatch":
            return _dispatch(webhook_payload.DispatchEvent.model_validate(given), facts)
    return None


def _read_own_run(name: str, given: dict[str, Any], facts: EventFacts) -> CommandRequest | Ignored:
    """The failed run of this very job."""
    match name:
        case "pull_request":
            return _pull_request(webhook_payload.PullEvent.model_validate(given), facts)
        case "push":
            before = webhook_payload.PushEvent.model_validate(given).before
            return _since(_step(name, facts), before)
        case "workflow_dispatch":
            asked, inputs = _step(name, facts), given.get("inputs")
            again = isinstance(inputs, dict) and inputs.get("retry") in {True, "true"}
            verb = "retry" if again else "heal"
            return replace(asked, request=replace(asked.request, verb=verb))
        case "schedule":
            request = replace(_step(name, facts).request, trigger="schedule", base_sha="")
            return CommandRequest(request, artifacts=True)
    return _step(name, facts)


def _step(name: str, facts: EventFacts) -> CommandRequest:
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
        job=facts.job,
        python=facts.python,
    )
    return CommandRequest(request, artifacts=not facts.junit)


def _pull_request(event: webhook_payload.PullEvent, facts: EventFacts) -> CommandRequest | Ignored:
    """CI tested the merge commit; the patch is made on the head, for the head's branch."""
    pull = event.pull_request
    if reason := _foreign(pull.head, facts):
        return Ignored(reason)
    if any(label.name == STOPPED for label in pull.labels):
        return Ignored(f"the pull request bears the label {STOPPED}")
    asked = _step("pull_request", facts)
    request = replace(
        asked.request,
        base_sha=_sha(pull.head.sha),
        base_ref=pull.head.ref,
        actor=event.sender.login,
        pull_number=pull.number,
    )
    return _since(replace(asked, request=request), pull.base.sha)


def _since(asked: CommandRequest, good: str) -> CommandRequest:
    """With the commit that the change under test is on top of, where the event names one."""
    known = good if _SHA.match(good) and good.strip("0") else ""
    return replace(asked, request=replace(asked.request, good=known))


def _finished(event: webhook_payload.RunEvent, facts: EventFacts) -> CommandRequest | Ignored:
    """Another workflow's run: red is healed, green closes what is no longer needed."""
    run = event.workflow_run
    head_repo = run.head_repository.full_name if run.head_repository else ""
    if reason := event_file.explain_ended_run(event.action, run.conclusion or ""):
        return Ignored(reason)
    if head_repo.lower() != facts.repo.lower() or run.event == "pull_request_target":
        return Ignored(f"the run is of code from {one_line(head_repo) or 'a deleted fork'}")
    if not run.head_branch:
        return Ignored("the run is of no branch")
    pull = run.pull_requests[0] if run.pull_requests else None
    base = pull.base.sha if pull and pull.base else ""
    request = HealRequest(
        repo=facts.repo,
        base_sha=_sha(run.head_sha),
        base_ref=run.head_branch,
        tested_sha=run.head_sha,
        head_repo=facts.repo,
        trigger=f"workflow_run:{one_line(run.event, 40)}",
        actor=event.sender.login,
        run_id=run.id,
        pull_number=pull.number if pull else None,
        instruction=facts.instruction,
    )
    asked = CommandRequest(request, artifacts=True, green=run.conclusion == "success")
    # What runs on a schedule was green when its commit was made, unless somebody knows better.
    return _since(asked, run.head_sha if run.event == "schedule" else base)


def _comment(event: webhook_payload.CommentEvent, facts: EventFacts) -> CommandRequest | Ignored:
    pull = event.issue.number
    found = read_command(event.action, event.sender, event.comment, pull, facts)
    if event.issue.pull_request is None and isinstance(found, CommandRequest):
        return Ignored("/heal works on pull requests", pull, event.comment.id, event.sender.login)
    return found


def _line(event: webhook_payload.LineCommentEvent, facts: EventFacts) -> CommandRequest | Ignored:
    """The line of the comment picks the function, its text is the instruction."""
    comment, number = event.comment, event.pull_request.number
    found = read_command(event.action, event.sender, comment, number, facts)
    if isinstance(found, Ignored):
        return found
    if reason := _foreign(event.pull_request.head, facts):
        return Ignored(reason, number, comment.id, event.sender.login)
    place = None
    if comment.line is not None and comment.side != "LEFT" and _SHA.match(comment.commit_id):
        place = EventPlace(comment.path, comment.line, comment.commit_id)
    return replace(found, place=place, review=True)


def _review(event: webhook_payload.ReviewEvent, facts: EventFacts) -> CommandRequest | Ignored:
    number = event.pull_request.number
    action = "created" if event.action == "submitted" else event.action
    found = read_command(action, event.sender, event.review, number, facts)
    if isinstance(found, CommandRequest) and (reason := _foreign(event.pull_request.head, facts)):
        return Ignored(reason, number, event.review.id, event.sender.login)
    return found


def read_command(
    action: str,
    sender: webhook_payload.User,
    comment: webhook_payload.Comment,
    number: int,
    facts: EventFacts,
) -> CommandRequest | Ignored:
    """The request of a comment, if its own author has just written a command."""
    said = comment_command.parse(comment.body or "")
    if action != "created" or said is None:
        return Ignored("the comment is no new /heal command")
    if sender.login != comment.user.login:
        return Ignored(f"{one_line(sender.login)} is not the account that wrote the comment")
    if sender.type != "User" and sender.login not in facts.bots:
        return Ignored(f"{one_line(sender.login)} is a bot that is not listed in `bots`")
    if isinstance(said, comment_command.Unknown):
        reason = f"/heal does not know {said.word!r}; /heal help tells what it knows"
        return Ignored(reason, number, comment.id, sender.login, once=True)
    request = HealRequest(
        repo=facts.repo,
        base_sha=said.sha,
        trigger="comment",
        actor=sender.login,
        reports=facts.junit,
        run_id=facts.run_id,
        pull_number=number,
        reply_to=comment.id,
        verb=said.verb,
        choice=said.choice,
        only=said.only,
        targets=said.targets,
        instruction=said.hint or facts.instruction,
    )
    return CommandRequest(request, artifacts=not facts.junit)


def _commit(
    event: webhook_payload.CommitCommentEvent, facts: EventFacts
) -> CommandRequest | Ignored:
    """What a comment on a commit of the default branch asks for; its check run is the answer."""
    comment, branch = event.comment, event.repository.default_branch
    found = read_command(event.action, event.sender, comment, 0, facts)
    if isinstance(found, Ignored):
        return Ignored(found.reason)
    if found.request.verb not in {"heal", "retry", "pick"}:
        return Ignored(f"/heal {found.request.verb} is for a pull request, not for a commit")
    sha = _sha(comment.commit_id)
    request = replace(
        found.request, trigger="commit", base_sha=sha, tested_sha=sha, base_ref=branch,
        head_repo=facts.repo, pull_number=None, reply_to=None,
    )  # fmt: skip
    return replace(found, request=request)


def _foreign(head: webhook_payload.End, facts: EventFacts) -> str:
    """Why code of a fork is not served here, or nothing."""
    repo = head.repo.full_name if head.repo else ""
    if repo.lower() == facts.repo.lower():
        return ""
    return f"the code is from {one_line(repo) or 'a deleted fork'}, which this job does not run"


def _dispatch(event: webhook_payload.DispatchEvent, facts: EventFacts) -> CommandRequest | Ignored:
    if event.action not in _DISPATCHES:
        return Ignored(f"the dispatch type is {one_line(event.action)!r}, not 'heal'")
    given = webhook_payload.parse_dispatch(event.client_payload)
    if not given.sha and given.run_id is None:
        raise UsageError("event repository_dispatch: client_payload needs run_id or sha")
    told = given.report or given.tests or given.function or given.run_id or facts.junit
    if not told:
        return Ignored("the dispatch names no report, no test, no function and no run")
    request = HealRequest(
        repo=facts.repo,
        base_sha=given.sha,
        base_ref=given.branch or event.repository.default_branch,
        tested_sha=given.sha,
        head_repo=facts.repo,
        trigger="dispatch",
        actor=event.sender.login,
        reports=() if given.report or given.run_id else facts.junit,
        run_id=given.run_id or facts.run_id,
        only=given.tests,
        targets=(given.function,) if given.function else (),
        instruction=given.instruction or facts.instruction,
        error_log=given.error_log,
        callback=given.callback,
        verb="retry" if given.retry else "heal",
    )
    return CommandRequest(request, given.report, artifacts=given.run_id is not None)


def _sha(sha: str) -> str:
    if not _SHA.match(sha):
        raise UsageError(f"{one_line(sha, 60)!r} is not a full commit SHA of 40 hex digits")
    return sha
