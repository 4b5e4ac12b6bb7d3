"""One planted fault, healed as a user would have it healed, and the judgement of the patch."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks import _libraries, _releases, _sameness
from benchmarks._libraries import Library
from benchmarks._mutants import Mutant, plant
from benchmarks._planting import Fault, library
from benchmarks._repositories import commit_files
from benchmarks._restricted import Restricted
from heal_bot.checkout.bare_repository import Repository
from heal_bot.core.errors import HealBotError
from heal_bot.core.events import Run
from heal_bot.core.model import HealRequest, Memory, Outcome, Patch, RunHints
from heal_bot.environments.local_workspace import LocalWorkspace
from heal_bot.pipeline import Edges, heal
from heal_bot.repair.search.cluster_search import SearchLimits
from heal_bot.repair.templates.template_proposer import TemplateProposer
from heal_bot.sandbox.sandbox_client import Sandbox
from heal_bot.testrun.runner import SuiteRunner

_INVERTIBLE = frozenset({"operator", "constant", "swapped", "attribute"})
_JUDGE_SECONDS = 300.0
_SLOTS = 2


@dataclass(frozen=True, slots=True)
class Row:
    """One mutant and what became of it; `calls` is how many were compared.

    `right` and `wrong` are said of a suggestion too; only a repair is `healed`.
    """

    library: str
    mutant: str
    kind: str
    failing: int
    hidden: int
    status: str
    healed: bool = False
    right: bool = False
    wrong: bool = False
    suggested: bool = False
    same: bool = False
    calls: int = 0
    candidates: int = 0
    fixes: int = 0
    seconds: float = 0.0
    change: str = ""
    why: str = ""

    @property
    def invertible(self) -> bool:
        """Whether one small edit undoes the mutation."""
        return self.kind in _INVERTIBLE

    @property
    def proposed(self) -> bool:
        """Whether there is a patch."""
        return self.status in {"healed", "partly_healed"}


@dataclass(slots=True)
class _Kept:
    """A store that forgets."""

    saved: int = 0

    def save(self, outcome: Outcome) -> None:
        self.saved += 1


@dataclass(frozen=True, slots=True)
class _World:
    """A checkout with the fault in it, and what runs it; `tests` are those that heal sees."""

    run: Run
    repository: Repository
    workspace: LocalWorkspace
    runner: SuiteRunner
    folder: Path
    tests: frozenset[str]


def mended(fault: Fault, seed: int, budget: float, until: float) -> tuple[Row | None, str]:
    """Have one mutant healed and judge the patch: the row, or what went wrong.

    After `until` nothing is begun.
    """
    if time.time() > until:
        return None, "time ended"
    try:
        with (
            tempfile.TemporaryDirectory(prefix="mutants-") as place,
            Sandbox.start("strict", _SLOTS) as sandbox,
        ):
            world = _world(fault, seed, sandbox, Path(place))
            row, patch = _healed(fault, world, budget)
            row = _judged(fault, row, patch, world) if patch else row
            row = replace(row, healed=row.right and row.proposed)
            if row.healed and row.seconds > budget:
                row = replace(row, healed=False, why=f"took {row.seconds} seconds")
            return row, ""
    except (HealBotError, _releases.Failed, OSError, subprocess.SubprocessError) as error:
        return None, f"{fault.library} {fault.mutant.name}: {type(error).__name__}: {error}"


def visible(fault: Fault, seed: int) -> frozenset[str]:
    """A seeded half of the suite that still holds a test which fails."""
    rng = random.Random(f"{seed} {fault.mutant.name}")
    half = set(rng.sample(fault.passing, len(fault.passing) // 2))
    if not half & fault.red:
        half.add(rng.choice(sorted(fault.red.intersection(fault.passing))))
    return frozenset(half)


def _world(fault: Fault, seed: int, sandbox: Sandbox, place: Path) -> _World:
    folder = place / "repo"
    _commit(library(fault.library), fault.mutant, folder)
    run = Run(lambda event: None)
    repository = Repository.of(run, folder, place)
    cache = Path(tempfile.gettempdir()) / f"heal-bot-cache-{os.getuid()}"
    python = _libraries.environment(sys.executable)
    workspace = LocalWorkspace(repository, place, cache, given=python)
    runner = SuiteRunner(sandbox, lanes=1)
    return _World(run, repository, workspace, runner, folder, visible(fault, seed))


def _commit(released: Library, mutant: Mutant, folder: Path) -> None:
    shutil.copytree(released.release, folder)
    plant([mutant], folder)
    commit_files(folder, "Release")


def _healed(fault: Fault, world: _World, budget: float) -> tuple[Row, Patch | None]:
    """The whole pipeline on what heal may see, within its budget."""
    head = world.repository.head
    request = HealRequest("mutants", head, tested_sha=head)
    seen = Restricted(world.runner, world.runner, tuple(sorted(world.tests)))
    edges = Edges(world.workspace, seen, (TemplateProposer(),), _Kept())
    start = time.monotonic()
    limited = replace(world.run, deadline=world.run.clock() + budget)
    outcome = heal(limited, request, edges, world.folder, Memory(), SearchLimits())
    mutant = fault.mutant
    row = Row(
        fault.library,
        f"{mutant.path}::{mutant.qualname}",
        mutant.kind,
        len(fault.red & world.tests),
        len(fault.red - world.tests),
        outcome.status,
        candidates=sum(search.tried for search in outcome.searches),
        fixes=sum(a.verdict.status in {"fixed", "unconfirmed"} for a in outcome.attempts),
        seconds=round(time.monotonic() - start, 1),
        why=outcome.notes[0][:300] if outcome.notes else outcome.reason,
    )
    if outcome.patch is None and (suggestion := outcome.suggestion) is not None:
        return replace(row, suggested=True, why=outcome.reason), suggestion.confirmed.patch
    return row, outcome.patch


def _judged(fault: Fault, row: Row, patch: Patch, world: _World) -> Row:
    """The row with the judgement of a patch."""
    released = library(fault.library)
    row = replace(row, change=patch.diff[:2_000])
    if _sameness.is_original(released, fault.mutant, patch):
        return replace(row, right=True, same=True)
    python = _libraries.environment(sys.executable)
    folder = world.folder.parent / "judged"
    if red := _sameness.failing(fault, released, patch, folder, python):
        return replace(row, wrong=True, why=red)
    run = replace(world.run, deadline=world.run.clock() + _JUDGE_SECONDS)
    tree = world.workspace.checkout(run, world.repository.head)
    env = world.workspace.provision(run, tree, RunHints())
    calls, difference = _sameness.compared(fault, released, patch, run, tree, env, world.runner)
    if difference:
        return replace(row, wrong=True, calls=calls, why=difference)
    if calls < _sameness.CALLS:
        why = f"only {calls} calls of release and patch could be compared"
        return replace(row, calls=calls, why=why)
    return replace(row, right=True, calls=calls)
