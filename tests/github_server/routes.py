"""What each operation of the loopback GitHub does: one function per documented operation."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tests.github_server.contract import component
from tests.github_server.repository import GitRefused
from tests.github_server.world import BOT, WHEN, Pull, Refused, World

_SHA = re.compile(r"[0-9a-f]{40}\Z")
_BODY_LIMIT = 65_536


@dataclass(frozen=True)
class Request:
    """A request as a handler sees it."""

    world: World
    login: str
    parameters: Mapping[str, str]
    query: Mapping[str, str]
    body: Any


@dataclass(frozen=True)
class Answer:
    """A handler's answer; `location` makes it a redirect, `raw` a non-JSON body."""

    status: int
    body: Any = None
    location: str = ""


Handler = Callable[[Request], Answer]
HANDLERS: dict[str, Handler] = {}


def handles(operation: str) -> Callable[[Handler], Handler]:
    """Registers the handler of an operation."""

    def add(handler: Handler) -> Handler:
        HANDLERS[operation] = handler
        return handler

    return add


def invalid(resource: str, code: str, message: str = "", field: str = "") -> Refused:
    error = {"resource": resource, "code": code}
    error |= {"message": message} if message else {}
    error |= {"field": field} if field else {}
    return Refused(422, "Validation Failed", [error])


def _object(request: Request, sha: str, kind: str) -> str:
    if not _SHA.match(sha) or request.world.git.kind(sha) != kind:
        raise Refused(404, "Not Found")
    return sha


def page(request: Request, items: list[Any]) -> list[Any]:
    size = min(100, int(request.query.get("per_page", 30)))
    start = (int(request.query.get("page", 1)) - 1) * size
    request.world.more = len(items) > start + size
    return items[start : start + size]


@handles("users/get-authenticated")
def _user(request: Request) -> Answer:
    if request.login.endswith("[bot]"):
        raise Refused(403, "Resource not accessible by integration")
    return Answer(200, component("private-user") | {"login": request.login})


@handles("rate-limit/get")
def _rate(request: Request) -> Answer:
    return Answer(200, component("rate-limit-overview"))


@handles("repos/get")
def _repo(request: Request) -> Answer:
    return Answer(200, request.world.repository())


@handles("repos/get-collaborator-permission-level")
def _permission(request: Request) -> Answer:
    login = request.parameters["username"]
    level = request.world.permissions.get(login, "read")
    if level == "missing":
        raise Refused(404, f"{login} is not a user")
    shown = component("repository-collaborator-permission")
    legacy = {"maintain": "write", "triage": "read"} | request.world.base_roles
    shown_as = legacy.get(level, level)
    return Answer(200, shown | {"permission": shown_as, "role_name": level})


@handles("repos/get-branch")
def _branch(request: Request) -> Answer:
    world, name = request.world, request.parameters["branch"]
    sha = world.branch(name)
    if sha is None:
        raise Refused(404, "Branch not found")
    shown = component("branch-with-protection")
    protected = world.is_protected(f"refs/heads/{name}")
    shown |= {"name": name, "commit": world.listed_commit(sha), "protected": protected}
    return Answer(200, shown)


@handles("git/get-ref")
def _get_ref(request: Request) -> Answer:
    name = f"refs/{request.parameters['ref']}"
    sha = request.world.git.refs().get(name)
    if sha is None:
        raise Refused(404, "Not Found")
    return Answer(200, request.world.ref(name, sha))


@handles("git/list-matching-refs")
def _matching_refs(request: Request) -> Answer:
    refs = request.world.git.refs(f"refs/{request.parameters['ref']}")
    return Answer(200, [request.world.ref(name, sha) for name, sha in sorted(refs.items())])


@handles("git/create-ref")
def _create_ref(request: Request) -> Answer:
    name, sha = request.body["ref"], request.body["sha"]
    git = request.world.git
    if not name.startswith("refs/") or name.count("/") < 2:
        raise Refused(422, "Reference name is not valid", [])
    if git.kind(sha) is None:
        raise Refused(422, "Object does not exist", [])
    if name in git.refs():
        raise Refused(422, "Reference already exists", [])
    if request.world.is_protected(name):
        raise Refused(422, "Repository rule violations found", [])
    try:
        git.set_ref(name, sha, "0" * 40)
    except GitRefused as error:
        raise Refused(422, "Reference update failed", []) from error
    return Answer(201, request.world.ref(name, sha))


