"""The shop healed by one job, and by the jobs of a plan whose bundles are merged."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks._repositories import commit_files

SHOP = Path(__file__).resolve().parent.parent / "examples" / "shop"
_REPORT = ("-B", "-m", "pytest", "-q", "-p", "no:cacheprovider", "--junitxml=../report.xml")


def measure(shards: int = 4) -> dict[str, Any]:
    """Clusters of the one job, number of jobs, and their wall time over that of the one.

    The jobs run one after the other here and side by side on GitHub: the slowest counts, with plan
    and merge around it. `equal` says that both fix the same tests.
    """
    with tempfile.TemporaryDirectory(prefix="heal-bot-shards-") as name:
        folder = Path(name)
        shutil.copytree(SHOP, folder / "shop", ignore=shutil.ignore_patterns("__pycache__", ".*"))
        commit_files(folder / "shop", "First")
        subprocess.run([sys.executable, *_REPORT], cwd=folder / "shop", capture_output=True)
        shared = ("--repo", "shop", "--python", sys.executable, "--quiet")
        heal = ("heal", *shared, "--proposers", "rules")
        alone, _ = _timed(folder, *heal, "--junit", "report.xml", "--out", "one")
        planning, matrix = _timed(folder, "plan", "--repo", "shop", "--junit", "report.xml",
                                  "--shards", str(shards), "--out", "plan")  # fmt: skip
        jobs = json.loads(matrix)["shard"]
        taken = [
            _timed(folder, *heal, "--request", f"plan/shard-{n}.json", "--out", f"shards/{n}")[0]
            for n in jobs
        ]
        merging, _ = _timed(folder, "merge", *shared, "--below", "shards", "--out", "merged")
        one, merged = (_outcome(folder / part) for part in ("one", "merged"))
    return {
        "clusters": len(one["clusters"]),
        "jobs": len(jobs),
        "wall_ratio_vs_one": round((planning + max(taken) + merging) / alone, 2),
        "seconds": {"one": round(alone, 1), "slowest_job": round(max(taken), 1),
                    "plan": round(planning, 1), "merge": round(merging, 1)},
        "equal": set(one["patch"]["fixed"]) == set(merged["patch"]["fixed"]),
    }  # fmt: skip


def _timed(folder: Path, *arguments: str) -> tuple[float, str]:
    begin = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-I", "-m", "heal_bot", *arguments], cwd=folder,
        env={"PATH": "/usr/bin:/bin"}, capture_output=True, text=True, timeout=1800,
    )  # fmt: skip
    if done.returncode != 0:
        raise RuntimeError(f"{arguments[0]}: {done.stderr[-500:]}")
    return time.monotonic() - begin, done.stdout


def _outcome(folder: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((folder / "outcome.json").read_text())
    return loaded
