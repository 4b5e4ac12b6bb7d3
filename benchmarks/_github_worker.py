"""The whole action as a process: healing gives the record in the file that is named."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from heal_bot.action.action_context import ActionContext
from heal_bot.action.dispatch import serve
from heal_bot.action.worker_process import Task
from heal_bot.core.errors import HealBotError
from heal_bot.core.outcome import OutcomeRecord
from tests.github_server import records


def main(prepared: Path) -> int:
    """Serve the event of the environment; 1 when that fails as expected failures do."""
    values = json.loads(prepared.read_text())

    def heal(job: ActionContext, task: Task) -> OutcomeRecord:
        sha = task.request.base_sha
        values["patch"]["base_sha"] = values["certificate"]["base_sha"] = sha
        values["request"]["base_sha"] = sha
        return records.record(values)

    environ = dict(os.environ)
    try:
        serve(
            ActionContext.of(environ),
            environ["GITHUB_EVENT_NAME"],
            Path(environ["GITHUB_EVENT_PATH"]),
            heal,
        )
    except HealBotError as error:
        print(f"failed: {error}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
