"""A general agent, mini-swe-agent, on a recipe: its shell in the red job's checkout, then judged.

It runs as its command line does with its own templates for models that answer in plain text, no
sandbox around it. What it leaves of the project's source is the change; workspace and environment
are put back before that is judged.
"""

from __future__ import annotations

import filecmp
import json
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from benchmarks._cases import read_cases
from benchmarks.street import case, plain
from benchmarks.street.figures import Row
from benchmarks.street.history import is_source, is_test
from benchmarks.street.recipes import Recipe
from benchmarks.street.staged import Stage, record, staged
from heal_bot.core import process
from heal_bot.source import edit

NAME = "mini-swe-agent-2.4.6"
STEPS = 30
_PIN = "mini-swe-agent==2.4.6"
_TESTS, _MESSAGE = 20, 600
# What is past its own limit of time: one answer of the model, or one command.
_GRACE = 120
# What git takes for no limit, also where the history is there.
_ALL = 2**31 - 1
_CAP = 64 << 20
_ASIDE = {".git", ".heal-bot", ".pytest_cache", "__pycache__"}
# How a run ends that is the agent's own doing; else the endpoint failed it.
_ENDS = {"Submitted", "LimitsExceeded", "TimeExceeded", "RepeatedFormatError",
         "ContextWindowExceededError"}  # fmt: skip
_TASK: str = read_cases("texts")["agent_task"]


class EndpointError(Exception):
    """The model's endpoint failed a run, which therefore has no row."""


@dataclass(frozen=True, slots=True)
class Agent:
    """The installed program, the model's endpoint, and its minutes for a case."""

    program: Path
    url: str
    minutes: int

    def command(self, task: str, trajectory: Path) -> list[str]:
        """The command line with a task; its own limits end it, and no cost is known."""
        settings = (
            "model.model_class=litellm_textbased", "model.cost_tracking=ignore_errors",
            f"model.model_kwargs.api_base={self.url}", "model.model_kwargs.api_key=none",
            "model.model_kwargs.timeout=900", "model.model_kwargs.max_retries=0",
            f"agent.step_limit={STEPS}", f"agent.wall_time_limit_seconds={60 * self.minutes}",
        )  # fmt: skip
        configs = [part for one in ("mini_textbased.yaml", *settings) for part in ("--config", one)]
        return [str(self.program), *configs, "--model", "openai/live", "--yolo",
                "--exit-immediately", "--output", str(trajectory), "--task", task]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Told:
    """What a trajectory tells: how it ended, its requests to the model, the tokens of these."""

    status: str = "none"
    calls: int = 0
    input_tokens: int = 0
    error: str = ""


@dataclass(frozen=True, slots=True)
class Change:
    """The source files that are not as they were, and whether tests are not."""

    sources: Mapping[str, str]
    tests_changed: bool


def installed(data: Path) -> Path:
    """The agent's program in an environment of its own, made once."""
    folder = data / "agents" / NAME
    ready = folder / "ready"
    if not ready.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        plain.create(folder, sys.executable, data)
        plain.install(data, folder, data, _PIN)
        ready.touch()
    return folder / "bin/mini"


def run(recipe: Recipe, data: Path, agent: Agent, engine: str) -> Row:
    """The row of a case."""
    blank = Row(id=recipe.id, part=recipe.part, split=recipe.split, engine=engine)

    def play(folder: Path) -> Row:
        with staged(recipe, data, folder) as stage:
            workspace, venv = stage.runner.workspace, folder / "venv"
            record(stage, recipe, venv, data)
            failed = plain.failures(workspace / "junit.xml")
            seen = {"red": len(failed), "drifted": len(failed) != len(recipe.red)}
            if seen["drifted"]:
                return blank.model_copy(update={**seen, "status": "none"})
            _deepen(workspace)
            return blank.model_copy(update={
                **seen, **repair(recipe, stage, venv, data, agent, failed)
            })  # fmt: skip

    return case.kept(blank, data, play)


