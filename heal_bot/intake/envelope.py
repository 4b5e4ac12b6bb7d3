"""The event file as the runner leaves it, and whether there is anything in it for us at all."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from heal_bot.errors import UsageError
from heal_bot.intake import command
from heal_bot.text import one_line

_MAX_BYTES = 8 << 20
# The events that are a person's words, and the part of the payload that holds them.
_SPOKEN = {
    "issue_comment": "comment",
    "pull_request_review_comment": "comment",
    "pull_request_review": "review",
}


def named(environ: Mapping[str, str]) -> Path:
    """The event file that the runner names."""
    return Path(environ.get("GITHUB_EVENT_PATH") or "/nonexistent")


def load(path: Path) -> dict[str, Any]:
    """The payload in the runner's event file; UsageError when it is none."""
    try:
        with path.open("rb") as file:
            data = file.read(_MAX_BYTES + 1)
        loaded = json.loads(data) if len(data) <= _MAX_BYTES else None
    except OSError as error:
        raise UsageError(f"cannot read the event {path}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise UsageError(f"the event {path} is not JSON: {one_line(str(error))}") from error
    if not isinstance(loaded, dict):
        raise UsageError(f"the event {path} is no JSON object of at most {_MAX_BYTES} bytes")
    return loaded


def for_nobody(name: str, path: Path) -> bool:
    """Whether the event is a comment without any command of ours.

    Only what is certain: a file or a payload of another form is judged where it is read.
    """
    if name not in _SPOKEN:
        return False
    try:
        said = load(path).get(_SPOKEN[name])
    except UsageError:
        return False
    if not isinstance(said, dict) or "body" not in said:
        return False
    body = said["body"]
    return body is None or (isinstance(body, str) and command.parse(body) is None)
