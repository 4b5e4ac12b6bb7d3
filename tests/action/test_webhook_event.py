"""Events as GitHub sends them become requests, or say why not."""

from __future__ import annotations

import copy
import gzip
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from heal_bot.action.webhook_event import (
    CommandRequest,
    EventFacts,
    EventPlace,
    Ignored,
    read_event,
)
from heal_bot.core.errors import UsageError

REPO = "Codertocat/Hello-World"
SHA, HEAD = "a" * 40, "b" * 40
FACTS = EventFacts(REPO, SHA, "main", 42, ("/w/reports/*.xml",))
EXAMPLES = json.loads(
    gzip.decompress((Path(__file__).parents[1] / "github_server/webhooks.json.gz").read_bytes())
)


def example(name: str) -> dict[str, Any]:
    return copy.deepcopy(EXAMPLES[name])


def comment(body: str, **changes: Any) -> dict[str, Any]:
    """GitHub's example of a comment, on a pull request and with another text."""
    payload = example("issue_comment")
    payload["issue"]["pull_request"] = {"url": "https://api.example.invalid/pulls/1"}
    payload["comment"]["body"] = body
    return payload | changes


def dispatch(**values: Any) -> dict[str, Any]:
    payload = example("repository_dispatch")
    payload["action"] = "heal"
    return payload | {"client_payload": {"sha": SHA} | values}


def review(body: str, repo: str = REPO) -> dict[str, Any]:
    """GitHub's example of a submitted review, with a command for its text."""
    payload = example("pull_request_review")
    payload["review"]["body"] = body
    payload["pull_request"]["head"]["repo"]["full_name"] = repo
    return payload


def line_comment(body: str, **changes: Any) -> dict[str, Any]:
    """GitHub's example of a comment in a review, on a line of the new side."""
    payload = example("pull_request_review_comment")
    payload["comment"] |= {"body": body, "line": 7, "side": "RIGHT", "commit_id": HEAD} | changes
    return payload


def finished(conclusion: str = "failure", repo: str = REPO, **changes: Any) -> dict[str, Any]:
    """GitHub's example of a finished run, of this repository."""
    payload = example("workflow_run")
    payload["workflow_run"] |= {"conclusion": conclusion, "event": "push", "id": 77} | changes
    payload["workflow_run"]["head_repository"]["full_name"] = repo
    return payload


def pull_request(repo: str | None = REPO) -> dict[str, Any]:
    payload = example("pull_request")
    head = payload["pull_request"]["head"]
    head["sha"], head["ref"] = HEAD, "feature"
    head["repo"] = None if repo is None else head["repo"] | {"full_name": repo}
    return payload


ASKED: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "a push": (
        "push",
        example("push"),
        {"base_sha": SHA, "base_ref": "main", "trigger": "step:push", "head_repo": REPO},
    ),
    "a pull request, patched on its head though CI ran the merge": (
        "pull_request",
        pull_request(),
        {"base_sha": HEAD, "tested_sha": SHA, "base_ref": "feature", "pull_number": 2},
    ),
    "a comment": (
        "issue_comment",
        comment("/heal"),
        {"base_sha": "", "trigger": "comment", "actor": "Codertocat", "pull_number": 1},
    ),
    "a comment that names a test": (
        "issue_comment",
        comment("/heal tests/test_a.py::test_b[x]"),
        {"only": ("tests/test_a.py::test_b[x]",)},
    ),
    "a comment that names a method": (
        "issue_comment",
        comment("/heal shop/cart.py::Cart.total"),
        {"targets": ("shop/cart.py::Cart.total",), "only": ()},
    ),
    "a comment that names a commit": (
        "issue_comment",
        comment(f"/heal @{HEAD}"),
        {"base_sha": HEAD},
    ),
    "a comment that asks again with a hint": (
        "issue_comment",
        comment("/heal retry the tax is\nrounded per line"),
        {"verb": "retry", "instruction": "the tax is rounded per line"},
    ),
    "a dispatch": (
        "repository_dispatch",
        dispatch(branch="release", tests=["t.py::test_a"], callback="job-7"),
        {"base_sha": SHA, "base_ref": "release", "only": ("t.py::test_a",), "callback": "job-7",
         "reports": FACTS.junit},
    ),
    "a line of a review, whose text is the instruction": (
        "pull_request_review_comment",
        line_comment("/heal prices are in cents"),
        {"trigger": "comment", "instruction": "prices are in cents", "reply_to": 284312630},
    ),
    "a review": ("pull_request_review", review("/heal apply"), {"verb": "apply"}),
    "a schedule": ("schedule", {}, {"base_sha": "", "trigger": "schedule"}),
    "a dispatch by hand": ("workflow_dispatch", example("workflow_dispatch"), {"base_sha": SHA}),
    "a dispatch that brings its report": (
        "repository_dispatch",
        dispatch(report="<testsuites/>"),
        {"base_ref": "master", "reports": ()},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ASKED)
