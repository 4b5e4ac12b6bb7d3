"""Baselines of the street, kept to rank suspects on them: `python -m benchmarks.street.baselines`.

Each is what `pipeline.heal` knows when it begins to locate: the failing suite with what every test
executed, and the files of the commit. They lie in `--data`, for they hold others' code.
"""

from __future__ import annotations

import contextlib
import importlib
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks._cases import options_of
from benchmarks.street import case, recipes
from benchmarks.street.clones import CloneError
from benchmarks.street.faults import ConflictError
from benchmarks.street.plain import PlainError
from benchmarks.street.recipes import Recipe, Set, Split
from benchmarks.street.staged import Stage, record, staged
from heal_bot import pipeline, wiring
from heal_bot.core import settings
from heal_bot.core.errors import HealBotError
from heal_bot.core.model import Baseline, Outcome
from heal_bot.ports import Tree

_FAILED = (CloneError, ConflictError, HealBotError, OSError, PlainError, subprocess.SubprocessError)


@dataclass(frozen=True, slots=True)
class Kept:
    """A baseline and the tree that it is of; `guilty` are the functions that the right change
    touches, as path and outermost function.
    """

    id: str
    part: str
    split: Split
    guilty: frozenset[tuple[str, str]]
    baseline: Baseline
    files: Mapping[str, bytes]
    changed: Mapping[str, frozenset[int]]


def main(argv: list[str]) -> int:
    """Keep the baselines of the cases that have none yet, in an order by hash."""
    asked = options_of("street.baselines").parse_args(argv)
    data = asked.data.resolve()
    chosen = sorted(recipes.load(asked.part), key=lambda recipe: recipes.digest(recipe.id))
    for recipe in chosen[: asked.limit]:
        path = _path(data, recipe.id)
        if path.exists():
            continue
        try:
            kept = _kept(recipe, data)
        except _FAILED as error:
            said = f"{recipe.id}: {error}"[:300] if recipe.split == "tune" else ""
            print(f"{recipe.split}: not kept {said}", flush=True)
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(pickle.dumps(kept))
        print(f"{recipe.split}: kept", flush=True)
    return 0


def load(data: Path, part: Set) -> Iterator[Kept]:
    """The baselines that are kept of a part."""
    for recipe in recipes.load(part):
        path = _path(data, recipe.id)
        if path.exists():
            kept: Kept = pickle.loads(path.read_bytes())
            yield kept


def _path(data: Path, identity: str) -> Path:
    return data / "baselines" / f"{recipes.digest(identity)[:20]}.pickle"


def _kept(recipe: Recipe, data: Path) -> Kept:
    (data / "scratch").mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=data / "scratch", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        folder.chmod(0o755)
        with staged(recipe, data, folder) as stage:
            record(stage, recipe, folder / "venv", data)
            baseline, files, changed = _begun(stage, folder)
            return Kept(
                recipe.id, recipe.part, recipe.split,
                frozenset(case.guilty(recipe, stage, data)), baseline, files, changed,
            )  # fmt: skip


def _begun(
    stage: Stage, folder: Path
) -> tuple[Baseline, dict[str, bytes], dict[str, frozenset[int]]]:
    """What the pipeline knows before it locates, with the options of the command line."""
    address, repo = f"{stage.github.url}/{stage.github.world.name}.git", folder / "full"
    argv = ["git", "clone", "--quiet", address, str(repo)]
    subprocess.run(argv, check=True, capture_output=True, timeout=300)
    job = wiring.HealJob(repo, folder / "bundle", (str(stage.runner.workspace / "junit.xml"),))
    chosen = settings.from_process(None, {}, {})
    with wiring.connect(job, chosen, lambda event: None, lambda: False) as edges:
        run, request = edges.run, edges.request
        tree = edges.workspace.checkout(run, request.base_sha)
        report = pipeline._read(run, request, edges.root, tree, edges.workspace)
        reached = pipeline.Edges(edges.workspace, edges.runner, (), edges.store)
        begun = pipeline._reproduce(run, request, report, tree, reached)
        if isinstance(begun, Outcome):
            raise PlainError(begun.reason)
        return begun.baseline, dict(_sources(tree)), tree.changed_lines()


def _sources(tree: Tree) -> Iterator[tuple[str, bytes]]:
    """The Python files of a tree that are regular files."""
    for path in tree.paths():
        if path.endswith(".py"):
            with contextlib.suppress(KeyError):
                yield path, tree.read(path)


if __name__ == "__main__":
    # What is pickled belongs to the module under its name.
    module = importlib.import_module("benchmarks.street.baselines")
    raise SystemExit(module.main(sys.argv[1:]))