@handles("git/update-ref")
def _update_ref(request: Request) -> Answer:
    name, sha = f"refs/{request.parameters['ref']}", request.body["sha"]
    git = request.world.git
    old = git.refs().get(name)
    if old is None:
        raise Refused(422, "Reference does not exist", [])
    if git.kind(sha) != "commit":
        raise Refused(422, "Object does not exist", [])
    if request.world.is_protected(name):
        raise Refused(422, "Repository rule violations found", [])
    if not request.body.get("force") and not git.is_ancestor(old, sha):
        raise Refused(422, "Update is not a fast forward", [])
    git.set_ref(name, sha, old)
    request.world.note_merged(name.removeprefix("refs/heads/"))
    return Answer(200, request.world.ref(name, sha))


@handles("git/delete-ref")
def _delete_ref(request: Request) -> Answer:
    name = f"refs/{request.parameters['ref']}"
    if name not in request.world.git.refs():
        raise Refused(422, "Reference does not exist", [])
    request.world.git.delete_ref(name)
    return Answer(204)


@handles("git/get-commit")
def _get_commit(request: Request) -> Answer:
    sha = _object(request, request.parameters["commit_sha"], "commit")
    return Answer(200, request.world.commit(request.world.git.commit(sha)))


@handles("git/create-commit")
def _create_commit(request: Request) -> Answer:
    body, git = request.body, request.world.git
    if git.kind(body["tree"]) != "tree":
        raise invalid("Commit", "custom", "Tree SHA does not exist")
    if any(git.kind(parent) != "commit" for parent in body.get("parents", ())):
        raise invalid("Commit", "custom", "Parent SHA does not exist or is not a commit object")
    bot = (request.login, f"{request.login}@users.noreply.example.invalid", WHEN)

    def person(given: Mapping[str, str] | None) -> tuple[str, str, str]:
        return (given["name"], given["email"], given.get("date", WHEN)) if given else bot

    author = person(body.get("author"))
    committer = person(body["committer"]) if body.get("committer") else author
    parents = body.get("parents", ())
    sha = git.save_commit(body["message"], body["tree"], parents, author, committer)
    return Answer(201, request.world.commit(git.commit(sha)))


@handles("git/get-tree")
def _get_tree(request: Request) -> Answer:
    world, sha = request.world, request.parameters["tree_sha"]
    if world.git.kind(sha) == "commit":
        sha = world.git.commit(sha).tree
    _object(request, sha, "tree")
    return Answer(200, _tree(world, sha, recursive="recursive" in request.query))


def _tree(world: World, sha: str, *, recursive: bool = False) -> dict[str, Any]:
    entries = []
    for entry in world.git.entries(sha, recursive=recursive):
        size = {} if entry.size is None else {"size": entry.size}
        shown = {"path": entry.path, "mode": entry.mode, "type": entry.type, "sha": entry.sha}
        entries.append(shown | size | {"url": f"{world.api}/git/{entry.type}s/{entry.sha}"})
    return {
        "sha": sha,
        "url": f"{world.api}/git/trees/{sha}",
        "truncated": False,
        "tree": entries,
    }


@handles("git/create-tree")
def _create_tree(request: Request) -> Answer:
    git = request.world.git
    changes = []
    for entry in request.body["tree"]:
        sha = entry["sha"] if "content" not in entry else git.save_blob(entry["content"].encode())
        if sha is not None and git.kind(sha) is None:
            raise invalid("Tree", "custom", f"tree.sha {sha} is not a valid blob")
        changes.append((entry["mode"], entry["path"], sha))
    base = request.body.get("base_tree")
    if base and git.kind(base) not in {"tree", "commit"}:
        raise Refused(404, "Not Found")
    sha = git.save_tree(base, changes)
    return Answer(201, _tree(request.world, sha))


@handles("git/get-blob")
def _get_blob(request: Request) -> Answer:
    sha = _object(request, request.parameters["file_sha"], "blob")
    return Answer(200, request.world.content(sha))


@handles("git/create-blob")
def _create_blob(request: Request) -> Answer:
    body = request.body
    data = body["content"].encode()
    if body.get("encoding") == "base64":
        data = base64.b64decode(data)
    sha = request.world.git.save_blob(data)
    return Answer(201, {"sha": sha, "url": f"{request.world.api}/git/blobs/{sha}"})