def repair(
    recipe: Recipe, stage: Stage, venv: Path, data: Path, agent: Agent,
    failed: Mapping[tuple[str, str], str],
) -> dict[str, Any]:  # fmt: skip
    """The fields of a row that tell what the agent did."""
    workspace, trajectory = stage.runner.workspace, venv.parent / "trajectory.json"
    with put_back(workspace, venv) as before:
        begin = time.monotonic()
        done = process.run(
            agent.command(task(failed), trajectory), env=_environ(venv, data), cwd=workspace,
            seconds=60 * agent.minutes + _GRACE, cap=_CAP,
        )  # fmt: skip
        seconds = round(time.monotonic() - begin, 1)
        change = changes(before, workspace)
    told = read(trajectory)
    if done.ended == "exited" and told.status not in _ENDS:
        raise EndpointError(told.error or done.complaint())
    fields, why = case.judge(recipe, stage, venv, data, change.sources)
    status = told.status if done.ended == "exited" else done.ended
    if change.sources:
        fields["offered"] = "healed" if status == "Submitted" else "suggested"
    if recipe.split == "tune":
        old = case.texts(stage, change.sources)
        diffs = "".join(edit.diff(path, old[path], new) for path, new in change.sources.items())
        fields["said"] = "\n".join([why, *diffs.splitlines()[:60]])
    return {
        **fields, "status": status, "seconds": seconds, "calls": told.calls,
        "input_tokens": told.input_tokens, "tests_changed": change.tests_changed,
        "ended_badly": done.ended != "exited",
    }  # fmt: skip


def task(failed: Mapping[tuple[str, str], str]) -> str:
    """What the agent is told: the failing tests with their messages, and what to do."""
    tests = [
        f"- {group}::{name}\n  {' '.join(said.split())[:_MESSAGE]}"
        for (group, name), said in islice(failed.items(), _TESTS)
    ]
    if len(failed) > _TESTS:
        tests.append(f"- and {len(failed) - _TESTS} more, see junit.xml")
    return _TASK.format(count=len(failed), tests="\n".join(tests))


def read(trajectory: Path) -> Told:
    """What the agent's own record of a run tells; a run that left none did nothing."""
    try:
        kept = json.loads(trajectory.read_bytes())
    except (OSError, ValueError):
        return Told()
    info, last = kept["info"], (kept["messages"] or [{}])[-1].get("extra", {})
    answers = (message.get("extra", {}).get("response") for message in kept["messages"])
    usages = ((one.get("usage") or {}) for one in answers if isinstance(one, dict))
    return Told(
        info["exit_status"] or "none",
        int(info["model_stats"]["api_calls"]),
        sum(int(usage.get("prompt_tokens") or 0) for usage in usages),
        str(last.get("exception_str", ""))[:300],
    )


def changes(before: Path, after: Path) -> Change:
    """How a project's folder differs; a new file takes part where a changed one names it."""
    old, new = set(_files(before)), set(_files(after))
    same = {path for path in old & new if filecmp.cmp(before / path, after / path, shallow=False)}
    changed = {p: _text(after / p) if p in new else "" for p in old - same if is_source(p)}
    for path in sorted(filter(is_source, new - old)):
        if any(Path(path).stem in text for text in changed.values()):
            changed[path] = _text(after / path)
    return Change(changed, any(is_test(path) for path in old - same))


def _files(folder: Path) -> Iterator[str]:
    """The regular files of a checkout that are no leavings of runs."""
    for path in folder.rglob("*"):
        inside = path.relative_to(folder)
        if not _ASIDE.intersection(inside.parts) and path.is_file() and not path.is_symlink():
            yield inside.as_posix()


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")


@contextmanager
def put_back(workspace: Path, venv: Path) -> Iterator[Path]:
    """A copy of the workspace as it is; both folders are as before when the block ends."""
    saved, used = workspace.parent / "saved", workspace.parent / "used"
    for number, folder in enumerate((workspace, venv)):
        shutil.copytree(folder, saved / str(number), symlinks=True)
    used.mkdir()
    try:
        yield saved / "0"
    finally:
        for number, folder in enumerate((workspace, venv)):
            folder.rename(used / str(number))
            (saved / str(number)).rename(folder)


def _deepen(workspace: Path) -> None:
    """Bring the history up to the red commit, which heal-bot can fetch as well."""
    argv = ["git", "fetch", "--quiet", f"--depth={_ALL}"]
    subprocess.run(argv, cwd=workspace, check=True, capture_output=True, timeout=300)


def _environ(venv: Path, data: Path) -> dict[str, str]:
    """A plain job's variables and what keeps the agent from asking for settings or prices."""
    return {
        **plain.environ(venv, data), "MSWEA_CONFIGURED": "true", "MSWEA_SILENT_STARTUP": "1",
        "MSWEA_GLOBAL_CONFIG_DIR": str(venv.parent / "settings"),
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    }  # fmt: skip
