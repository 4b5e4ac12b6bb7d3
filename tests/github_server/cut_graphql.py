"""Cuts GitHub's GraphQL schema to the types the tests use, as vendored in graphql.json.gz.

`python -m tests.github_server.cut_graphql schema.json` takes the file of @octokit/graphql-schema.
"""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path
from typing import Any

TARGET = Path(__file__).parent / "graphql.json.gz"
TYPES = frozenset({
    "Query", "Mutation", "Repository", "GitObject", "Commit", "Blame", "BlameRange", "GitActor",
    "User", "PullRequest", "ConvertPullRequestToDraftInput", "ConvertPullRequestToDraftPayload",
    "MarkPullRequestReadyForReviewInput", "MarkPullRequestReadyForReviewPayload",
})  # fmt: skip
ROOTS = {
    "Query": {"repository", "viewer"},
    "Mutation": {"convertPullRequestToDraft", "markPullRequestReadyForReview"},
}


def written(kind: Any) -> str:
    """A type as GraphQL writes it: `[BlameRange!]!`."""
    if kind["kind"] == "NON_NULL":
        return f"{written(kind['ofType'])}!"
    return f"[{written(kind['ofType'])}]" if kind["kind"] == "LIST" else kind["name"]


def cut(whole: Any) -> dict[str, Any]:
    """Per type its fields, each with its type and the types of its arguments."""
    found: dict[str, Any] = {}
    for kind in whole["__schema"]["types"]:
        if (name := kind["name"]) not in TYPES:
            continue
        fields = kind["fields"] or kind["inputFields"]
        found[name] = {
            field["name"]: {
                "type": written(field["type"]),
                "args": {a["name"]: written(a["type"]) for a in field.get("args", ())},
            }
            for field in fields
            if name not in ROOTS or field["name"] in ROOTS[name]
        }
    assert found.keys() == TYPES, TYPES - found.keys()
    return found


if __name__ == "__main__":
    text = json.dumps(cut(json.loads(Path(sys.argv[1]).read_text())), sort_keys=True)
    TARGET.write_bytes(gzip.compress(text.encode(), mtime=0))
    print(f"{TARGET.name}: {TARGET.stat().st_size} bytes, {len(text)} unpacked")