@handles("repos/compare-commits-with-basehead")
def _compare(request: Request) -> Answer:
    world = request.world
    old, dots, new = request.parameters["basehead"].partition("...")
    base, head = (
        end if _SHA.match(end) and world.git.kind(end) == "commit" else world.branch(end)
        for end in (old, new)
    )
    middle = world.git.merge_base(base, head) if dots and base and head else None
    if middle is None:
        raise Refused(404, "Not Found")
    ahead, behind = world.git.log(f"{base}..{head}"), world.git.log(f"{head}..{base}")
    status = ("diverged" if ahead else "behind") if behind else "ahead" if ahead else "identical"
    return Answer(
        200,
        component("commit-comparison")
        | {
            "url": f"{world.api}/compare/{base}...{head}",
            "base_commit": world.listed_commit(base),
            "merge_base_commit": world.listed_commit(middle),
            "status": status,
            "ahead_by": len(ahead),
            "behind_by": len(behind),
            "total_commits": len(ahead),
            "commits": page(request, [world.listed_commit(sha) for sha in ahead]),
            "files": [],
        },
    )


@handles("pulls/list")
def _list_pulls(request: Request) -> Answer:
    world, query = request.world, request.query
    state = query.get("state", "open")

    def wanted(pull: Pull) -> bool:
        label = f"{pull.head_repo.partition('/')[0]}:{pull.head}"
        return (
            state in {"all", pull.state}
            and query.get("head", label) == label
            and query.get("base", pull.base) == pull.base
        )

    found = [pull for pull in reversed(world.pulls.values()) if wanted(pull)]
    return Answer(200, [world.pull(p, "pull-request-simple") for p in page(request, found)])


@handles("pulls/create")
def _create_pull(request: Request) -> Answer:
    world, body = request.world, request.body
    if not world.may_open_pulls and request.login == BOT:
        raise Refused(403, "GitHub Actions is not permitted to create or approve pull requests.")
    if body.get("draft") and not world.drafts:
        raise Refused(422, "Draft pull requests are not supported in this repository.")
    head = body["head"].rpartition(":")[2]
    sha, base = world.branch(head), world.branch(body["base"])
    if sha is None or base is None:
        raise invalid("PullRequest", "invalid", field="head" if sha is None else "base")
    if len(body.get("body", "")) > _BODY_LIMIT:
        raise invalid("Issue", "custom", "body is too long (maximum is 65536 characters)", "body")
    if world.git.is_ancestor(sha, base):
        message = f"No commits between {body['base']} and {head}"
        raise invalid("PullRequest", "custom", message)
    if any(p.head == head and p.base == body["base"] and p.state == "open" for p in
           world.pulls.values() if p.head_repo == world.name):  # fmt: skip
        owner = world.name.partition("/")[0]
        message = f"A pull request already exists for {owner}:{head}."
        raise invalid("PullRequest", "custom", message)
    pull = world.add_pull(
        title=body["title"],
        body=body.get("body", ""),
        head=head,
        base=body["base"],
        user=request.login,
        head_repo=world.name,
        head_sha=sha,
        draft=body.get("draft", False),
    )
    return Answer(201, world.pull(pull))


def pull_of(request: Request) -> Pull:
    number = request.parameters["pull_number"]
    pull = request.world.pulls.get(int(number)) if number.isdigit() else None
    if pull is None:
        raise Refused(404, "Not Found")
    return pull


@handles("pulls/get")
def _get_pull(request: Request) -> Answer:
    return Answer(200, request.world.pull(pull_of(request)))


@handles("pulls/update")
def _update_pull(request: Request) -> Answer:
    pull = pull_of(request)
    if len(request.body.get("body", "")) > _BODY_LIMIT:
        raise invalid("Issue", "custom", "body is too long (maximum is 65536 characters)", "body")
    for name in {"title", "body", "state", "base"} & set(request.body):
        setattr(pull, name, request.body[name])
    if "state" in request.body:
        pull.closed_by = request.login if pull.state == "closed" else ""
    return Answer(200, request.world.pull(pull))


def issue(request: Request) -> int:
    number = request.parameters["issue_number"]
    if not number.isdigit() or int(number) not in request.world.pulls:
        raise Refused(404, "Not Found")
    return int(number)


