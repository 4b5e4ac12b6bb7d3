"""The other side: self-heal-llm in a process of its own environment, and what an import loads."""

from __future__ import annotations

import json
import statistics
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks._cases import read_cases
from benchmarks._healing import Healed
from benchmarks._tasks import Task, commit, judged

VERSION = "0.5.0"
_ROOT = Path(__file__).parent.parent
_SECONDS = 90
_ROUNDS = 5
_LOADS: str = read_cases("texts")["loads"]


def loads(python: Path, name: str) -> dict[str, Any]:
    """What importing a module costs a fresh process: modules, packages of others, milliseconds."""
    found = []
    for _ in range(_ROUNDS):
        argv = [str(python), "-c", _LOADS.format(name=name)]
        done = subprocess.run(
            argv, cwd=_ROOT, capture_output=True, text=True, timeout=60, check=True
        )
        found.append(json.loads(done.stdout))
    return {
        "modules": found[-1][0],
        "packages": found[-1][1],
        "milliseconds": round(statistics.median(one[2] for one in found)),
    }


def theirs(
    task: Task,
    python: Path,
    answers: Sequence[str] | None,
    way: str = "library",
    safety: str = "off",
) -> tuple[Healed, list[str]]:
    """One repair by self-heal-llm, and the prompts it sent; without answers it has no model."""
    with tempfile.TemporaryDirectory(prefix="self-heal-") as folder:
        repo = Path(folder) / "repo"
        commit(task, repo)
        job, result = Path(folder) / "job.json", Path(folder) / "result.json"
        asked = {"way": way, "safety": safety, "answers": None if answers is None else [*answers]}
        job.write_text(json.dumps(_given(task, repo) | asked))
        argv = [str(python), "-m", "benchmarks._peers_worker", str(job), str(result)]
        try:
            subprocess.run(argv, cwd=_ROOT, capture_output=True, timeout=_SECONDS, check=False)
        except subprocess.TimeoutExpired:
            return Healed(task.name, problem=f"no end within {_SECONDS} s", seconds=_SECONDS), []
        if not result.is_file():
            return Healed(task.name, problem="the process ended without a result"), []
        said = json.loads(result.read_text())
    patched = said.get("module") or f"{task.module}\n\n{said.get('source', '')}{_bound(task)}"
    ended = said["succeeded"] and (said.get("module") or said.get("source"))
    fixed, correct = judged(task, patched) if ended else (False, False)
    healed = Healed(
        task.name, fixed, correct, said["calls"], said["seconds"], problem=said["problem"][:300]
    )  # fmt: skip
    return healed, said["prompts"]


def _given(task: Task, repo: Path) -> dict[str, Any]:
    return {
        "repo": str(repo),
        "name": task.name,
        "target": task.target,
        "search": task.search,
        "reference": task.reference,
    }


def _bound(task: Task) -> str:
    """What puts a function at the end of a module into the class that it is of."""
    owner, _, name = task.target.rpartition(".")
    return f"\n{owner}.{name} = {name}\n" if owner else ""
