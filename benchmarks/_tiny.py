"""A project of one function, healed, beside a plain run of its tests; and what a terminal shows."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks._cases import read_cases
from benchmarks._repositories import commit_files
from tests.cli import shown_run, terminal

_COLUMNS = (40, 80, 200)
_ENVIRONS: tuple[dict[str, str], ...] = ({}, {"NO_COLOR": "1"}, {"TERM": "dumb"}, {"CI": "true"})


def write_project(repo: Path) -> Path:
    """A repository with one function and its tests, two of which fail."""
    return commit_files(repo, "Start", read_cases("projects")["tiny"])


def heal_tiny(turns: int, folder: Path) -> dict[str, Any]:
    """The least seconds that a heal and a plain run take, by turns; the first heal is left out.

    That one copies the environment, which every later run of a machine finds there.
    """
    repo, out = write_project(folder / "tiny"), folder / "out"
    plain = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    heal = [sys.executable, "-I", "-m", "heal_bot", "heal", "--repo", str(repo), "--out", str(out),
            "--python", sys.prefix, "--proposers", "rules", "--quiet"]  # fmt: skip
    best = [float("inf"), float("inf")]
    for turn in range(turns + 1):
        for number, argv in enumerate((plain, heal)):
            seconds = _seconds(argv, repo, code=1 - number)
            if turn:
                best[number] = min(best[number], seconds)
    status = json.loads((out / "outcome.json").read_text())["status"]
    ratio = round(best[1] / best[0], 1)
    return {
        "tiny_plain_seconds": round(best[0], 2), "tiny_heal_seconds": round(best[1], 2),
        "tiny_heal_ratio": ratio if status == "healed" else None,
    }  # fmt: skip


def _seconds(argv: Sequence[str], cwd: Path, *, code: int) -> float:
    """How long a program takes that ends with the code."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("PYTEST", "PYTHON"))}
    began = time.monotonic()
    done = subprocess.run(argv, cwd=cwd, env=env, capture_output=True, text=True, timeout=600)
    if done.returncode != code:
        raise SystemExit(f"{argv[:4]} ended with {done.returncode}: {done.stdout}{done.stderr}")
    return time.monotonic() - began


def show_runs() -> dict[str, int]:
    """In how many terminals a run was shown, and in how many not as the log that it is."""
    argv = terminal.python("tests.cli.shown_run")
    broken = 0
    for columns in _COLUMNS:
        for environ in _ENVIRONS:
            lines = shown_run.lines(redrawn=not environ.keys() & {"TERM", "CI"})
            rows = terminal.run(argv, columns, environ).rows
            broken += rows != terminal.lay_out(lines, columns)
        broken += terminal.run(argv, columns, pipe_stdout=True).rows != []
    return {"terminals": len(_COLUMNS) * (len(_ENVIRONS) + 1), "broken": broken}
