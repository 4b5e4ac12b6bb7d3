"""Mine recipes from clones: `python -m benchmarks.street.mine --data DIR --vein fixes`.

Each project is worked through newest commit first, until enough stand; what is found or dropped
is kept per project below DIR, and a later call goes on from there. Nothing is chosen by how hard it
is to repair: a case is dropped only for what its plain runs say.
"""

from __future__ import annotations

import json
import math
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks._cases import options_of
from benchmarks.street import recipes, veins
from benchmarks.street.clones import Clone, clones, find
from benchmarks.street.digging import dig, side_by_side, summed
from benchmarks.street.history import Change, adapted, mends, repairs
from benchmarks.street.plain import PlainError, Ran
from benchmarks.street.recipes import Recipe, Set
from benchmarks.street.workbench import Bench, DroppedError, green, steady


@dataclass(frozen=True, slots=True)
class Vein:
    """Commits that may be cases, what makes one a recipe, and how many of a project are taken."""

    set: Set
    changes: Callable[[Clone], Iterator[Change]]
    validated: Callable[[Bench, Change], Recipe]
    most: int
    tries: int
    seconds: float = 240


def mined(repository: str, until: float, vein: str, data: Path) -> dict[str, Any]:
    """What the history of a project gives: recipes, and why other commits were dropped."""

    def work(found: list[Recipe], dropped: Counter[str]) -> None:
        _work_through(VEINS[vein], find(data, repository), data, until, found, dropped)

    return dig(data / "mined" / vein, repository, until, work)


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
    whole = [bench.run(change.parent, change.sha, change.tests, ()) for _ in range(veins.RUNS)]
    if any(bench.run(change.sha, change.sha, (), ()).red for _ in range(veins.RUNS - 1)):
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
    "intended": Vein("intended", adapted, veins.left_behind, 3, 12, 120),
    "earlier": Vein("regressions", veins.mended, veins.brought, 2, 6, 120),
    "broken": Vein("regressions", mends, veins.broke, 2, 8, 120),
}


def _order(repository: str) -> tuple[float, str]:
    """Projects of which a plain environment is known first, quick suites before slow ones."""
    seconds = [r.seconds for r in recipes.load("fixes") if r.repository == repository]
    return min(seconds, default=math.inf), recipes.digest(repository)


def main(argv: list[str]) -> int:
    """Mine all clones of the folder, and write the recipes where asked."""
    asked = options_of("street.mine").parse_args(argv)
    data = asked.data.resolve()
    chosen = [c.repository for c in clones(data) if asked.only in c.repository]
    work = partial(mined, vein=asked.vein, data=data)
    results = side_by_side(work, sorted(chosen, key=_order), asked)
    found, told = summed(asked.vein, results)
    if asked.write:
        ids = {recipe.id for recipe in found}
        others = [r for r in recipes.load(VEINS[asked.vein].set) if r.id not in ids]
        recipes.save(VEINS[asked.vein].set, [*others, *found])
    print(json.dumps({**told, "complete": all(result["complete"] for result in results)}))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
