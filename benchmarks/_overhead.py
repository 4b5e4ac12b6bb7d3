"""What recording executions costs, and how fast the ranking is."""

from __future__ import annotations

import random
import shutil
import statistics
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Sequence
from pathlib import Path

from benchmarks import _libraries, _releases
from benchmarks._libraries import Library, record
from benchmarks._timed import spent
from heal_bot.core.model import Failure
from heal_bot.environments.interpreters import list_installed
from heal_bot.fault_localization import clusters, spectrum

ROUNDS = 2
TESTS, FUNCTIONS = 10_000, 50_000


def pythons() -> tuple[str, ...]:
    """This interpreter and the newest other one found of those with `sys.monitoring`."""
    for python in list_installed():
        version = tuple(map(int, python.version.split(".")[:2]))
        if version >= (3, 12) and _runs(str(python.program)):
            return tuple(dict.fromkeys([sys.executable, str(python.program)]))
    return (sys.executable,)


def _runs(python: str) -> bool:
    return _releases.call([python, "-c", "import venv"], Path.cwd()).returncode == 0


def overheads(libraries: Sequence[Library], chosen: Sequence[str]) -> dict[str, object]:
    """`overhead_ratio` from Python 3.12 on, `overhead_ratio_old` before; medians of libraries.

    A library's ratio is that of processor seconds of the whole pytest process with and without the
    recording, the least of several rounds that take turns: other load on the machine changes it
    less than wall time.
    """
    found: dict[str, dict[str, float]] = {"overhead_ratio": {}, "overhead_ratio_old": {}}
    used: dict[str, str] = {}
    for asked in chosen:
        python = _libraries.environment(asked)
        version = python.parent.parent.name.removeprefix("venv-")
        old = tuple(map(int, version.split(".")[:2])) < (3, 12)
        name = "overhead_ratio_old" if old else "overhead_ratio"
        used[name] = version
        for library in libraries:
            found[name][library.name] = round(_ratio(library, python), 2)
    medians = {
        name: round(statistics.median(ratios.values()), 2) if ratios else None
        for name, ratios in found.items()
    }
    return {**medians, "overhead": {"pythons": used, **found}}


def _ratio(library: Library, python: Path) -> float:
    least: dict[bool, float] = {}
    with tempfile.TemporaryDirectory(prefix="overhead-") as parent:
        folder = Path(parent) / "library"
        shutil.copytree(library.release, folder)
        for _ in range(ROUNDS):
            for traced in (False, True):
                before = spent()
                if record(library, folder, python=python, traced=traced) is None:
                    raise _releases.Failed(f"the suite of {library.name} did not end")
                least[traced] = min(least.get(traced, 1e9), spent() - before)
    return least[True] / least[False]


def ranking_speed() -> dict[str, float]:
    """Seconds and MiB beyond the recording itself for clusters and scores of a random spectrum."""
    rng = random.Random(1)
    few = [rng.getrandbits(FUNCTIONS) & rng.getrandbits(FUNCTIONS) for _ in range(200)]
    tests = [few[at % 200] ^ 1 << at % FUNCTIONS for at in range(TESTS)]
    seconds = _ranked(tests)
    tracemalloc.start()
    _ranked(tests)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return {"ranking_seconds": round(seconds, 2), "ranking_mib": round(peak / 2**20, 1)}


def _ranked(tests: Sequence[int]) -> float:
    start = time.process_time()
    failing = tests[:500]
    failed = spectrum.count_bits(failing, FUNCTIONS)
    passed = spectrum.count_bits(tests[500:], FUNCTIONS)
    scores = [(spectrum.cause(len(failing), failed[at], passed[at]), at) for at in range(FUNCTIONS)]
    sorted(scores, reverse=True)
    hits = {str(at): bits for at, bits in enumerate(failing)}
    levels = clusters.count_levels(passed, (1 << FUNCTIONS) - 1, TESTS - 500)
    failures = [Failure(test, "AssertionError", "") for test in hits]
    clusters.group(failures, hits, levels, FUNCTIONS, lambda failure: "")
    return time.process_time() - start
