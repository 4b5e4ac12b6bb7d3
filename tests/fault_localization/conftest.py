"""A project in memory, run for real in this process under a line tracer."""

from __future__ import annotations

import sys
import traceback
import types
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from heal_bot.core.events import Event, Run
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


@dataclass(frozen=True)
class MemoryTree:
    """A tree of text files."""

    files: Mapping[str, str]
    changed: Mapping[str, frozenset[int]] = field(default_factory=dict)
    sha: str = "c" * 40
    tree_sha: str = "d" * 40
    root: Path = Path("/nowhere")

    def paths(self) -> tuple[str, ...]:
        return tuple(sorted(self.files))

    def read(self, path: str) -> bytes:
        return self.files[path].encode()

    def blob(self, path: str) -> str:
        return "e" * 40

    def changed_lines(self) -> dict[str, frozenset[int]]:
        return dict(self.changed)


@dataclass
class Ran:
    tree: MemoryTree
    baseline: Baseline
    events: list[Event]
    run: Run


def _execute(files: Mapping[str, str]) -> tuple[dict[str, Callable[[], None]], list[str]]:
    """Import every file as a module of its stem, project files first; the tests by node id."""
    tests: dict[str, Callable[[], None]] = {}
    made: list[str] = []
    try:
        for path in sorted(files, key=lambda path: (path.startswith("tests/"), path)):
            name = Path(path).stem
            module = types.ModuleType(name)
            sys.modules[name] = module
            made.append(name)
            exec(compile(files[path], path, "exec"), module.__dict__)
            for key, value in list(vars(module).items()):
                if key.startswith("test_") and path.startswith("tests/"):
                    tests[f"{path}::{key}"] = value
    finally:
        for name in made:
            sys.modules.pop(name, None)
    return tests, made


def _one(test: str, body: Callable[[], None], files: Iterable[str]):
    lines: set[tuple[str, int]] = set()
    known = set(files)

    def tracer(frame, event, _):
        path = frame.f_code.co_filename
        if path not in known:
            return None
        if event == "line":
            lines.add((path, frame.f_lineno))
        return tracer

    failure = None
    sys.settrace(tracer)
    try:
        body()
    except Exception as error:  # noqa: BLE001 - a test may raise anything
        sys.settrace(None)
        frames = tuple(
            Frame(
                f.filename,
                f.lineno or 1,
                f.name,
                Origin.TEST if f.filename.startswith("tests/") else Origin.PROJECT,
            )
            for f in traceback.extract_tb(error.__traceback__)
            if f.filename in known
        )
        failure = Failure(test, type(error).__name__, str(error), frames)
    finally:
        sys.settrace(None)
    return lines, failure


@pytest.fixture
def ran():
    """Runs the tests of a project given as path -> text; returns its tree, baseline and events."""

    def run(files: Mapping[str, str], *, spectrum: bool = True, **changes) -> Ran:
        tests, _ = _execute(files)
        results, reproduced = [], []
        executed: dict[str, set[tuple[str, int]]] = {}
        for test, body in tests.items():
            lines, failure = _one(test, body, files)
            executed[test] = lines
            results.append(CaseResult(test, "failed" if failure else "passed"))
            if failure:
                reproduced.append(Reproduced(failure, "confirmed"))
        locations = tuple(sorted(set().union(*executed.values())))
        place = {location: number for number, location in enumerate(locations)}
        hits = {t: sum(1 << place[at] for at in lines) for t, lines in executed.items()}
        suite = SuiteRun(
            results=tuple(results),
            collected=tuple(tests),
            ended="finished",
            seconds=1.0,
            isolation=Isolation("strict", ()),
            spectrum=Spectrum(locations, hits) if spectrum else None,
        )
        events: list[Event] = []
        tree = MemoryTree(files, **changes)
        return Ran(tree, Baseline(tuple(reproduced), suite, 1), events, Run(events.append))

    return run
