"""FauxPy on a sample of the same mutants: another localizer for Python, as its authors ship it."""

from __future__ import annotations

import csv
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from benchmarks import _libraries, _releases
from benchmarks._judged import expected
from benchmarks._libraries import BUILD, Library
from benchmarks._mutants import Mutant, plant
from heal_bot.source import paths

VERSION = "0.7.0"
# Seconds for one suite; it takes 11 to 33 where it ends at all.
LIMIT = 60.0


@dataclass(frozen=True)
class Planted:
    """A mutant of the sample, with what our ranking says of it: the chance of top 1, 3 and 5."""

    library: Library
    mutant: Mutant
    ours: Sequence[float]


def compared(
    rows: Sequence[Planted], sample: int, seed: int, end: float
) -> tuple[dict[str, object], str]:
    """Top 1, 3 and 5 of FauxPy's Ochiai by function, and ours, on mutants that it could rank.

    The text says how many it was not asked for because the time had ended.
    """
    chosen = random.Random(seed).sample(rows, min(sample, len(rows)))
    python = _environment() if chosen else Path()
    with ThreadPoolExecutor(min(2, os.cpu_count() or 1)) as pool:
        answers = list(pool.map(lambda one: _ranked(one, python, end), chosen))
    late = answers.count("late")
    both = [
        (one.ours, hits)
        for one, hits in zip(chosen, answers, strict=True)
        if not isinstance(hits, str)
    ]
    found: dict[str, object] = {
        "sample": len(chosen), "ranked": len(both), "failed": answers.count("failed"),
    }  # fmt: skip
    for at, top in enumerate((1, 3, 5)):
        found[f"top{top}"] = _mean(hits[at] for _, hits in both)
        found[f"ours_top{top}"] = _mean(ours[at] for ours, _ in both)
    return found, f"time ended before FauxPy ran on {late} mutants" if late else ""


def _mean(numbers: Iterable[float]) -> float | None:
    known = list(numbers)
    return round(statistics.mean(known), 3) if known else None


def _environment() -> Path:
    """The interpreter of a virtual environment that holds FauxPy and what the suites need."""
    wanted = (f"fauxpy=={VERSION}", *_libraries.REQUIREMENTS)
    python = str(_libraries.environment(sys.executable))
    return _releases.make_environment(BUILD / f"fauxpy-{VERSION}", wanted, python)


def _ranked(one: Planted, python: Path, end: float) -> Sequence[float] | str:
    """The chance of top 1, 3 and 5; "failed" without a ranking, "late" without the time for it."""
    if time.time() > end - LIMIT:
        return "late"
    with tempfile.TemporaryDirectory(prefix="fauxpy-") as parent:
        folder = Path(parent).resolve() / "library"
        shutil.copytree(one.library.release, folder)
        plant([one.mutant], folder)
        options = "--src . --family sbfl --granularity function --top-n -1 -q --tb=no"
        argv = [str(python), "-m", "pytest", *options.split(), "-p", "no:cacheprovider"]
        env = {"PYTHONPATH": "src:.:tests", "PYTHONHASHSEED": "0"}
        try:
            _releases.call([*argv, *one.library.options], folder, seconds=LIMIT, **env)
        except subprocess.TimeoutExpired:
            return "failed"
        reports = [*Path(parent).glob("FauxPyReport*/Scores_Ochiai.csv")]
        if not reports:
            return "failed"
        with reports[0].open(encoding="utf-8", newline="") as file:
            scores = [
                (float(row["Score"]), _is_guilty(row["Entity"], folder, one.mutant))
                for row in csv.DictReader(file)
                if not paths.is_test(_path(row["Entity"], folder))
            ]
        return [expected(scores, top) for top in (1, 3, 5)] if scores else "failed"


def _path(entity: str, folder: Path) -> str:
    return os.path.relpath(entity.partition("::")[0], folder)


def _is_guilty(entity: str, folder: Path, mutant: Mutant) -> bool:
    """Whether `path::name::first line::last line` is the function with the fault."""
    _, name, first, _ = entity.split("::")
    last = mutant.last_line + mutant.grows
    return (
        _path(entity, folder) == mutant.path
        and name == mutant.qualname.rpartition(".")[2]
        and mutant.first_line <= int(first) <= last
    )
