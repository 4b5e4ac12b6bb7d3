"""What a runner's environment says and a laptop's lacks, read off the payload of the event."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# The first whose keys are all in a payload is the event's name: the order matters.
_KEYS = (
    ("workflow_run", {"workflow_run"}),
    ("repository_dispatch", {"client_payload"}),
    ("pull_request_review_comment", {"comment", "pull_request"}),
    ("issue_comment", {"comment", "issue"}),
    ("commit_comment", {"comment", "repository"}),
    ("pull_request_review", {"review", "pull_request"}),
    ("pull_request", {"pull_request"}),
    ("workflow_dispatch", {"inputs"}),
    ("schedule", {"schedule"}),
    ("push", {"after", "ref"}),
)


def complete_environment(environ: Mapping[str, str], payload: Mapping[str, Any]) -> dict[str, str]:
    """The environment with name, repository, commit and branch of the event where it has none."""
    repository, pull = _part(payload, "repository"), _part(payload, "pull_request")
    name = next((name for name, keys in _KEYS if keys <= payload.keys()), "")
    ref = _text(payload, "ref").removeprefix("refs/heads/")
    known = {
        "GITHUB_EVENT_NAME": name,
        "GITHUB_REPOSITORY": _text(repository, "full_name"),
        "GITHUB_SHA": _text(payload, "after") or _text(_part(pull, "head"), "sha"),
        "GITHUB_REF_NAME": ref or _text(repository, "default_branch"),
    }
    told = {name: value for name, value in environ.items() if value or name not in known}
    return {**{name: value for name, value in known.items() if value}, **told}


def find_default_branch(payload: Mapping[str, Any]) -> str:
    """The default branch as the event names it; '' where it does not."""
    return _text(_part(payload, "repository"), "default_branch")


def _part(payload: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = payload.get(name)
    return found if isinstance(found, dict) else {}


def _text(payload: Mapping[str, Any], name: str) -> str:
    found = payload.get(name)
    return found if isinstance(found, str) else ""