def test_an_event_becomes_a_request(name: str) -> None:
    event, payload, expected = ASKED[name]
    asked = read_event(event, payload, FACTS)
    assert isinstance(asked, CommandRequest)
    assert {key: getattr(asked.request, key) for key in expected} == expected
    assert (asked.request.repo, asked.request.run_id) == (REPO, 42)


def test_a_red_run_of_another_workflow_is_asked_for_by_its_id() -> None:
    asked = read_event("workflow_run", finished(pull_requests=[{"number": 5}]), FACTS)
    assert isinstance(asked, CommandRequest)
    assert (asked.artifacts, asked.green) == (True, False)
    assert (asked.request.run_id, asked.request.pull_number) == (77, 5)
    assert asked.request.base_ref == "main"
    green = read_event("workflow_run", finished("success"), FACTS)
    assert isinstance(green, CommandRequest)
    assert green.green


def test_a_dispatch_may_name_a_run_instead_of_a_commit() -> None:
    payload = dispatch() | {"client_payload": {"run_id": 88}}
    asked = read_event("repository_dispatch", payload, FACTS)
    assert isinstance(asked, CommandRequest)
    assert (asked.artifacts, asked.request.run_id, asked.request.reports) == (True, 88, ())


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({}, EventPlace("README.md", 7, HEAD)),
        ({"line": None}, None),
        ({"side": "LEFT"}, None),
    ],
)
def test_the_line_of_a_review_is_kept(changes: dict[str, Any], place: EventPlace | None) -> None:
    payload = line_comment("/heal", **changes)
    asked = read_event("pull_request_review_comment", payload, FACTS)
    assert isinstance(asked, CommandRequest)
    assert (asked.place, asked.review) == (place, True)


def test_a_listed_bot_may_ask() -> None:
    payload = comment("/heal", sender={"login": "Codertocat", "type": "Bot"})
    facts = replace(FACTS, bots=("Codertocat",))
    assert isinstance(read_event("issue_comment", payload, facts), CommandRequest)


def test_a_dispatch_that_names_no_failure_is_for_nothing() -> None:
    ignored = read_event("repository_dispatch", dispatch(), replace(FACTS, junit=()))
    assert isinstance(ignored, Ignored)
    assert isinstance(read_event("repository_dispatch", dispatch(), FACTS), CommandRequest)


def test_the_report_of_a_dispatch_comes_along() -> None:
    asked = read_event("repository_dispatch", dispatch(report="<testsuites/>"), FACTS)
    assert isinstance(asked, CommandRequest)
    assert asked.report == "<testsuites/>"


IGNORED: dict[str, tuple[str, dict[str, Any], bool]] = {
    "a pull request from a fork": ("pull_request", pull_request("mallory/Hello-World"), False),
    "a pull request from a deleted fork": ("pull_request", pull_request(None), False),
    "code of others with write rights": ("pull_request_target", pull_request(), False),
    "a finished run of others": ("workflow_run", finished(repo="mallory/x"), False),
    "a run of a deleted fork": ("workflow_run", finished(head_branch=None), False),
    "a run that was cancelled": ("workflow_run", finished("cancelled"), False),
    "a run on code of others with write rights": (
        "workflow_run",
        finished(event="pull_request_target"),
        False,
    ),
    "a review on a fork": ("pull_request_review", review("/heal", "mallory/x"), True),
    "a review without a text": ("pull_request_review", example("pull_request_review"), False),
    "a comment about something else": ("issue_comment", comment("please /heal"), False),
    "a command that only starts alike": ("issue_comment", comment("/healthy"), False),
    "an edited comment": ("issue_comment", comment("/heal", action="edited"), False),
    "a comment on an issue": (
        "issue_comment",
        example("issue_comment") | {"comment": comment("/heal")["comment"]},
        True,
    ),
    "a comment by a bot": (
        "issue_comment",
        comment("/heal", sender={"login": "Codertocat", "type": "Bot"}),
        False,
    ),
    "a comment sent by another account": (
        "issue_comment",
        comment("/heal", sender={"login": "mallory", "type": "User"}),
        False,
    ),
    "a word it does not know": ("issue_comment", comment("/heal aply"), True),
    "a short commit": ("issue_comment", comment("/heal @abc1234"), True),
    "a dispatch for something else": ("repository_dispatch", example("repository_dispatch"), False),
}


