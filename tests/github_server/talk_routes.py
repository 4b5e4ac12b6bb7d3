"""More of the loopback GitHub: reviews, labels, reviewers, lists of runs, checks and comments."""

from __future__ import annotations

from typing import Any

from tests.github_server.contract import component
from tests.github_server.routes import (
    Answer,
    Request,
    check,
    handles,
    invalid,
    issue,
    page,
    pull_of,
)
from tests.github_server.world import Refused, Review

_BODY_LIMIT = 65_536
SERVED = {
    "actions/get-github-actions-default-workflow-permissions-repository",
    "actions/list-workflow-runs", "actions/list-workflow-runs-for-repo", "checks/list-for-ref",
    "issues/add-assignees", "issues/add-labels", "issues/delete-comment", "pulls/create-review",
    "pulls/create-review-comment",
    "pulls/list-files", "pulls/list-review-comments", "pulls/list-reviews",
    "pulls/request-reviewers", "reactions/create-for-pull-request-review-comment",
    "repos/list-commits",
}  # fmt: skip


@handles("actions/get-github-actions-default-workflow-permissions-repository")
def _workflow_permissions(request: Request) -> Answer:
    if request.login.endswith("[bot]"):
        raise Refused(403, "Resource not accessible by integration")
    allowed = request.world.may_open_pulls
    shown = {"default_workflow_permissions": "read", "can_approve_pull_request_reviews": allowed}
    return Answer(200, shown)


@handles("issues/delete-comment")
def _delete_comment(request: Request) -> Answer:
    number = int(request.parameters["comment_id"])
    if request.world.comments.pop(number, None) is None:
        raise Refused(404, "Not Found")
    return Answer(204)


@handles("issues/add-labels")
def _add_labels(request: Request) -> Answer:
    pull = request.world.pulls[issue(request)]
    names = request.body["labels"] if isinstance(request.body, dict) else request.body
    pull.labels += [name for name in names if name not in pull.labels]
    return Answer(200, [request.world.label(name) for name in pull.labels])


@handles("issues/add-assignees")
def _assign(request: Request) -> Answer:
    pull = request.world.pulls[issue(request)]
    known = request.world.permissions
    # Who cannot be assigned is passed over silently, as GitHub does.
    pull.assigned += [name for name in request.body["assignees"] if known.get(name) != "missing"]
    # The server checks answers against a form that a pull request's issue fits.
    shown = component("issue") | {"number": pull.number, "title": pull.title, "body": pull.body}
    return Answer(201, shown | {"assignees": [request.world.user(n) for n in pull.assigned]})


@handles("repos/list-commits")
def _list_commits(request: Request) -> Answer:
    world, at = request.world, request.query.get("sha", request.world.default_branch)
    sha = world.branch(at) or at
    if world.git.kind(sha) != "commit":
        raise Refused(404, "Not Found")
    found = world.git.git("log", "--format=%H", sha).decode().split()
    return Answer(200, page(request, [world.listed_commit(one) for one in found]))


@handles("pulls/request-reviewers")
def _ask(request: Request) -> Answer:
    pull = pull_of(request)
    body = request.body
    for name in body.get("reviewers", ()):
        if request.world.permissions.get(name, "read") == "missing":
            raise Refused(422, "Reviews may only be requested from collaborators.")
    pull.asked += [*body.get("reviewers", ()), *body.get("team_reviewers", ())]
    return Answer(201, request.world.pull(pull, "pull-request-simple"))


@handles("actions/list-workflow-runs")
@handles("actions/list-workflow-runs-for-repo")
def _list_runs(request: Request) -> Answer:
    query = request.query
    workflow = request.parameters.get("workflow_id", "")
    created = query.get("created", "")
    assert not created or created.startswith("<"), "no other range is served"

    def wanted(run: Any) -> bool:
        return (
            query.get("branch", run.head_branch) == run.head_branch
            and query.get("head_sha", run.head_sha) == run.head_sha
            and query.get("status", run.conclusion) in {run.conclusion, "completed"}
            and workflow in {"", str(run.workflow)}
            and (not created or run.created < created[1:])
        )

    found = [run for run in sorted(request.world.runs.values(), key=lambda r: -r.id) if wanted(run)]
    shown = [request.world.run(run) for run in page(request, found)]
    return Answer(200, {"total_count": len(found), "workflow_runs": shown})


