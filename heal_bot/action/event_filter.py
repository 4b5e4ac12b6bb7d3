"""The first look at an event: what asks for nothing ends here, before anything slow is loaded."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from heal_bot.action import event_file, secret_vault
from heal_bot.core.text import for_log
from heal_bot.github import actions_runner


def passed(environ: Mapping[str, str], path: Path) -> bool:
    """Whether the event may ask for something; the runner is told of one that does not."""
    reason = event_file.idle(environ.get("GITHUB_EVENT_NAME", ""), path)
    if not reason:
        return True
    sys.stdout.write(for_log(f"nothing to do: {reason}") + "\n")
    actions_runner.tell(environ, {"status": "nothing_to_do"}, reason)
    return False


def opened() -> bool:
    """Whether the container's entry goes on, in a process whose environment holds no secret.

    A process that was started with secrets replaces itself here, and begins anew.
    """
    environ = secret_vault.environment()
    if not secret_vault.begun(environ) and not passed(environ, event_file.named(environ)):
        return False
    if not secret_vault.begun(environ):
        secret_vault.sealed(environ)
    return True
