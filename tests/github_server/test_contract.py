"""The judge notices what goes against GitHub's description, and the server keeps to it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.github_server import graphql
from tests.github_server.contract import Judge, component, match

REPO = "/repos/octo/shop"


@pytest.mark.parametrize(
    ("method", "path", "operation", "parameters"),
    [
        ("GET", f"{REPO}/git/ref/heads/heal-bot/x", "git/get-ref", {"ref": "heads/heal-bot/x"}),
        ("PATCH", f"{REPO}/git/refs/heads/a/b", "git/update-ref", {"ref": "heads/a/b"}),
        ("GET", f"{REPO}/compare/main...a/b", "repos/compare-commits-with-basehead",
         {"basehead": "main...a/b"}),
        ("GET", f"{REPO}/pulls/7", "pulls/get", {"pull_number": "7"}),
        ("GET", "/user", "users/get-authenticated", {}),
    ],
)  # fmt: skip
def test_a_request_finds_its_operation(
    method: str, path: str, operation: str, parameters: dict[str, str]
) -> None:
    found = match(method, path)
    assert found is not None
    assert found.id == operation
    assert parameters.items() <= found.parameters.items()


@pytest.mark.parametrize("path", ["/nothing", f"{REPO}/pulls/7/nothing", f"{REPO}/git/ref"])
def test_an_unknown_request_finds_none(path: str) -> None:
    assert match("GET", path) is None


@pytest.mark.parametrize(
    ("method", "path", "query", "body", "words"),
    [
        ("POST", f"{REPO}/git/refs", {}, {"ref": "refs/heads/x"}, "'sha' is a required"),
        ("POST", f"{REPO}/git/refs", {}, {"ref": 1, "sha": "a"}, "not of type 'string'"),
        ("POST", f"{REPO}/git/refs", {}, {"ref": "r", "sha": "a", "x": 1}, "undocumented field x"),
        ("GET", f"{REPO}/pulls", {"colour": "red"}, None, "undocumented query parameter colour"),
        ("GET", f"{REPO}/pulls", {"state": "ajar"}, None, "'ajar' is not one of"),
        ("GET", f"{REPO}/pulls/1", {}, {"a": 1}, "a body where none is documented"),
    ],
)
def test_a_wrong_request_is_a_violation(
    method: str, path: str, query: dict[str, str], body: Any, words: str
) -> None:
    judge, operation = Judge(), match(method, path)
    assert operation is not None
    judge.request(operation, query, body)
    assert any(words in violation for violation in judge.violations)


@pytest.mark.parametrize(
    ("status", "body", "words"),
    [(200, {"number": 1}, "required"), (299, {}, "undocumented status 299")],
)
def test_a_wrong_answer_is_a_violation(status: int, body: Any, words: str) -> None:
    judge, operation = Judge(), match("GET", f"{REPO}/pulls/1")
    assert operation is not None
    judge.response(operation, status, body)
    assert any(words in violation for violation in judge.violations)


def test_a_sample_is_a_right_answer() -> None:
    judge, operation = Judge(), match("GET", f"{REPO}/pulls/1")
    assert operation is not None
    judge.response(operation, 200, component("pull-request"))
    assert judge.violations == []


MUTATION = "mutation M($input: ConvertPullRequestToDraftInput!) "


@pytest.mark.parametrize(
    "text",
    [
        "query { repositories { id } }",
        "query Q($o: String!) { repository(owner: $o) { id } }",
        "query Q($o: Int!, $n: String!) { repository(owner: $o, name: $n) { id } }",
        "query Q($o: String, $n: String!) { repository(owner: $o, name: $n) { id } }",
        MUTATION + "{ convertPullRequestToDraft(input: $input) { pullRequest { draft } } }",
        MUTATION + "{ markPullRequestReadyForReview(input: $input) { pullRequest { id } } }",
        MUTATION + "{ convertPullRequestToDraft(input: $input) { pullRequest } }",
    ],
)
def test_a_query_against_the_schema_is_a_fault(text: str) -> None:
    with pytest.raises(graphql.Fault):
        graphql.Document(text)


@pytest.mark.parametrize(
    "given", [{}, {"input": {}}, {"input": {"pullRequestId": 7}},
              {"input": {"pullRequestId": "PR_7", "draft": True}},
              {"input": {"pullRequestId": "PR_7"}, "more": 1}],
)  # fmt: skip
def test_variables_against_the_schema_are_a_fault(given: dict[str, Any]) -> None:
    text = MUTATION + "{ convertPullRequestToDraft(input: $input) { pullRequest { isDraft } } }"
    with pytest.raises(graphql.Fault):
        graphql.Document(text).judge(given)
    graphql.Document(text).judge({"input": {"pullRequestId": "PR_7"}})
