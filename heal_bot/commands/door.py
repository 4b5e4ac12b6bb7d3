"""The first look at an event: what asks for nothing ends here, before anything slow is loaded."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from heal_bot.commands import seal
from heal_bot.forge import actions
from heal_bot.intake import envelope
from heal_bot.text import for_log


def passed(environ: Mapping[str, str], path: Path) -> bool:
    """Whether the event may ask for something; the runner is told of one that does not."""
    reason = envelope.idle(environ.get("GITHUB_EVENT_NAME", ""), path)
    if not reason:
        return True
    sys.stdout.write(for_log(f"nothing to do: {reason}") + "\n")
    actions.tell(environ, {"status": "nothing_to_do"}, reason)
    return False


def opened() -> bool:
    """Whether the container's entry goes on, in a process whose environment holds no secret.

    A process that was started with secrets replaces itself here, and begins anew.
    """
    environ = seal.environment()
    if not seal.begun(environ) and not passed(environ, envelope.named(environ)):
        return False
    if not seal.begun(environ):
        seal.sealed(environ)
    return True
