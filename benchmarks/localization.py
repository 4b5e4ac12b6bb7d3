"""Plants seeded mutants in released libraries and asks which function is guilty.

Each library's own suite runs on each mutant under heal-bot's tracer, outside the sandbox (the code
is a pinned release). A mutant counts when a test fails. Beside the ranking stand, on the same
runs, the innermost traceback frame, plain Ochiai and DStar; ties count as expected hits. Pairs of
mutants of one library, planted together, measure the clusters.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import statistics
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks import real_project
from benchmarks._mutants import Mutant, mutants
from heal_bot.events import Run
from heal_bot.locate import clues, ranking, spectrum
from heal_bot.locate.observed import Observed, key, observe
from heal_bot.locate.places import Places
from heal_bot.model import (
    Baseline,
    CaseResult,
    Failure,
    Frame,
    Isolation,
    Origin,
    Reproduced,
    Spectrum,
    SuiteRun,
)

HERE = Path(__file__).parent
BUILD = HERE.parent / "build" / "localization"
INSIDE = HERE.parent / "heal_bot" / "sandbox" / "inside"


@dataclass(frozen=True)
class Folder:
    """A folder as a tree."""

    root: Path
    sha: str = "0" * 40
    tree_sha: str = "0" * 40

    def paths(self) -> tuple[str, ...]:
        found = (p.relative_to(self.root).as_posix() for p in self.root.rglob("*") if p.is_file())
        return tuple(sorted(found))

    def read(self, path: str) -> bytes:
        return (self.root / path).read_bytes()

    def blob(self, path: str) -> str:
        return "0" * 40

    def changed_lines(self) -> dict[str, frozenset[int]]:
        return {}


def observed(python: Path, folder: Path, traced: bool = True) -> tuple[Baseline | None, float]:
    """The suite's results with executions, and its seconds; None when it did not finish."""
    report = folder / "observed.json"
    report.unlink(missing_ok=True)
    argv = [str(python), "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", "pyproject.toml"]
    argv += ["-p", "_observer"]
    env = {"PYTHONPATH": f"src:.:{HERE}:{INSIDE}", "PYTHONDONTWRITEBYTECODE": "1"}
    env |= {"OBSERVED": str(report), "TRACED": "1" if traced else "", "PYTHONHASHSEED": "0"}
    start = time.perf_counter()
    try:
        real_project.call(argv, folder, seconds=90, **env)
    except subprocess.TimeoutExpired:
        return None, 90.0
    seconds = time.perf_counter() - start
    if not report.is_file():
        return None, seconds
    return _baseline(json.loads(report.read_text(encoding="utf-8"))), seconds


def _baseline(data: dict) -> Baseline:
    results, failures = [], []
    for test, outcome, said in data["results"]:
        results.append(CaseResult(test, outcome))
        if outcome == "failed":
            frames = tuple(Frame(p, n, f, Origin.PROJECT) for p, n, f in said["f"])
            failures.append(Reproduced(Failure(test, said["k"], said["m"], frames), "confirmed"))
    lines = tuple((path, line) for path, line in data["lines"])
    hits = {test: int(bits or "0", 16) for test, bits in data["hits"]}
    suite = SuiteRun(
        tuple(results),
        tuple(test for test, _, _ in data["results"]),
        "finished",
        0.0,
        Isolation("none", ()),
        spectrum=Spectrum(lines, hits),
    )
    return Baseline(tuple(failures), suite, 1)


def expected(scores: Iterable[tuple[float, bool]], top: int) -> float:
    """The chance that the guilty one is among the first `top` when ties are drawn."""
    ordered = sorted(scores, key=lambda one: -one[0])
    for score, guilty in ordered:
        if guilty:
            above = sum(other > score for other, _ in ordered)
            tied = sum(other == score for other, _ in ordered)
            return max(0.0, min(1.0, (top - above) / tied))
    return 0.0


def judged(baseline: Baseline, folder: Path, mutant: Mutant) -> dict[str, list[float]]:
    """Top 1, 3 and 5 hits per technique."""
    tree = Folder(folder)
    clusters = ranking.locate(Run(lambda event: None), baseline, tree)
    places = Places(tree, baseline.suite.collected)
    seen = observe(baseline, baseline.confirmed, places)
    guilty = (mutant.path, mutant.qualname)
    ours = [
        (s.score - number * 1e-9, (s.target.path, s.target.qualname) == guilty)
        for number, s in enumerate(clusters[0].suspects)
    ]
    frames: defaultdict[tuple[str, str], float] = defaultdict(float)
    for failure in baseline.confirmed:
        for target, weight in clues.raised(failure, places):
            frames[target.path, target.qualname] += weight == 1.0
    lists = {
        "ours": ours,
        "traceback": [(score, one == guilty) for one, score in frames.items() if score],
        "ochiai": _plain(seen, spectrum.ochiai, guilty),
        "dstar": _plain(seen, spectrum.dstar, guilty),
    }
    return {name: [expected(scores, top) for top in (1, 3, 5)] for name, scores in lists.items()}


def _plain(
    seen: Observed, formula: Callable[[int, int, int], float], guilty: tuple[str, str]
) -> list[tuple[float, bool]]:
    failed = spectrum.counts(seen.hits.values(), len(seen.locations))
    best: dict = {}
    for at, target in seen.owners.items():
        score = formula(len(seen.hits), failed[at], seen.passed[at])
        best[key(target)] = max(best.get(key(target), 0.0), score)
    return [(score, (one[0], one[1]) == guilty) for one, score in best.items()]


