"""Faults planted one at a time in released libraries, with the tests that notice each of them."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks import _libraries, _releases
from benchmarks._libraries import LIBRARIES, Library, Recording, record
from benchmarks._mutants import Mutant, mutants, plant
from heal_bot.core.errors import HealBotError
from heal_bot.fault_localization.baseline_observations import target_key
from heal_bot.fault_localization.target_index import Places
from tests.fakes import FolderTree

_CLEAN_SECONDS = 180
_RED_SECONDS = 30


@dataclass(frozen=True, slots=True)
class Fault:
    """A mutant of a library: the tests that fail with it, of those that execute its function.

    `passing` are all tests that pass as released; others take no part.
    """

    library: str
    mutant: Mutant
    red: frozenset[str]
    near: frozenset[str]
    passing: tuple[str, ...]


def library(name: str) -> Library:
    """The pinned release of that name."""
    return next(one for one in LIBRARIES if one.name == name)


def planted(name: str, count: int, seed: int, until: float) -> tuple[list[Fault], list[str]]:
    """So many faults that a test of the library notices, and what went wrong.

    The suite is recorded once, as released; of each mutant only the tests that execute its
    function are run.
    """
    found: list[Fault] = []
    try:
        with tempfile.TemporaryDirectory(prefix="mutants-") as place:
            for fault in _noticed(library(name), seed, Path(place)):
                found.append(fault)
                if len(found) == count:
                    break
                if time.time() > until:
                    return found, [f"{name}: time ended after {len(found)} mutants were planted"]
    except (HealBotError, _releases.Failed, OSError, subprocess.SubprocessError) as error:
        return found, [f"{name}: {type(error).__name__}: {error}"]
    return found, []


def _noticed(released: Library, seed: int, place: Path) -> Iterator[Fault]:
    python = _libraries.environment(sys.executable)
    folder = place / "clean"
    shutil.copytree(released.release, folder)
    clean = record(released, folder, python=python, limit=_CLEAN_SECONDS)
    if clean is None:
        raise _releases.Failed(f"the suite of {released.name} does not end in time")
    passing = tuple(sorted(t for t, (how, _) in clean.results.items() if how == "passed"))
    for mutant in mutants(FolderTree(released.release), list_executed(released, clean), seed):
        lines = [(mutant.path, n) for n in range(mutant.first_line, mutant.last_line + 1)]
        near = clean.covering(lines).intersection(passing)
        red = _red(released, mutant, near, place / "red", python)
        if red:
            yield Fault(released.name, mutant, red, near, passing)


def list_executed(released: Library, clean: Recording) -> set[tuple[str, str, int]]:
    """The functions that some test executes."""
    places = Places(FolderTree(released.release), tuple(clean.results))
    executed = 0
    for test, hits in clean.hits.items():
        executed |= hits if test else 0
    owners = (
        places.running(path, line)
        for at, (path, line) in enumerate(clean.lines)
        if executed >> at & 1 and places.is_project(path)
    )
    return {target_key(target)[:3] for target in owners if target}


def _red(
    released: Library, mutant: Mutant, near: frozenset[str], folder: Path, python: Path
) -> frozenset[str]:
    shutil.copytree(released.release, folder)
    plant([mutant], folder)
    seen = record(released, folder, near, python=python, traced=False, limit=_RED_SECONDS)
    shutil.rmtree(folder)
    return seen.red if seen else frozenset()
