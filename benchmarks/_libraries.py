"""Released libraries with their own suites, and what their tests execute."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks import _releases
from benchmarks._mutants import Mutant
from heal_bot.core.model import (
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
from heal_bot.core.statuses import FailureStatus, RunResult, SuiteEnd

HERE = Path(__file__).parent
BUILD = HERE.parent / "build" / "localization"
AGENT = HERE.parent / "heal_bot" / "testrun" / "agent"
REQUIREMENTS: list[str] = _releases.TABLE["libraries_need"]


@dataclass(frozen=True)
class Library:
    """A pinned release; `options` are those its suite is run with."""

    name: str
    options: tuple[str, ...]

    @property
    def release(self) -> Path:
        """The unpacked release, downloaded when it is not there."""
        return _releases.sdist(self.name)


LIBRARIES = tuple(
    Library(name, tuple(options)) for name, options in _releases.TABLE["libraries"].items()
)


@cache
def environment(python: str) -> Path:
    """The interpreter of a virtual environment with what the suites need, made once for each."""
    version = _releases.demand([python, "-c", "import sys; print(sys.version.split()[0])"], HERE)
    folder = BUILD / f"venv-{version.strip()}"
    return _releases.make_environment(folder, REQUIREMENTS, python)


@dataclass(frozen=True)
class Recording:
    """The results of a suite, and per test a bitmap over the lines it executed.

    The lines executed while modules were imported stand under the empty name.
    """

    results: Mapping[str, tuple[str, dict[str, Any] | None]]
    lines: Sequence[tuple[str, int]]
    hits: Mapping[str, int]
    seconds: float

    @property
    def red(self) -> frozenset[str]:
        """The tests that failed."""
        return frozenset(t for t, (outcome, _) in self.results.items() if outcome == "failed")

    def baseline(self) -> Baseline:
        """The recording as the pipeline sees a reproduced run."""
        failures = []
        for test, (outcome, said) in self.results.items():
            if outcome == "failed" and said is not None:
                frames = tuple(Frame(p, n, f, Origin.PROJECT) for p, n, f in said["f"])
                failure = Failure(test, said["k"], said["m"], frames)
                failures.append(Reproduced(failure, FailureStatus.CONFIRMED))
        suite = SuiteRun(
            tuple(
                CaseResult(test, RunResult(outcome)) for test, (outcome, _) in self.results.items()
            ),
            tuple(self.results),
            SuiteEnd.FINISHED,
            0.0,
            Isolation("none", ()),
            spectrum=Spectrum(tuple(self.lines), {t: h for t, h in self.hits.items() if t}),
        )
        return Baseline(tuple(failures), suite, 1)

    def covering(self, lines: Collection[tuple[str, int]]) -> frozenset[str]:
        """The tests that executed one of the lines; "" among them for the import of modules."""
        mask = sum(1 << at for at, line in enumerate(self.lines) if line in lines)
        return frozenset(test for test, hits in self.hits.items() if hits & mask)

    def with_rerun(self, rerun: Recording, planted: Iterable[Mutant]) -> Recording:
        """The recording with the tests that were run again with faults planted.

        A test that executes no line of a changed function executes and does what it did before,
        in lines that have moved.
        """
        faults = tuple(planted)
        lines = [_moved(path, line, faults) for path, line in self.lines]
        index = {line: at for at, line in enumerate(lines)}
        for line in rerun.lines:
            if line not in index:
                index[line] = len(lines)
                lines.append(line)
        places = [index[line] for line in rerun.lines]
        hits = dict(self.hits)
        for test, bits in rerun.hits.items():
            hits[test] = sum(1 << at for bit, at in enumerate(places) if bits >> bit & 1)
        return Recording({**self.results, **rerun.results}, lines, hits, rerun.seconds)


def _moved(path: str, line: int, faults: Iterable[Mutant]) -> tuple[str, int]:
    by = 0
    for fault in faults:
        if fault.path == path and fault.first_line <= line:
            if line <= fault.last_line:
                return (path, 0)
            by += fault.grows
    return (path, line + by)


def record(
    library: Library,
    folder: Path,
    only: Collection[str] | None = None,
    *,
    python: Path,
    traced: bool = True,
    limit: float = 90.0,
) -> Recording | None:
    """Run the suite of a checkout, or some of its tests; None when it did not end in time."""
    report, chosen = folder / "observed.json", folder / "only.json"
    report.unlink(missing_ok=True)
    chosen.write_text(json.dumps(sorted(only or ())), encoding="utf-8")
    argv = [
        str(python),
        "-m",
        "pytest",
        "-q",
        "--tb=no",
        "-p",
        "no:cacheprovider",
        "-p",
        "_observer",
    ]
    env = {
        "PYTHONPATH": f"src:.:tests:{HERE}:{AGENT}",
        "PYTHONHASHSEED": "0",
        "OBSERVED": str(report),
        "ONLY": str(chosen) if only is not None else "",
        "TRACED": "1" if traced else "",
    }
    try:
        _releases.call([*argv, *library.options], folder, seconds=limit, **env)
    except subprocess.TimeoutExpired:
        return None
    if not report.is_file():
        return None
    data = json.loads(report.read_text(encoding="utf-8"))
    if only is not None and not only <= data["results"].keys():
        return None
    results = {test: (outcome, said) for test, (outcome, said) in data["results"].items()}
    lines = [(path, line) for path, line in data["lines"]]
    hits = {test: int(bits or "0", 16) for test, bits in data["hits"].items()}
    return Recording(results, lines, hits, data["seconds"])