@handles("checks/list-for-ref")
def _list_checks(request: Request) -> Answer:
    found = [
        number
        for number, given in request.world.checks.items()
        if given["head_sha"] == request.parameters["ref"]
        and request.query.get("check_name", given["name"]) == given["name"]
    ]
    runs = [check(request.world, number) for number in page(request, found)]
    return Answer(200, {"total_count": len(found), "check_runs": runs})


@handles("reactions/create-for-pull-request-review-comment")
def _react(request: Request) -> Answer:
    number, content = int(request.parameters["comment_id"]), request.body["content"]
    key = (number, request.login, content)
    known = key in request.world.reactions
    made = request.world.reactions.setdefault(key, request.world.next_id())
    shown = {"id": made, "content": content, "user": request.world.user(request.login)}
    return Answer(200 if known else 201, component("reaction") | shown)


def _patches(request: Request) -> dict[str, str]:
    """Per file its hunks, as GitHub lists a pull request's files."""
    pull = pull_of(request)
    git = request.world.git
    base = git.merge_base(f"refs/heads/{pull.base}", pull.head_sha) or ""
    patches: dict[str, str] = {}
    for part in git.diff(base, pull.head_sha).split("diff --git ")[1:]:
        at = part.find("@@")
        if at >= 0:
            patches[part.split(" b/", 1)[1].split("\n", 1)[0]] = part[at:].rstrip("\n")
    return patches


@handles("pulls/list-files")
def _list_files(request: Request) -> Answer:
    request.world.pull(pull_of(request))
    files = [
        component("diff-entry")
        | {"sha": "0" * 40, "filename": name, "status": "modified", "patch": patch}
        for name, patch in _patches(request).items()
    ]
    return Answer(200, page(request, files))


def _right(patch: str) -> set[int]:
    """The lines a remark may name; kept apart from the client's own reading on purpose."""
    lines, at = set(), 0
    for text in patch.splitlines():
        if text.startswith("@@"):
            at = int(text.split("+")[1].split(",")[0].split(" ")[0])
        elif not text.startswith(("-", "\\")):
            lines.add(at)
            at += 1
    return lines


@handles("pulls/create-review")
def _create_review(request: Request) -> Answer:
    pull, body = pull_of(request), request.body
    request.world.pull(pull)
    patches = _patches(request)
    for remark in body.get("comments", ()):
        lines = _right(patches.get(remark["path"], ""))
        wanted = set(range(remark.get("start_line", remark["line"]), remark["line"] + 1))
        if not wanted <= lines:
            raise Refused(422, "Unprocessable Entity", ["Line could not be resolved"])
    made = Review(
        request.world.next_id(), pull.number, request.login, body["body"],
        body.get("commit_id", pull.head_sha), list(body.get("comments", ())),
    )  # fmt: skip
    request.world.reviews[made.id] = made
    return Answer(200, _review(request, made))


def _review(request: Request, made: Review) -> dict[str, Any]:
    url = f"{request.world.url}/{request.world.name}/pull/{made.pull}"
    return component("pull-request-review") | {
        "id": made.id,
        "user": request.world.user(made.user),
        "body": made.body,
        "state": "COMMENTED",
        "html_url": f"{url}#pullrequestreview-{made.id}",
        "commit_id": made.commit,
    }


@handles("pulls/list-reviews")
def _list_reviews(request: Request) -> Answer:
    number = pull_of(request).number
    found = [r for r in request.world.reviews.values() if r.pull == number]
    return Answer(200, [_review(request, made) for made in page(request, found)])


@handles("pulls/create-review-comment")
def _create_line_comment(request: Request) -> Answer:
    pull, body = pull_of(request), request.body
    if body.get("subject_type") != "file" and "line" not in body:
        raise invalid("PullRequestReviewComment", "missing_field", field="line")
    if len(body["body"]) > _BODY_LIMIT:
        raise invalid("PullRequestReviewComment", "custom", "body is too long", "body")
    made = Review(
        request.world.next_id(), pull.number, request.login, body["body"], body["commit_id"],
        [dict(body)],
    )  # fmt: skip
    request.world.line_comments[made.id] = made
    return Answer(201, _line_comment(request, made))


def _line_comment(request: Request, made: Review) -> dict[str, Any]:
    return component("pull-request-review-comment") | {
        "id": made.id,
        "user": request.world.user(made.user),
        "body": made.body,
        "path": made.remarks[0]["path"],
        "commit_id": made.commit,
    }


@handles("pulls/list-review-comments")
def _list_line_comments(request: Request) -> Answer:
    number = pull_of(request).number
    found = [c for c in request.world.line_comments.values() if c.pull == number]
    return Answer(200, [_line_comment(request, made) for made in page(request, found)])
