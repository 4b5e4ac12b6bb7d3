"""Plants seeded mutants in released libraries and has the offline engine heal them.

Localization and repair work together, in the real sandbox: heal sees a random half of the
library's suite that still holds a test which fails, and has a minute. What it proposes is wrong
when a held-out test fails, or when a result, an exception or what became of the arguments differs
from the release on calls recorded from the whole suite and on varied ones, whose seed the search
did not use. A mutant is invertible when one small edit undoes it.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from benchmarks import _libraries, real_project
from benchmarks._libraries import LIBRARIES, Library, Recording, record
from benchmarks._mutants import Mutant, mutants, plant
from benchmarks._restricted import Restricted
from benchmarks.localization import Folder
from heal_bot.errors import HealBotError
from heal_bot.events import Run
from heal_bot.locate.observed import key
from heal_bot.locate.places import Places
from heal_bot.model import (
    Candidate,
    Edit,
    Environment,
    Failure,
    HealRequest,
    Memory,
    Outcome,
    Patch,
    RunHints,
    Target,
)
from heal_bot.pipeline import Edges, heal
from heal_bot.ports import Tree
from heal_bot.repair.hunt import Limits
from heal_bot.repair.rules.proposer import Rules
from heal_bot.sandbox.run import Sandbox
from heal_bot.sandbox.suite import SuiteRunner
from heal_bot.source import functions
from heal_bot.workspace.local import LocalWorkspace
from heal_bot.workspace.repository import Repository

_INVERTIBLE = frozenset({"operator", "constant", "swapped", "attribute"})
_CALLS = 200
_JUDGE_SECONDS = 300.0
_SEEDS = (7, 8, 9)
_GUARDS = 120


@dataclass(frozen=True, slots=True)
class Row:
    """One mutant and what became of it; `calls` is how many were compared."""

    library: str
    mutant: str
    kind: str
    failing: int
    hidden: int
    status: str
    healed: bool
    wrong: bool
    same: bool
    calls: int
    candidates: int
    fixes: int
    seconds: float
    family: str = ""
    change: str = ""
    why: str = ""

    @property
    def invertible(self) -> bool:
        return self.kind in _INVERTIBLE

    @property
    def proposed(self) -> bool:
        return self.status in {"healed", "partly_healed"}


@dataclass(slots=True)
class Kept:
    """A store that forgets."""

    saved: int = 0

    def save(self, outcome: Outcome) -> None:
        self.saved += 1


@dataclass(frozen=True, slots=True)
class Bench:
    """A library as released, recorded, and a place to plant mutants in."""

    library: Library
    python: Path
    clean: Recording
    place: Path
    sandbox: Sandbox

    def killed(
        self, count: int, seed: int
    ) -> Iterator[tuple[Mutant, frozenset[str], frozenset[str]]]:
        """Mutants with the tests that fail, and all tests that execute the mutated function."""
        release = Folder(self.library.release)
        places = Places(release, tuple(self.clean.results))
        owners = [
            (places.running(*line), at)
            for at, line in enumerate(self.clean.lines)
            if places.is_project(line[0])
        ]
        executed = 0
        for test, hits in self.clean.hits.items():
            executed |= hits if test else 0
        wanted = {key(target)[:3] for target, at in owners if target and executed >> at & 1}
        found = 0
        for mutant in mutants(release, wanted, seed):
            lines = [(mutant.path, n) for n in range(mutant.first_line, mutant.last_line + 1)]
            near = self.clean.covering(lines) - {""}
            red = self._red(mutant, near)
            if red:
                found += 1
                yield mutant, red, near
            if found == count:
                return

    def _red(self, mutant: Mutant, near: frozenset[str]) -> frozenset[str]:
        folder = self.place / "red"
        shutil.copytree(self.library.release, folder)
        plant([mutant], folder)
        seen = record(self.library, folder, near, python=self.python, traced=False, limit=30)
        shutil.rmtree(folder)
        return seen.red if seen else frozenset()


def healed(
    bench: Bench,
    mutant: Mutant,
    red: frozenset[str],
    near: frozenset[str],
    seed: int,
    budget: float,
) -> Row:
    """Have one mutant healed, and judge the patch."""
    rng = random.Random(f"{seed} {mutant.name}")
    passing = sorted(t for t, (outcome, _) in bench.clean.results.items() if outcome == "passed")
    half = set(rng.sample(passing, len(passing) // 2))
    if not half & red:
        half.add(rng.choice(sorted(red & set(passing))))
    with tempfile.TemporaryDirectory(dir=bench.place) as parent:
        scratch = Path(parent)
        folder = scratch / "repo"
        _commit(bench.library, mutant, folder)
        run = Run(lambda event: None)
        run = replace(run, deadline=run.clock() + budget + _JUDGE_SECONDS)
        repository = Repository.of(run, folder, scratch)
        cache = Path(tempfile.gettempdir()) / f"heal-bot-cache-{os.getuid()}"
        workspace = LocalWorkspace(repository, scratch, cache, given=bench.python)
        runner = SuiteRunner(bench.sandbox, lanes=1)
        request = HealRequest("mutants", repository.head, tested_sha=repository.head)
        edges = Edges(
            workspace, Restricted(runner, runner, tuple(sorted(half))), (Rules(),), Kept()
        )  # type: ignore[arg-type]
        start = time.monotonic()
        limited = replace(run, deadline=run.clock() + budget)
        outcome = heal(limited, request, edges, folder, Memory(), Limits())
        seconds = time.monotonic() - start
        tried = sum(search.tried for search in outcome.searches)
        fixes = [a for a in outcome.attempts if a.verdict.status in {"fixed", "unconfirmed"}]
        row = Row(
            bench.library.name, f"{mutant.path}::{mutant.qualname}", mutant.kind,
            len(red & half), len(red - half), outcome.status, healed=False, wrong=False,
            same=False, calls=0, candidates=tried, fixes=len(fixes), seconds=round(seconds, 1),
            why=outcome.notes[0][:300] if outcome.notes else outcome.reason,
        )  # fmt: skip
        if outcome.patch is None:
            return row
        tree = workspace.checkout(run, repository.head)
        env = workspace.provision(run, tree, RunHints())
        return _judged(bench, mutant, red, near, row, outcome.patch, (run, tree, env, runner))


def _commit(library: Library, mutant: Mutant, folder: Path) -> None:
    shutil.copytree(library.release, folder)
    plant([mutant], folder)
    who = (
        "-c",
        "user.name=bench",
        "-c",
        "user.email=bench@localhost",
        "-c",
        "commit.gpgsign=false",
    )
    for step in (["init", "-q", "-b", "main"], ["add", "-Af"], [*who, "commit", "-qm", "Release"]):
        real_project.demand(["git", *step], folder, GIT_CONFIG_NOSYSTEM="1")


def _judged(
    bench: Bench,
    mutant: Mutant,
    red: frozenset[str],
    near: frozenset[str],
    row: Row,
    patch: Patch,
    world: tuple[Run, Tree, Environment, SuiteRunner],
) -> Row:
    """The row with the judgement of a patch: held-out tests, then calls."""
    row = replace(row, change=patch.diff[:2_000])
    if _is_original(bench.library, mutant, patch):
        return replace(row, healed=True, same=True)
    folder = bench.place / "judged"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(bench.library.release, folder)
    for file in patch.files:
        (folder / file.path).write_text(file.content, encoding="utf-8")
    seen = record(bench.library, folder, near, python=bench.python, traced=False)
    left = seen.red if seen else near
    if left:
        return replace(row, wrong=True, why=f"{len(left)} held-out tests fail, first {min(left)}")
    compared, difference = _compared(mutant, red, near, patch, bench.library, world)
    if difference:
        return replace(row, wrong=True, calls=compared, why=difference)
    return replace(row, healed=True, calls=compared)


def _is_original(library: Library, mutant: Mutant, patch: Patch) -> bool:
    """Whether the patched file is the released one but for layout and comments."""
    release = (library.release / mutant.path).read_text(encoding="utf-8")
    contents = {file.path: file.content for file in patch.files}
    return set(contents) == {mutant.path} and ast.dump(
        ast.parse(contents[mutant.path])
    ) == ast.dump(ast.parse(release))


def _compared(
    mutant: Mutant,
    red: frozenset[str],
    near: frozenset[str],
    patch: Patch,
    library: Library,
    world: tuple[Run, Tree, Environment, SuiteRunner],
) -> tuple[int, str]:
    """How many calls of release and patch were compared, and the first that differs."""
    run, tree, env, runner = world
    target = _target(tree, mutant)
    lines = functions.lines((library.release / mutant.path).read_text(encoding="utf-8"))
    original = "".join(lines[mutant.first_line - 1 : mutant.last_line])
    right = Candidate((Edit(target, original),), "release", "release")
    ours = Candidate(patch.edits, "patch", "patch")
    failing = [Failure(test, "", "") for test in sorted(red)]
    guards = sorted(near - red)[:_GUARDS]
    compared = 0
    with runner.warm(run, tree, env, failing, guards) as session:
        (verdict,) = session.judge([right])
        if verdict.status != "fixed":
            return 0, ""
        for seed in _SEEDS:
            calls = session.call([right, ours], seed)
            if len(calls.rows) < 3 or not calls.rows[1] or not calls.rows[2]:
                return compared, ""
            for name, one, other in zip(calls.calls, calls.rows[1], calls.rows[2], strict=True):
                if "skipped" in (one.how, other.how):
                    continue
                compared += 1
                if one.mark != other.mark:
                    said = (
                        f"{other.how} {other.kind} {other.text} for {one.how} {one.kind} {one.text}"
                    )
                    return compared, f"{name}: {said}"[:600]
            if compared >= _CALLS:
                break
    return compared, ""


def _target(tree: Tree, mutant: Mutant) -> Target:
    text = tree.read(mutant.path).decode()
    for target in functions.index(mutant.path, text):
        if (target.qualname, target.nth, target.kind) == (mutant.qualname, mutant.nth, "function"):
            return target
    raise real_project.Failed(f"{mutant.qualname} is not in {mutant.path}")


def measured(
    name: str, count: int, seed: int, budget: float, until: float
) -> tuple[list[Row], list[str]]:
    """All mutants of one library, in a process of its own."""
    library = next(one for one in LIBRARIES if one.name == name)
    rows: list[Row] = []
    problems: list[str] = []
    try:
        python = _libraries.environment(sys.executable)
        with (
            tempfile.TemporaryDirectory(prefix="mutants-") as place,
            Sandbox.start("strict", 2) as sandbox,
        ):
            (Path(place) / "clean").mkdir()
            folder = Path(place) / "clean" / "repo"
            shutil.copytree(library.release, folder)
            clean = record(library, folder, python=python)
            if clean is None or clean.red:
                raise real_project.Failed(f"the suite of {name} is red as released")
            bench = Bench(library, python, clean, Path(place), sandbox)
            for mutant, red, near in bench.killed(count, seed):
                if time.time() > until:
                    raise real_project.Failed(f"time ended after {len(rows)} mutants")
                try:
                    rows.append(healed(bench, mutant, red, near, seed, budget))
                    print(json.dumps(asdict(rows[-1])), file=sys.stderr, flush=True)
                except (HealBotError, real_project.Failed) as error:
                    problems.append(f"{name} {mutant.name}: {type(error).__name__}: {error}")
    except (HealBotError, real_project.Failed, OSError, subprocess.SubprocessError) as error:
        problems.append(f"{name}: {type(error).__name__}: {error}")
    return rows, problems


def main(argv: list[str]) -> int:
    """Run the benchmark; the last line is one JSON object."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks mutants")
    parser.add_argument("--json", action="store_true", help="print the last line alone")
    parser.add_argument("--full", action="store_true", help="30 mutants a library, without end")
    parser.add_argument("--mutants", type=int, default=8, help="per library")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--budget", type=float, default=60, help="seconds to heal one")
    parser.add_argument("--only", default="", help="names of libraries, by comma")
    parser.add_argument("--seconds", type=int, default=1_100, help="end early, incomplete")
    options = parser.parse_args(argv)
    start = time.monotonic()
    until = time.time() + (1e9 if options.full else options.seconds)
    count = 30 if options.full else options.mutants
    names = options.only.split(",") if options.only else [one.name for one in LIBRARIES]
    _libraries.environment(sys.executable)
    rows: list[Row] = []
    problems: list[str] = []
    with ProcessPoolExecutor(2) as pool:
        waiting = [
            pool.submit(measured, name, count, options.seed, options.budget, until)
            for name in names
        ]
        for one in waiting:
            found, wrong = one.result()
            rows += found
            problems += wrong
    summary = _summary(rows)
    summary |= {"seconds": round(time.monotonic() - start, 1), "problems": problems}
    summary |= {"complete": not problems and not options.only}
    print(json.dumps(summary))
    return 0 if not problems else 1


