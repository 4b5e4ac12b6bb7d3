"""Cuts GitHub's OpenAPI description to the operations the tests use.

Usage: npm pack @octokit/openapi@23.0.2, unpack it, then
python -m tests.github_server.cut_openapi package/generated/api.github.com.json
"""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path
from typing import Any

TARGET = Path(__file__).parent / "openapi.json.gz"
OPERATIONS = frozenset(
    [
        "actions/download-artifact",
        "actions/get-workflow-run",
        "actions/list-artifacts-for-repo",
        "actions/list-workflow-run-artifacts",
        "actions/list-workflow-runs",
        "actions/list-workflow-runs-for-repo",
        "checks/list-annotations",
        "checks/create",
        "checks/list-for-ref",
        "checks/update",
        "actions/get-github-actions-default-workflow-permissions-repository",
        "git/create-blob",
        "git/create-commit",
        "git/create-ref",
        "git/create-tree",
        "git/delete-ref",
        "git/get-blob",
        "git/get-commit",
        "git/get-ref",
        "git/get-tree",
        "git/list-matching-refs",
        "git/update-ref",
        "issues/add-assignees",
        "issues/add-labels",
        "issues/create-comment",
        "issues/delete-comment",
        "issues/list-comments",
        "issues/update-comment",
        "issues/get",
        "issues/remove-label",
        "issues/update",
        "pulls/create",
        "pulls/create-review",
        "pulls/create-review-comment",
        "pulls/get",
        "pulls/list",
        "pulls/list-commits",
        "pulls/list-files",
        "pulls/list-review-comments",
        "pulls/list-reviews",
        "pulls/request-reviewers",
        "pulls/update",
        "rate-limit/get",
        "reactions/create-for-issue-comment",
        "reactions/create-for-pull-request-review-comment",
        "repos/compare-commits-with-basehead",
        "repos/create-dispatch-event",
        "repos/get",
        "repos/get-collaborator-permission-level",
        "repos/get-branch",
        "repos/get-content",
        "repos/list-commits",
        "users/get-authenticated",
    ]
)
DROPPED = {"description", "example", "examples", "summary", "externalDocs", "x-github", "tags"}


def pruned(node: Any, *, names: bool = False) -> Any:
    """Without prose and examples; a property that bears such a name (`names`) is kept."""
    if isinstance(node, dict):
        return {
            key: pruned(value, names=key in {"properties", "schemas", "responses"} and not names)
            for key, value in node.items()
            if names or key not in DROPPED
        }
    return [pruned(item) for item in node] if isinstance(node, list) else node


def references(node: Any) -> set[str]:
    """All `$ref` values below a node."""
    if isinstance(node, dict):
        own = {node["$ref"]} if isinstance(node.get("$ref"), str) else set()
        return own.union(*(references(value) for value in node.values()))
    return set().union(*(references(item) for item in node)) if isinstance(node, list) else set()


def cut(whole: dict[str, Any]) -> dict[str, Any]:
    """The operations named above, with every component they reach."""
    paths: dict[str, Any] = {}
    for path, methods in whole["paths"].items():
        for method, operation in methods.items():
            if isinstance(operation, dict) and operation.get("operationId") in OPERATIONS:
                paths.setdefault(path, {})[method] = pruned(operation)
    found = {op["operationId"] for methods in paths.values() for op in methods.values()}
    assert found == OPERATIONS, OPERATIONS - found
    components: dict[str, Any] = {}
    todo = references(paths)
    while todo:
        reference = todo.pop()
        _, _, kind, name = reference.split("/", 3)
        if name not in components.setdefault(kind, {}):
            components[kind][name] = pruned(whole["components"][kind][name])
            todo |= references(components[kind][name])
    info = {"title": whole["info"]["title"], "version": whole["info"]["version"]}
    return {"openapi": whole["openapi"], "info": info, "paths": paths, "components": components}


if __name__ == "__main__":
    text = json.dumps(cut(json.loads(Path(sys.argv[1]).read_text())), sort_keys=True)
    TARGET.write_bytes(gzip.compress(text.encode(), mtime=0))
    print(f"{TARGET.name}: {TARGET.stat().st_size} bytes, {len(text)} unpacked")
