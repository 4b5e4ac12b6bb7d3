"""heal-bot on one of our own tasks, as a program would call it, and the judgement of the result."""

from __future__ import annotations

import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks import _releases
from benchmarks._tasks import Task, commit, judged
from heal_bot import api, wiring
from heal_bot.core import settings
from heal_bot.core.errors import HealBotError
from heal_bot.ports import Proposer
from heal_bot.wiring.proposers import CustomProposers


@dataclass(frozen=True, slots=True)
class Healed:
    """One repair of one task: green on the tests it saw, correct on those it never saw.

    With `suggested` it is no more than a suggestion.
    """

    task: str
    fixed: bool = False
    correct: bool = False
    calls: int = 0
    seconds: float = 0.0
    candidates: int = 0
    family: str = ""
    change: str = ""
    problem: str = ""
    suggested: bool = False


def suite_python() -> Path:
    """The interpreter of the tasks' tests: an environment with pytest alone."""
    return _releases.environment("tasks", "pytest==9.2.0")


def ours(
    task: Task, python: Path, proposers: Sequence[Proposer] = (), minutes: float = 5
) -> Healed:
    """The whole of heal-bot; offline, with the rules alone, unless proposers are given."""
    chosen = settings.load({}, None, {"proposers": ("rules",), "max_minutes": minutes})
    own = CustomProposers(proposers=tuple(proposers), alone=bool(proposers))
    with tempfile.TemporaryDirectory(prefix="heal-bot-task-") as folder:
        repo = Path(folder) / "repo"
        commit(task, repo)
        job = wiring.HealJob(repo, Path(folder) / "out", python=python)
        began = time.monotonic()
        try:
            record = api.heal(job, chosen, own=own)
        except HealBotError as error:
            return Healed(task.name, problem=f"{type(error).__name__}: {error}")
        seconds = round(time.monotonic() - began, 1)
        tried = sum(search.tried for search in record.searches)
        found = record.patch or record.suggestion
        if found is None:
            return Healed(task.name, False, False, 0, seconds, tried, problem=record.reason)
        applied(repo, found.diff)
        green, correct = judged(task, (repo / task.path).read_text(encoding="utf-8"))
    won = [a for a in record.attempts if a.verdict in {"fixed", "improved"}]
    return Healed(
        task.name, green, correct, 0, seconds, tried,
        family=won[-1].proposer if won else "", change=found.diff,
        problem="" if record.patch else record.reason, suggested=record.patch is None,
    )  # fmt: skip


def applied(repo: Path, diff: str) -> None:
    """Put a diff of a bundle on the working tree that it is for."""
    argv = ["git", "-C", str(repo), "apply", "-"]
    subprocess.run(argv, input=diff.encode(), check=True, timeout=60)