def library(
    project: real_project.Project, count: int, pairs: int, seed: int
) -> Iterator[tuple[str, object]]:
    """Everything measured on one library, as ("overhead" | "mutant" | "cluster", value)."""
    release, python = real_project.sdist(project), real_project.environment(project)
    work = BUILD / project.name
    shutil.rmtree(work, ignore_errors=True)
    shutil.copytree(release, work)
    whole, traced = observed(python, work)
    _, plain = observed(python, work, traced=False)
    if whole is None or whole.confirmed:
        raise real_project.Failed(f"the suite of {project.name} is red as released")
    yield "overhead", traced / plain
    killed: list[tuple[Mutant, frozenset[str]]] = []
    for mutant in mutants(Folder(work), seed):
        if len(killed) >= count:
            break
        original = (work / mutant.path).read_text(encoding="utf-8")
        (work / mutant.path).write_text(mutant.text, encoding="utf-8")
        baseline, _ = observed(python, work)
        if baseline is not None and baseline.confirmed:
            killed.append((mutant, frozenset(f.test for f in baseline.confirmed)))
            crash = any(
                clues.site(f, Places(Folder(work), baseline.suite.collected))
                for f in baseline.confirmed
            )
            yield "mutant", (mutant, crash, len(baseline.confirmed), judged(baseline, work, mutant))
        (work / mutant.path).write_text(original, encoding="utf-8")
    yield from _paired(python, work, killed, pairs, seed)


def _paired(
    python: Path,
    work: Path,
    killed: Sequence[tuple[Mutant, frozenset[str]]],
    pairs: int,
    seed: int,
) -> Iterator[tuple[str, object]]:
    """Two mutants at a time: are there two clusters, each with the tests of one mutant?"""
    rng = random.Random(seed)
    choices = [
        (one, other)
        for one in killed
        for other in killed
        if one[0].path < other[0].path or (one[0].path == other[0].path and one[0].fits(other[0]))
    ]
    for one, other in rng.sample(choices, min(pairs, len(choices))):
        original = {m.path: (work / m.path).read_text(encoding="utf-8") for m in (one[0], other[0])}
        for mutant in sorted((one[0], other[0]), key=lambda m: -m.first_line):
            mutant.apply(work)
        baseline, _ = observed(python, work)
        if baseline is not None and baseline.confirmed:
            found = ranking.locate(Run(lambda event: None), baseline, Folder(work))
            red = {f.test for f in baseline.confirmed}
            wanted = {frozenset(tests & red) for _, tests in (one, other)} - {frozenset()}
            got = {frozenset(f.test for f in cluster.failures) for cluster in found}
            yield "cluster", (one[0].name, other[0].name, wanted == got, len(wanted), len(got))
        for path, text in original.items():
            (work / path).write_text(text, encoding="utf-8")


def main(argv: list[str]) -> int:
    """Run the benchmark; the last line is one JSON object."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks localization")
    parser.add_argument("--json", action="store_true", help="print the last line alone")
    parser.add_argument("--full", action="store_true", help="60 mutants and 20 pairs a library")
    parser.add_argument("--mutants", type=int, default=8, help="per library")
    parser.add_argument("--pairs", type=int, default=3, help="per library")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=int, default=1_100, help="end early, incomplete")
    options = parser.parse_args(argv)
    count, pairs = (60, 20) if options.full else (options.mutants, options.pairs)
    start = time.monotonic()
    ratios: list[float] = []
    rows: list[tuple[Mutant, bool, int, dict[str, list[float]]]] = []
    cases: list[bool] = []
    problems: list[str] = []
    for project in real_project.PROJECTS:
        try:
            for kind, value in library(project, count, pairs, options.seed):
                if kind == "overhead":
                    ratios.append(value)
                elif kind == "mutant":
                    rows.append(value)
                else:
                    cases.append(value[2])
                if not options.json:
                    print(project.name, kind, _short(value), flush=True)
                if not options.full and time.monotonic() - start > options.seconds:
                    raise real_project.Failed(f"ended after {options.seconds} seconds")
        except (real_project.Failed, OSError, subprocess.TimeoutExpired) as error:
            problems.append(f"{project.name}: {type(error).__name__}: {error}")
    summary = _summary(rows, ratios, cases)
    summary |= {"seconds": round(time.monotonic() - start, 1), "complete": not problems}
    print(json.dumps(summary | {"problems": problems}))
    return 0 if not problems else 1


def _short(value: object) -> object:
    if isinstance(value, tuple) and isinstance(value[0], Mutant):
        return value[0].name, "crash" if value[1] else "assertion", value[2], value[3]
    return value


def _summary(rows: Sequence, ratios: Sequence[float], cases: Sequence[bool]) -> dict:
    def share(technique: str, at: int, chosen: Sequence) -> float | None:
        hits = [row[3][technique][at] for row in chosen]
        return round(statistics.mean(hits), 3) if hits else None

    old = sys.version_info < (3, 12)
    ratio = round(statistics.median(ratios), 2) if ratios else None
    return {
        "mutants": len(rows),
        "top1": share("ours", 0, rows),
        "top3": share("ours", 1, rows),
        "top5": share("ours", 2, rows),
        "assertion_top1": share("ours", 0, [row for row in rows if not row[1]]),
        "crash_top1": share("ours", 0, [row for row in rows if row[1]]),
        "overhead_ratio": None if old else ratio,
        "overhead_ratio_old": ratio if old else None,
        "baselines": {
            name: {f"top{top}": share(name, at, rows) for at, top in enumerate((1, 3, 5))}
            for name in ("traceback", "ochiai", "dstar")
        },
        "clusters": {"cases": len(cases), "exact": sum(cases)},
    }
