"""The first look at an event: what asks for nothing ends here, before anything slow is loaded."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from heal_bot.action import event_file, secret_vault
from heal_bot.core.text import for_log
from heal_bot.github import actions_runner


def passes_filter(environ: Mapping[str, str], path: Path) -> bool:
    """Whether the event may ask for something; the runner is told of one that does not."""
    reason = event_file.explain_idle(environ.get("GITHUB_EVENT_NAME", ""), path)
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
        environ, event_file.find_event_file(environ)
    ):
        return False
    if not secret_vault.receives_secrets(environ):
        secret_vault.seal_process(environ)
    return True
