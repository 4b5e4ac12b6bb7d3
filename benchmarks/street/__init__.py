"""Real and realistic red runs through the action as it ships: `python -m benchmarks street`.

Clones come from the folder of `--data` (benchmarks/README.md says how one gets them). What came of
a case is kept there by engine, and a later call goes on from it. `--limit` takes the first cases of
each part in an order by hash, so that a few of them are a fair sample.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks._cases import options_of
from benchmarks.street import acted, case, figures, real, recipes, situation
from benchmarks.street.figures import Row
from benchmarks.street.recipes import PARTS, Part
from benchmarks.street.results import Results
from benchmarks.street.staged import Engine

_SECONDS = 18 * 60
_LIMIT = 4
# A case by its id, and what runs it.
Case = tuple[str, Callable[[], Row]]


def main(argv: list[str]) -> int:
    """Run the cases that have no row yet until time is up, then print the figures of all rows."""
    asked = options_of("street").parse_args(argv)
    data, inputs = asked.data.resolve(), {}
    python = asked.engine or sys.executable
    version = _version(python)
    if asked.minutes:
        inputs["max-minutes"] = asked.minutes
        version += f"-{asked.minutes}-minutes"
    if asked.model:
        inputs |= {"openai-base-url": asked.model, "model": "live"}
        version += "-model"
    engine = Engine(python, version, inputs)
    results = Results(data / "results", version)
    parts = tuple(asked.part or PARTS)
    limit = asked.limit or (None if asked.full or asked.only else _LIMIT)
    cases = chosen(parts, asked.only, limit, partial(_cases, data=data, engine=engine))
    bounded = asked.limit is None and not asked.full
    rows = fill(results, cases, _SECONDS if bounded else math.inf, quiet=asked.json)
    told = summary(rows, version, complete=len(rows) == len(cases))
    if asked.against:
        before = Results(data / "results", asked.against)
        told["against"] = figures.difference(before.rows([row.id for row in rows]), rows)
    if asked.write:
        results.write()
    print(json.dumps(told))
    return 0


def fill(results: Results, cases: Sequence[Case], seconds: float, *, quiet: bool) -> list[Row]:
    """Run the cases that have no row yet until time is up; the rows of all."""
    begin = time.monotonic()
    for identity, play in cases:
        if time.monotonic() - begin > seconds:
            break
        if identity not in results:
            row = play()
            results.keep(row)
            if not quiet:
                print(shown(row), file=sys.stderr, flush=True)
    return results.rows([identity for identity, _ in cases])


def chosen(
    parts: Sequence[Part], only: str, limit: int | None, cases: Callable[[Part], Iterable[Case]]
) -> list[Case]:
    """The cases of these parts, each with what runs it; parts take turns, in an order by hash."""
    found: list[list[Case]] = []
    for part in parts:
        here = [(name, play) for name, play in cases(part) if only in name]
        found.append(sorted(here, key=lambda case: recipes.digest(case[0]))[:limit])
    longest = max(map(len, found), default=0)
    return [some[n] for n in range(longest) for some in found if n < len(some)]


def _cases(part: Part, data: Path, engine: Engine) -> Iterator[Case]:
    """The cases of a part by id."""
    if part != "situations":
        for recipe in recipes.load(part):
            yield recipe.id, partial(case.run, recipe, data, engine)
        return
    for one in (*situation.load("own"), *situation.load("written")):
        yield f"situations/{one.name}", partial(acted.run_own, one, data, engine)
    for found in real.load():
        yield found.id, partial(acted.run_real, found, data, engine)
    for recipe in recipes.load("intended"):
        yield recipe.id, partial(acted.run_behind, recipe, data, engine)


def shown(row: Row) -> str:
    """A line for a person: of `held` nothing but that it was run."""
    if row.split == "held":
        return f"{row.part}: one of held, {row.seconds} s"
    found = f"rank {row.rank}, {row.offered} {row.judgement}".strip()
    return f"{row.id}: {row.status}, {row.seconds} s, {found} {row.unstaged}"


def summary(rows: list[Row], version: str, *, complete: bool) -> dict[str, Any]:
    """The figures of every part and half."""
    halves: dict[str, Any] = {}
    for part in PARTS:
        reckon = figures.situations if part == "situations" else figures.half
        halves[part] = {
            name: reckon([r for r in rows if (r.part, r.split) == (part, name)])
            for name in ("held", "tune")
        }
    halves["history"] = {
        name: figures.history([r for r in rows if r.split == name]) for name in ("held", "tune")
    }
    projects = {recipe.repository for name in recipes.SETS for recipe in recipes.load(name)}
    return {"benchmark": "street", "engine": version, **halves, "projects": len(projects),
            "moved": len(recipes.moved()), "complete": complete}  # fmt: skip


def _version(engine: str) -> str:
    """The commit of the heal-bot that an interpreter has, with a mark where it was changed."""
    argv = [engine, "-I", "-c", "import heal_bot; print(heal_bot.__file__)"]
    file = subprocess.run(argv, check=True, capture_output=True, text=True, timeout=60).stdout
    argv = ["git", "-C", str(Path(file.strip()).parent), "describe", "--always", "--dirty",
            "--exclude=*", "--abbrev=10"]  # fmt: skip
    return subprocess.run(argv, check=True, capture_output=True, text=True).stdout.strip()