def _summary(rows: Sequence[Row]) -> dict[str, object]:
    proposed = [row for row in rows if row.proposed]
    wrong = [row for row in proposed if row.wrong]
    spent = sum(row.seconds for row in rows)
    return {
        "mutants": len(rows),
        "invertible": sum(row.invertible for row in rows),
        "healed": sum(row.healed for row in rows),
        "healed_invertible": sum(row.healed and row.invertible for row in rows),
        "proposed": len(proposed),
        "wrong": len(wrong),
        "abstained": sum(not row.proposed and row.fixes > 0 for row in rows),
        "precision": round(1 - len(wrong) / len(proposed), 3) if proposed else 0.0,
        "median_seconds": statistics.median(row.seconds for row in rows) if rows else None,
        "same_as_release": sum(row.same for row in rows),
        "candidates_per_second": round(sum(row.candidates for row in rows) / spent, 1)
        if spent
        else None,
        "uncompared": sum(row.healed and not row.same and row.calls < _CALLS for row in rows),
        "by_kind": {
            kind: [sum(r.healed for r in rows if r.kind == kind), sum(r.kind == kind for r in rows)]
            for kind in sorted({row.kind for row in rows})
        },
        "missed": [f"{r.library} {r.mutant} {r.kind}" for r in rows if not r.healed],
    }
