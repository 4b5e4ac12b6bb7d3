"""Events as GitHub sends them become requests, or say why not."""

from __future__ import annotations

import copy
import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from heal_bot.errors import UsageError
from heal_bot.intake.event import Asked, Facts, Ignored, load, read

REPO = "Codertocat/Hello-World"
SHA, HEAD = "a" * 40, "b" * 40
FACTS = Facts(REPO, SHA, "main", 42, ("/w/reports/*.xml",))
EXAMPLES = json.loads(
    gzip.decompress((Path(__file__).parents[1] / "github/webhooks.json.gz").read_bytes())
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
    "a dispatch that brings its report": (
        "repository_dispatch",
        dispatch(report="<testsuites/>"),
        {"base_ref": "master", "reports": ()},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ASKED)
def test_an_event_becomes_a_request(name: str) -> None:
    event, payload, expected = ASKED[name]
    asked = read(event, payload, FACTS)
    assert isinstance(asked, Asked)
    assert {key: getattr(asked.request, key) for key in expected} == expected
    assert (asked.request.repo, asked.request.run_id) == (REPO, 42)


def test_the_report_of_a_dispatch_comes_along() -> None:
    asked = read("repository_dispatch", dispatch(report="<testsuites/>"), FACTS)
    assert isinstance(asked, Asked)
    assert asked.report == "<testsuites/>"


IGNORED: dict[str, tuple[str, dict[str, Any], bool]] = {
    "a pull request from a fork": ("pull_request", pull_request("mallory/Hello-World"), False),
    "a pull request from a deleted fork": ("pull_request", pull_request(None), False),
    "code of others with write rights": ("pull_request_target", pull_request(), False),
    "a finished run of others": ("workflow_run", example("workflow_run"), False),
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
    "a word it does not know": ("issue_comment", comment("/heal everything"), True),
    "a short commit": ("issue_comment", comment("/heal @abc1234"), True),
    "a dispatch for something else": ("repository_dispatch", example("repository_dispatch"), False),
}


@pytest.mark.parametrize("name", IGNORED)
def test_an_event_that_is_not_served_says_why(name: str) -> None:
    event, payload, answer = IGNORED[name]
    ignored = read(event, payload, FACTS)
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
        read(event, payload, FACTS)


def test_a_job_without_a_full_commit_is_refused() -> None:
    with pytest.raises(UsageError, match="no full commit SHA"):
        read("push", example("push"), Facts(REPO, "main", "main"))


@pytest.mark.parametrize("data", [b"", b"[]", b"{", b"[" * 100_000, b"\xff"], ids=repr)
def test_a_broken_event_file_is_one_line(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "event.json"
    path.write_bytes(data)
    with pytest.raises(UsageError) as error:
        load(path)
    assert "\n" not in str(error.value)


def test_a_missing_event_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"gone\.json"):
        load(tmp_path / "gone.json")
