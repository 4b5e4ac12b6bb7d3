"""Plants seeded mutants in released libraries and asks which function is guilty.

Each library's own suite runs under heal-bot's tracer, outside the sandbox (the code is a pinned
release, and the sandbox adds nothing to what is measured). A mutant counts when a test fails.
Beside the ranking stand, on the same runs, the innermost traceback frame, plain Ochiai and DStar;
ties count as expected hits. Several mutants planted together measure the clusters.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks import _fauxpy, _libraries, _releases
from benchmarks._cases import options_of
from benchmarks._judged import Killed, exact, judged, own
from benchmarks._libraries import LIBRARIES, Library, Recording, record
from benchmarks._mutants import Mutant, mutants, plant
from benchmarks._overhead import overheads, pythons, ranking_speed
from benchmarks._planting import list_executed
from heal_bot.core.events import Run
from heal_bot.fault_localization import ranking
from heal_bot.fault_localization.target_index import Places
from tests.fakes import FolderTree

LARGEST_CASE = 500


@dataclass(frozen=True)
class Case:
    """Several mutants at once: how many causes, failing tests and clusters, and were they right."""

    names: tuple[str, ...]
    tests: int
    clusters: int
    exact: bool


@dataclass
class Measured:
    """Everything seen on one library; `dropped` counts mutants that could not take part."""

    library: str
    killed: list[Killed] = field(default_factory=list)
    cases: list[Case] = field(default_factory=list)
    dropped: int = 0
    survived: int = 0
    problem: str = ""


@dataclass(frozen=True)
class Bench:
    """A library with the recording of its released suite."""

    library: Library
    python: Path
    clean: Recording
    seconds: float

    def run(self, faults: Sequence[Mutant], folder: Path) -> Recording | None:
        """The suite with faults planted in a new checkout; None when it broke or hung.

        Only tests that execute a changed function run again, all of them when it already runs
        while modules are imported.
        """
        shutil.copytree(self.library.release, folder, dirs_exist_ok=True)
        touched = {(m.path, line) for m in faults for line in range(m.first_line, m.last_line + 1)}
        plant(faults, folder)
        tests = self.clean.covering(touched - _headers(self.library.release, faults))
        wanted = frozenset(self.clean.results) if "" in tests else tests
        limit = 10 + 3 * self.seconds
        rerun = record(self.library, folder, wanted, python=self.python, limit=limit)
        return None if rerun is None else self.clean.with_rerun(rerun, faults)


def _headers(release: Path, faults: Iterable[Mutant]) -> frozenset[tuple[str, int]]:
    """The lines of functions that run when they are defined, not when they are called."""
    places = Places(FolderTree(release))
    return frozenset(
        (m.path, line)
        for m in faults
        for entry in places.entries(m.path)
        if (entry.target.qualname, entry.target.nth) == (m.qualname, m.nth)
        and entry.target.kind == "function"
        for line in range(entry.target.first_line, entry.body_line)
    )


def measured(library: Library, count: int, cases: int, seed: int, until: float) -> Measured:
    """Mutants until `count` of them failed tests, then cases of several; ends at a time."""
    found = Measured(library.name)
    python = _libraries.environment(sys.executable)
    with tempfile.TemporaryDirectory(prefix="localization-") as parent:
        try:
            bench = _bench(library, python, Path(parent) / "clean")
            _mutated(bench, Path(parent), found, count, seed, until)
            _combined(bench, Path(parent), found, cases, seed, until)
        except _releases.Failed as error:
            found.problem = f"{library.name}: {error}"
    return found


def _bench(library: Library, python: Path, folder: Path) -> Bench:
    shutil.copytree(library.release, folder)
    start = time.perf_counter()
    clean = record(library, folder, python=python)
    if clean is None or clean.red:
        raise _releases.Failed(f"the suite of {library.name} is red as released")
    return Bench(library, python, clean, time.perf_counter() - start)


def _mutated(
    bench: Bench, parent: Path, found: Measured, count: int, seed: int, until: float
) -> None:
    release = FolderTree(bench.library.release)
    wanted = list_executed(bench.library, bench.clean)
    for number, mutant in enumerate(mutants(release, wanted, seed)):
        if len(found.killed) >= count:
            return
        if time.time() > until:
            raise _releases.Failed(f"time ended after {len(found.killed)} mutants")
        folder = parent / f"mutant-{number}"
        recording = bench.run([mutant], folder)
        if recording is None:
            found.dropped += 1
        elif not recording.red:
            found.survived += 1
        else:
            found.killed.append(judged(recording, folder, mutant))
        shutil.rmtree(folder)


def _combined(
    bench: Bench, parent: Path, found: Measured, count: int, seed: int, until: float
) -> None:
    """Cases of two to five mutants, each with a failing test of its own."""
    for number, chosen in enumerate(_choices(found.killed, random.Random(seed), 20 * count)):
        if len(found.cases) >= count:
            return
        if time.time() > until:
            raise _releases.Failed(f"time ended after {len(found.cases)} cases")
        folder = parent / f"case-{number}"
        recording = bench.run([one.mutant for one in chosen], folder)
        if recording is not None and len(recording.red) <= LARGEST_CASE:
            causes = [one.red & recording.red for one in chosen]
            if all(own(at, causes) for at in range(len(causes))):
                baseline = recording.baseline()
                clusters = ranking.locate(Run(lambda event: None), baseline, FolderTree(folder))
                found.cases.append(
                    Case(
                        tuple(one.mutant.name for one in chosen),
                        len(recording.red),
                        len(clusters),
                        exact(clusters, causes),
                    )
                )
        shutil.rmtree(folder)


def _choices(
    killed: Sequence[Killed], rng: random.Random, tries: int
) -> Iterator[tuple[Killed, ...]]:
    for turn in range(tries):
        size = 2 + turn % 4
        if size > len(killed):
            continue
        chosen = rng.sample(killed, size)
        pairs = ((a, b) for a in chosen for b in chosen if a is not b)
        if all(a.mutant.apart(b.mutant) for a, b in pairs) and all(
            own(at, [one.red for one in chosen]) for at in range(size)
        ):
            yield tuple(chosen)


def main(argv: list[str]) -> int:
    """Run the benchmark; the last line is one JSON object."""
    options = options_of("localization").parse_args(argv)
    count, cases = (40, 12) if options.full else (options.mutants, options.cases)
    start = time.time()
    chosen = [one for one in LIBRARIES if one.name in (options.library or [one.name])]
    end = start + options.seconds
    _libraries.environment(sys.executable)
    for library in chosen:
        library.release  # noqa: B018 - downloads once, before the processes start
    # What takes turns on one core comes first, and ends in any case.
    ratios = overheads(chosen, options.python or pythons()) | ranking_speed()
    # FauxPy takes some 15 seconds a mutant, two at a time.
    until = end - _fauxpy.LIMIT - 8 * options.fauxpy
    work = partial(measured, count=count, cases=cases, seed=options.seed, until=until)
    found: list[Measured] = []
    with ProcessPoolExecutor(min(2, os.cpu_count() or 1)) as pool:
        for one in pool.map(work, chosen):
            found.append(one)
            if not options.json:
                _show(one)
    planted = [
        _fauxpy.Planted(library, row.mutant, row.hits["ours"])
        for library, one in zip(chosen, found, strict=True)
        for row in one.killed
    ]
    fauxpy, late = _fauxpy.compared(planted, options.fauxpy, options.seed, end)
    summary = _summary(found) | ratios | {"fauxpy": fauxpy}
    problems = [problem for problem in (*(one.problem for one in found), late) if problem]
    summary |= {"seconds": round(time.time() - start, 1), "complete": not problems}
    print(json.dumps(summary | {"problems": problems}))
    return 0 if not problems else 1


def _show(found: Measured) -> None:
    for one in found.killed:
        way = "crash" if one.crash else "assertion"
        print(found.library, one.mutant.name, way, len(one.red), one.clusters, one.hits["ours"])
    for case in found.cases:
        print(found.library, "case", len(case.names), case.tests, case.clusters, case.exact)
    print(found.library, f"survived {found.survived} dropped {found.dropped} {found.problem}")
    sys.stdout.flush()


def _summary(found: Sequence[Measured]) -> dict[str, Any]:
    rows = [one for library in found for one in library.killed]
    cases = [one for library in found for one in library.cases]

    def share(technique: str, at: int, chosen: Sequence[Killed]) -> float | None:
        hits = [row.hits[technique][at] for row in chosen]
        return round(statistics.mean(hits), 3) if hits else None

    return {
        "mutants": len(rows),
        "top1": share("ours", 0, rows),
        "top3": share("ours", 1, rows),
        "top5": share("ours", 2, rows),
        "assertion_top1": share("ours", 0, [row for row in rows if not row.crash]),
        "crash_top1": share("ours", 0, [row for row in rows if row.crash]),
        "one_cluster": sum(row.clusters == 1 for row in rows),
        "libraries": {
            one.library: {
                "mutants": len(one.killed),
                **{f"top{top}": share("ours", at, one.killed) for at, top in enumerate((1, 3, 5))},
                "clusters": f"{sum(case.exact for case in one.cases)}/{len(one.cases)}",
            }
            for one in found
        },
        "baselines": {
            name: {f"top{top}": share(name, at, rows) for at, top in enumerate((1, 3, 5))}
            for name in ("traceback", "ochiai", "dstar")
        },
        "clusters": {
            "cases": len(cases),
            "exact": sum(case.exact for case in cases),
            "largest": max((case.tests for case in cases), default=0),
        },
    }