@handles("issues/get")
def _get_issue(request: Request) -> Answer:
    pull = request.world.pulls[issue(request)]
    return Answer(200, request.world.issue(pull))


@handles("issues/list-comments")
def _list_comments(request: Request) -> Answer:
    number = issue(request)
    found = [c for c in request.world.comments.values() if c.issue == number]
    return Answer(200, [request.world.comment(c) for c in page(request, found)])


@handles("issues/create-comment")
def _create_comment(request: Request) -> Answer:
    number, body = issue(request), request.body["body"]
    if len(body) > _BODY_LIMIT:
        raise invalid("IssueComment", "unprocessable", "Body is too long", "body")
    return Answer(
        201, request.world.comment(request.world.add_comment(number, request.login, body))
    )


@handles("issues/update-comment")
def _update_comment(request: Request) -> Answer:
    comment = request.world.comments.get(int(request.parameters["comment_id"]))
    if comment is None:
        raise Refused(404, "Not Found")
    comment.body = request.body["body"]
    return Answer(200, request.world.comment(comment))


@handles("reactions/create-for-issue-comment")
def _react(request: Request) -> Answer:
    number, content = int(request.parameters["comment_id"]), request.body["content"]
    if number not in request.world.comments:
        raise Refused(404, "Not Found")
    key = (number, request.login, content)
    known = key in request.world.reactions
    made = request.world.reactions.setdefault(key, request.world.next_id())
    shown = {"id": made, "content": content, "user": request.world.user(request.login)}
    return Answer(200 if known else 201, component("reaction") | shown)


@handles("actions/get-workflow-run")
def _get_run(request: Request) -> Answer:
    number = request.parameters["run_id"]
    if not number.isdigit() or int(number) not in request.world.runs:
        raise Refused(404, "Not Found")
    return Answer(200, request.world.run(request.world.runs[int(number)]))


@handles("actions/list-workflow-run-artifacts")
def _list_artifacts(request: Request) -> Answer:
    run = request.world.runs.get(int(request.parameters["run_id"]))
    if run is None:
        raise Refused(404, "Not Found")
    found = [
        request.world.artifact(run.id * 1000 + place, name, data)
        for place, (name, data) in enumerate(run.artifacts.items())
        if request.query.get("name", name) == name
    ]
    return Answer(200, {"total_count": len(found), "artifacts": page(request, found)})


@handles("actions/download-artifact")
def _download(request: Request) -> Answer:
    run, place = divmod(int(request.parameters["artifact_id"]), 1000)
    found = request.world.runs.get(run)
    if found is None or place >= len(found.artifacts):
        raise Refused(404, "Not Found")
    # Another host name of the same machine: a client must not carry its token across.
    store = request.world.url.replace("127.0.0.1", "localhost")
    return Answer(302, location=f"{store}/_artifacts/{run}/{place}")


@handles("checks/create")
def _create_check(request: Request) -> Answer:
    number = request.world.next_id()
    request.world.checks[number] = dict(request.body)
    _annotate(request, number)
    return Answer(201, check(request.world, number))


def check(world: World, number: int) -> dict[str, Any]:
    given = world.checks[number]
    shown = component("check-run")
    output = shown["output"] | {
        key: given.get("output", {}).get(key) for key in ("title", "summary", "text")
    }
    known = {
        key: given[key]
        for key in ("name", "head_sha", "status", "conclusion", "external_id")
        if key in given
    }
    output["annotations_count"] = world.annotated.get(number, 0)
    url = f"{world.api}/check-runs/{number}"
    suite = {"id": 1}
    return shown | known | {"id": number, "url": url, "output": output, "check_suite": suite}


@handles("checks/update")
def _update_check(request: Request) -> Answer:
    number = int(request.parameters["check_run_id"])
    if number not in request.world.checks:
        raise Refused(404, "Not Found")
    request.world.checks[number] |= request.body
    _annotate(request, number)
    return Answer(200, check(request.world, number))


def _annotate(request: Request, number: int) -> None:
    added = len(request.body.get("output", {}).get("annotations", ()))
    request.world.annotated[number] = request.world.annotated.get(number, 0) + added


@handles("repos/create-dispatch-event")
def _dispatch(request: Request) -> Answer:
    return Answer(204)