@pytest.mark.parametrize("name", IGNORED)
def test_an_event_that_is_not_served_says_why(name: str) -> None:
    event, payload, answer = IGNORED[name]
    ignored = read_event(event, payload, FACTS)
    assert isinstance(ignored, Ignored)
    assert ignored.reason
    assert (ignored.reply_to is not None) is answer


@pytest.mark.parametrize(
    ("event", "payload", "words"),
    [
        ("repository_dispatch", dispatch(sha="abc1234"), "sha"),
        ("repository_dispatch", dispatch(sha="A" * 40), "sha"),
        ("repository_dispatch", dispatch(sha=SHA + "\n"), "sha"),
        ("repository_dispatch", dispatch(callback="../../x"), "callback"),
        ("repository_dispatch", dispatch(report="x" * 70_000), "report"),
        ("repository_dispatch", dispatch(command="rm"), "command"),
        ("issue_comment", {"action": "created"}, "repository"),
        ("issue_comment", comment("/heal") | {"sender": {"login": 7}}, "sender.login"),
        ("pull_request", example("push"), "pull_request"),
    ],
)
def test_a_payload_of_the_wrong_form_is_named(
    event: str, payload: dict[str, Any], words: str
) -> None:
    with pytest.raises(UsageError, match=words):
        read_event(event, payload, FACTS)


def test_a_job_without_a_full_commit_is_refused() -> None:
    with pytest.raises(UsageError, match="not a full commit SHA"):
        read_event("push", example("push"), EventFacts(REPO, "main", "main"))


def commit_comment(body: str, **changes: Any) -> dict[str, Any]:
    """A comment on a commit, by the one who sent it."""
    given = comment(body)
    repository = given["repository"] | {"default_branch": "main"}
    said = given["comment"] | {"commit_id": HEAD} | changes
    return {"action": "created", "repository": repository, "sender": given["sender"],
            "comment": said}  # fmt: skip


@pytest.mark.parametrize(("body", "verb"), [("/heal", "heal"), ("/heal retry round up", "retry")])
def test_a_comment_on_a_commit_is_for_that_commit_of_the_default_branch(
    body: str, verb: str
) -> None:
    asked = read_event("commit_comment", commit_comment(body), FACTS)
    assert isinstance(asked, CommandRequest)
    request = asked.request
    assert (request.verb, request.base_sha, request.base_ref) == (verb, HEAD, "main")
    assert (request.trigger, request.pull_number, request.reply_to) == ("commit", None, None)


@pytest.mark.parametrize("body", ["/heal stop", "/heal apply", "Thank you"])
def test_what_is_for_a_pull_request_is_not_for_a_commit(body: str) -> None:
    ignored = read_event("commit_comment", commit_comment(body), FACTS)
    assert isinstance(ignored, Ignored)
    assert ignored.reply_to is None


def test_a_comment_without_its_commit_is_no_such_event() -> None:
    with pytest.raises(UsageError, match="commit_id"):
        read_event("commit_comment", commit_comment("/heal", commit_id=None), FACTS)


@pytest.mark.parametrize(
    ("name", "payload"),
    [
        ("repository_dispatch", dispatch(tests=["t.py::test_a"], retry=True)),
        ("workflow_dispatch", example("workflow_dispatch") | {"inputs": {"retry": "true"}}),
    ],
)
def test_a_dispatch_may_ask_again(name: str, payload: dict[str, Any]) -> None:
    asked = read_event(name, payload, FACTS)
    assert isinstance(asked, CommandRequest)
    assert asked.request.verb == "retry"
