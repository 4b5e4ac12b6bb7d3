"""heal as a process, beside plain runs of the tests: the smallest project, a slow suite, shards."""

from __future__ import annotations

import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks._cases import read_cases
from benchmarks._repositories import commit_files
from tests.cli import shown_run, terminal

SHOP = Path(__file__).resolve().parent.parent / "examples" / "shop"
_COLUMNS = (40, 80, 200)
_ENVIRONS: tuple[dict[str, str], ...] = ({}, {"NO_COLOR": "1"}, {"TERM": "dumb"}, {"CI": "true"})
_PYTEST = ("-m", "pytest", "-q", "-p", "no:cacheprovider")
_RULES = ("--proposers", "rules")
_TESTS = 40


def timed(
    cwd: Path, env: Mapping[str, str], *commands: Sequence[str], code: int | None = None
) -> tuple[float, str]:
    """Seconds until all of the commands, started together, have ended; what the last one prints.

    RuntimeError where one ends with another code than is wanted.
    """
    began = time.monotonic()
    started = [
        subprocess.Popen(argv, cwd=cwd, env=env, text=True, stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE)
        for argv in commands
    ]  # fmt: skip
    said = [one.communicate(timeout=1800) for one in started]
    seconds = time.monotonic() - began
    if code is not None and any(one.returncode != code for one in started):
        raise RuntimeError(f"{commands[0][:5]} did not end with {code}: {''.join(said[0])[-500:]}")
    return seconds, said[-1][0]


def spent() -> float:
    """Seconds of processor time of all our children that ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _outcome(folder: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((folder / "outcome.json").read_text())
    return loaded


def write_project(repo: Path) -> Path:
    """A repository with one function and its tests, two of which fail."""
    return commit_files(repo, "Start", read_cases("projects")["tiny"])


def heal_tiny(turns: int, folder: Path) -> dict[str, Any]:
    """The least seconds that a heal and a plain run take, by turns; the first heal is left out.

    That one copies the environment, which every later run of a machine finds there.
    """
    repo, out = write_project(folder / "tiny"), folder / "out"
    plain = (sys.executable, *_PYTEST)
    heal = (sys.executable, "-I", "-m", "heal_bot", "heal", "--repo", str(repo), "--out", str(out),
            "--python", sys.prefix, *_RULES, "--quiet")  # fmt: skip
    env = {k: v for k, v in os.environ.items() if not k.startswith(("PYTEST", "PYTHON"))}
    best = [float("inf"), float("inf")]
    for turn in range(turns + 1):
        for number, argv in enumerate((plain, heal)):
            seconds, _ = timed(repo, env, argv, code=1 - number)
            if turn:
                best[number] = min(best[number], seconds)
    ratio = round(best[1] / best[0], 1)
    return {
        "tiny_plain_seconds": round(best[0], 2), "tiny_heal_seconds": round(best[1], 2),
        "tiny_heal_ratio": ratio if _outcome(out)["status"] == "healed" else None,
    }  # fmt: skip


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


def compare_slow(python: Path, seconds: float, rounds: int) -> dict[str, Any]:
    """Wall seconds of heal over one plain run and two side by side, the median of `rounds`.

    Half of each test waits and half computes; one function is wrong, and the first candidate
    that is tried of the right kind repairs it.
    """
    with tempfile.TemporaryDirectory(prefix="heal-bot-bench-") as place:
        folder, out, report = Path(place) / "shop", Path(place) / "out", f"{place}/junit.xml"
        _write_slow(folder, seconds)
        pytest = (str(python), *_PYTEST)
        subprocess.run([*pytest, f"--junitxml={report}"], cwd=folder, stdout=subprocess.DEVNULL)
        heal = (sys.executable, "-m", "heal_bot", "heal", "--repo", str(folder), "--junit", report,
                "--python", str(python), *_RULES, "--out", str(out), "--quiet")  # fmt: skip
        # An installed heal-bot has its bytecode; the first heal leaves it, and is not measured.
        installed = {**os.environ, "PYTHONPYCACHEPREFIX": f"{place}/bytecode"}
        installed.pop("PYTHONDONTWRITEBYTECODE", None)
        plain = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
        timed(Path.cwd(), installed, heal)
        rows = []
        for _ in range(rounds):
            one, _ = timed(folder, plain, pytest)
            two, _ = timed(folder, plain, pytest, pytest)
            healed, _ = timed(Path.cwd(), installed, heal)
            rows.append((healed / (one + two), one, two, healed))
        outcome = _outcome(out)
        assert outcome["status"] == "healed", outcome["reason"]
    middle = sorted(rows)[len(rows) // 2]
    return {
        "ratio": round(statistics.median(row[0] for row in rows), 2),
        "plain": round(middle[1], 2), "two_side_by_side": round(middle[2], 2),
        "heal": round(middle[3], 2), "ratios": [round(row[0], 2) for row in rows],
    }  # fmt: skip


def _write_slow(folder: Path, seconds: float) -> None:
    share = seconds / _TESTS / 2
    work = (
        f"    time.sleep({share})\n    began = time.process_time()\n"
        f"    while time.process_time() - began < {share}:\n        assert spread(500) >= 0\n"
    )
    tests = "".join(f"\n\ndef test_work_{n}():\n{work}" for n in range(_TESTS))
    slow = {"tests/test_work.py": f"import time\n\nfrom shop.price import spread\n{tests}"}
    commit_files(folder, "all", read_cases("projects")["wall"] | slow)


def compare_shards(shards: int = 4) -> dict[str, Any]:
    """Clusters of the one job, number of jobs, and their wall time over that of the one.

    The jobs run one after the other here and side by side on GitHub: the slowest counts, with plan
    and merge around it. `equal` says that both fix the same tests.
    """
    with tempfile.TemporaryDirectory(prefix="heal-bot-shards-") as name:
        folder = Path(name)

        def call(*arguments: str) -> tuple[float, str]:
            argv = (sys.executable, "-I", "-m", "heal_bot", *arguments)
            return timed(folder, {"PATH": "/usr/bin:/bin"}, argv, code=0)

        shutil.copytree(SHOP, folder / "shop", ignore=shutil.ignore_patterns("__pycache__", ".*"))
        commit_files(folder / "shop", "First")
        argv = (sys.executable, "-B", *_PYTEST, "--junitxml=../report.xml")
        subprocess.run(argv, cwd=folder / "shop", capture_output=True)
        shared = ("--repo", "shop", "--python", sys.executable, "--quiet")
        heal = ("heal", *shared, *_RULES)
        alone, _ = call(*heal, "--junit", "report.xml", "--out", "one")
        planning, matrix = call("plan", "--repo", "shop", "--junit", "report.xml",
                                "--shards", str(shards), "--out", "plan")  # fmt: skip
        jobs = json.loads(matrix)["shard"]
        taken = [
            call(*heal, "--request", f"plan/shard-{n}.json", "--out", f"shards/{n}")[0]
            for n in jobs
        ]
        merging, _ = call("merge", *shared, "--below", "shards", "--out", "merged")
        one, merged = (_outcome(folder / part) for part in ("one", "merged"))
    return {
        "clusters": len(one["clusters"]),
        "jobs": len(jobs),
        "wall_ratio_vs_one": round((planning + max(taken) + merging) / alone, 2),
        "seconds": {"one": round(alone, 1), "slowest_job": round(max(taken), 1),
                    "plan": round(planning, 1), "merge": round(merging, 1)},
        "equal": set(one["patch"]["fixed"]) == set(merged["patch"]["fixed"]),
    }  # fmt: skip
