"""Projects of `--data` worked through side by side; what each of them gives is kept.

A later call goes on from there: a project that has its file is not worked through again.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from subprocess import SubprocessError
from typing import Any

from benchmarks.street.clones import CloneError
from benchmarks.street.plain import PlainError
from benchmarks.street.recipes import Recipe
from heal_bot.core.errors import HealBotError
from tests.github_server.repository import GitRefused

# What ends the work on a project, and not that on the others.
FAILED = (CloneError, GitRefused, HealBotError, OSError, PlainError, SubprocessError, ValueError,
          SyntaxError)  # fmt: skip
Row = dict[str, Any]


def side_by_side(
    work: Callable[[str, float], Any], names: Sequence[str], asked: argparse.Namespace
) -> list[Any]:
    """What comes of each project, in processes of their own; `work` is told when time ends."""
    until = time.time() + 60 * asked.minutes
    with ProcessPoolExecutor(asked.jobs, max_tasks_per_child=1) as pool:
        return list(pool.map(work, names, [until] * len(names)))


def place(folder: Path, repository: str, kind: str) -> Path:
    """The file of a project."""
    return folder / f"{repository.replace('/', '+')}.{kind}"


def dig(
    folder: Path, repository: str, until: float,
    work: Callable[[list[Recipe], Counter[str]], None], *, partly: bool = False,
) -> Row:  # fmt: skip
    """The recipes of a project, and why others were dropped; with `partly` kept half done too."""
    kept = place(folder, repository, "json")
    if kept.exists():
        return dict(json.loads(kept.read_text()))
    found: list[Recipe] = []
    dropped: Counter[str] = Counter()
    try:
        if time.time() < until:
            work(found, dropped)
    except FAILED as error:
        dropped[f"project: {said(error)}"] += 1
    result = {
        "repository": repository,
        "recipes": [r.model_dump(exclude_defaults=True) for r in found],
        "dropped": dict(dropped),
        "complete": time.time() < until,
    }
    if result["complete"] or (partly and found):
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps(result))
    print(f"{repository}: {len(found)}, dropped {dict(dropped)}", file=sys.stderr, flush=True)
    return result


def said(error: Exception) -> str:
    """An error in one line."""
    return " ".join(str(error).split())[:120] or type(error).__name__


def summed(name: str, results: Iterable[Row]) -> tuple[list[Recipe], Row]:
    """The recipes of all projects, and the figures of these."""
    dropped: Counter[str] = Counter()
    found: list[Recipe] = []
    for result in results:
        dropped.update(result["dropped"])
        found += [Recipe.model_validate_json(json.dumps(row)) for row in result["recipes"]]
    return found, {
        name: len(found), "projects": len({r.repository for r in found}),
        "tune": sum(r.split == "tune" for r in found), "dropped": dict(dropped.most_common()),
    }  # fmt: skip


def keep_rows(kept: Path, repository: str, until: float, found: Iterator[Row]) -> int:
    """Write the rows of a project, one line each; how many there are."""
    if kept.exists() or time.time() > until:
        return 0
    rows, note, part = 0, "", kept.with_suffix(".part")
    kept.parent.mkdir(parents=True, exist_ok=True)
    with part.open("w", encoding="utf-8", buffering=1) as file:
        try:
            for row in found:
                file.write(f"{json.dumps({'project': repository, **row})}\n")
                rows += 1
                if time.time() > until:
                    break
        except FAILED as error:
            note = f"{type(error).__name__}: {said(error)}"
    part.rename(kept)
    print(f"{kept.stem}: {rows} rows {note}", file=sys.stderr, flush=True)
    return rows
