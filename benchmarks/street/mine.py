"""Mine recipes from clones: `python -m benchmarks.street.mine --data DIR --vein fixes`.

Each project is worked through newest commit first, until enough stand; what is found or dropped
is kept per project below DIR, and a later call goes on from there. Nothing is chosen by how hard it
is to repair: a case is dropped only for what its plain runs say.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from subprocess import SubprocessError
from typing import Any

from benchmarks.street import behind, broken, earlier, recipes
from benchmarks.street.clones import Clone, CloneError, clones, find
from benchmarks.street.history import Change, adapted, mends, repairs
from benchmarks.street.plain import PlainError, Ran
from benchmarks.street.recipes import Recipe, Set
from benchmarks.street.workbench import Bench, DroppedError, green, steady

RUNS = 3


@dataclass(frozen=True, slots=True)
class Vein:
    """Commits that may be cases, what makes one a recipe, and how many of a project are taken."""

    set: Set
    changes: Callable[[Clone], Iterator[Change]]
    validated: Callable[[Bench, Change], Recipe]
    most: int
    tries: int
    seconds: float = 240


def mined(vein: str, repository: str, data: Path, until: float) -> dict[str, Any]:
    """What the history of a project gives: recipes, and why other commits were dropped."""
    kept = data / "mined" / vein / f"{repository.replace('/', '+')}.json"
    if kept.exists():
        return dict(json.loads(kept.read_text()))
    found: list[Recipe] = []
    dropped: Counter[str] = Counter()
    try:
        if time.time() < until:
            _work_through(VEINS[vein], find(data, repository), data, until, found, dropped)
    except (CloneError, PlainError, OSError, SubprocessError, ValueError, SyntaxError) as error:
        dropped[f"project: {_reason(error)}"] += 1
    result = {
        "repository": repository,
        "recipes": [r.model_dump(exclude_defaults=True) for r in found],
        "dropped": dict(dropped),
        "complete": time.time() < until,
    }
    if result["complete"]:
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps(result))
    print(f"{repository}: {len(found)}, dropped {dict(dropped)}", file=sys.stderr, flush=True)
    return result


def _reason(error: Exception) -> str:
    return " ".join(str(error).split())[:120] or type(error).__name__


def _work_through(
    vein: Vein, clone: Clone, data: Path, until: float, found: list[Recipe], dropped: Counter[str]
) -> None:
    with tempfile.TemporaryDirectory(prefix="street-", dir=data) as name:
        bench: Bench | None = None
        begin = time.monotonic()
        for tried, change in enumerate(vein.changes(clone)):
            if len(found) >= vein.most or tried >= vein.tries or time.time() > until:
                return
            if time.monotonic() - begin > vein.seconds:
                dropped["project: no more time for it"] += 1
                return
            bench = bench or green(clone, data, Path(name), change.sha)
            try:
                found.append(vein.validated(bench, change))
            except DroppedError as error:
                dropped[str(error)] += 1
            except PlainError as error:
                late = "more than" in str(error)
                dropped["slow suite" if late else "its tests do not start"] += 1
                if late:
                    return


def repaired(bench: Bench, change: Change) -> Recipe:
    """The recipe of a repair whose tests fail before and pass after it, thrice the same."""
    files = tuple(t for t in change.tests if t.endswith(".py") and "test" in t.rpartition("/")[2])
    only = tuple(path for path in files if not path.endswith("conftest.py"))
    only = tuple(path for path in only if bench.clone.read(change.sha, path))
    bench.at(change.sha)
    if not _first(bench, change, only).red:
        raise DroppedError("its tests pass without it")
    if bench.run(change.sha, change.sha, (), ()).red:
        raise DroppedError("red when repaired")
    whole = [bench.run(change.parent, change.sha, change.tests, ()) for _ in range(RUNS)]
    if any(bench.run(change.sha, change.sha, (), ()).red for _ in range(RUNS - 1)):
        raise DroppedError("its runs differ")
    ran = steady(whole)
    if not ran.red:
        raise DroppedError("its tests pass without it")
    return Recipe(
        id=f"fixes/{bench.name}-{change.sha[:8]}",
        part="fixes", repository=bench.clone.repository, base=change.parent, fix=change.sha,
        tests=change.tests, sources=change.sources, python=bench.python,
        red=tuple(sorted(ran.red)), passed=ran.passed, seconds=round(ran.seconds, 1),
    )  # fmt: skip


def _first(bench: Bench, change: Change, only: tuple[str, ...]) -> Ran:
    """The changed tests alone; with the environment made anew where something is missing in it."""
    try:
        return bench.run(change.parent, change.sha, change.tests, only)
    except PlainError as error:
        if "No module named" not in str(error):
            raise
        bench.open(change.sha)
        return bench.run(change.parent, change.sha, change.tests, only)


VEINS = {
    "fixes": Vein("fixes", repairs, repaired, 4, 14),
    "intended": Vein("intended", adapted, behind.left_behind, 3, 12, 120),
    "earlier": Vein("regressions", earlier.repaired, earlier.regression, 2, 6, 120),
    "broken": Vein("regressions", mends, broken.regression, 2, 8, 120),
}


def _order(repository: str) -> tuple[float, str]:
    """Projects of which a plain environment is known first, quick suites before slow ones."""
    seconds = [r.seconds for r in recipes.load("fixes") if r.repository == repository]
    return min(seconds, default=math.inf), recipes.digest(repository)


def main(argv: list[str]) -> int:
    """Mine all clones of the folder, and write the recipes where asked."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.street.mine")
    parser.add_argument("--data", type=Path, required=True, help="the folder with the clones")
    parser.add_argument("--vein", choices=VEINS, default="fixes", help="what to look for")
    parser.add_argument("--only", default="", help="projects whose name has this in it")
    parser.add_argument("--minutes", type=float, default=60, help="when to stop")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--write", action="store_true", help="add them to the repository")
    asked = parser.parse_args(argv)
    data = asked.data.resolve()
    chosen = [c.repository for c in clones(data) if asked.only in c.repository]
    names = sorted(chosen, key=_order)
    until = time.time() + 60 * asked.minutes
    given = ([asked.vein] * len(names), names, [data] * len(names), [until] * len(names))
    with ProcessPoolExecutor(asked.jobs) as pool:
        results = list(pool.map(mined, *given))
    dropped: Counter[str] = Counter()
    for result in results:
        dropped.update(result["dropped"])
    found = [Recipe.model_validate_json(json.dumps(r)) for one in results for r in one["recipes"]]
    if asked.write:
        ids = {recipe.id for recipe in found}
        others = [r for r in recipes.load(VEINS[asked.vein].set) if r.id not in ids]
        recipes.save(VEINS[asked.vein].set, [*others, *found])
    print(json.dumps({
        asked.vein: len(found), "projects": len({r.repository for r in found}),
        "tune": sum(r.split == "tune" for r in found), "dropped": dict(dropped.most_common()),
        "complete": all(result["complete"] for result in results),
    }))  # fmt: skip
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
