"""The event file as the runner leaves it, and whether there is anything in it for us at all.

What asks for nothing ends here, before anything slow is loaded.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from heal_bot.action import comment_command, secret_vault
from heal_bot.core.errors import UsageError
from heal_bot.core.text import for_log, one_line
from heal_bot.github import actions_runner

NOT_SERVED = "pull_request_target runs with write rights on code of others; not served"
_NO_COMMAND = "the comment is no /heal command"
_MAX_BYTES = 8 << 20
# The events that are a person's words, and the part of the payload that holds them.
_SPOKEN = {
    "issue_comment": "comment",
    "commit_comment": "comment",
    "pull_request_review_comment": "comment",
    "pull_request_review": "review",
}


def find_event_file(environ: Mapping[str, str]) -> Path:
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
        raise UsageError(f"the event {path} is not a JSON object of at most {_MAX_BYTES} bytes")
    return loaded


def explain_idle(name: str, path: Path) -> str:
    """Why the event asks for nothing; '' where it may ask for something.

    Only what is certain: a file or a payload of another form is judged where it is read.
    """
    if name == "pull_request_target":
        return NOT_SERVED
    if name not in _SPOKEN and name != "workflow_run":
        return ""
    try:
        given = load(path)
    except UsageError:
        return ""
    if name == "workflow_run":
        run = given.get("workflow_run")
        conclusion = run.get("conclusion") if isinstance(run, dict) else None
        action = given.get("action")
        known = isinstance(action, str) and isinstance(conclusion, str)
        return explain_ended_run(str(action), str(conclusion)) if known else ""
    said = given.get(_SPOKEN[name])
    if not isinstance(said, dict) or "body" not in said:
        return ""
    body = said["body"]
    unasked = body is None or (isinstance(body, str) and comment_command.parse(body) is None)
    return _NO_COMMAND if unasked else ""


def explain_ended_run(action: str, conclusion: str) -> str:
    """Why another workflow's run is neither to be healed nor green; '' where it is."""
    if action == "completed" and conclusion in {"failure", "success"}:
        return ""
    return f"the run ended as {one_line(conclusion or action, 40)}"


def passes_filter(environ: Mapping[str, str], path: Path) -> bool:
    """Whether the event may ask for something; the runner is told of one that does not."""
    reason = explain_idle(environ.get("GITHUB_EVENT_NAME", ""), path)
    if not reason:
        return True
    sys.stdout.write(for_log(f"nothing to do: {reason}") + "\n")
    actions_runner.tell(environ, {"status": "nothing_to_do"}, reason)
    return False


def admits_entry() -> bool:
    """Whether the container's entry goes on, in a process whose environment holds no secret.

    A process that was started with secrets replaces itself here, and begins anew.
    """
    environ = secret_vault.copy_environment()
    if not secret_vault.receives_secrets(environ) and not passes_filter(
        environ, find_event_file(environ)
    ):
        return False
    if not secret_vault.receives_secrets(environ):
        secret_vault.seal_process(environ)
    return True
