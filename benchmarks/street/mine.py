"""Mine the recipes of repairs from clones: `python -m benchmarks.street.mine --data DIR`.

Each project is worked through newest commit first, until four repairs stand; what is found or
dropped is kept per project below DIR, and a later call goes on from there. Nothing is chosen by
how hard it is to repair: a case is dropped only for what its plain runs say.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from subprocess import SubprocessError
from typing import Any

from benchmarks.street import plain, recipes
from benchmarks.street.clones import Clone, CloneError, clones, find, show
from benchmarks.street.history import Change, repairs
from benchmarks.street.plain import PlainError
from benchmarks.street.recipes import Recipe

MOST = 4
RUNS = 3
_TRIES = 14
_SUITE_SECONDS = 60
_PROJECT_SECONDS = 240
_DECLARE = ("pyproject.toml", "setup.py", "setup.cfg", "requirements", "requirements.txt",
            "dev-requirements.txt", "test-requirements.txt", "test_requirements.txt",
            "requirements-dev.txt", "requirements-test.txt", "requirements_dev.txt",
            "requirements_test.txt")  # fmt: skip
_PYTHONS = ("3.11", "3.9")


class DroppedError(Exception):
    """Why a commit is no case, in words that are counted."""


class Bench:
    """A project's work tree and its plain environment."""

    def __init__(self, clone: Clone, data: Path, place: Path, python: str) -> None:
        self.clone, self.data, self.python = clone, data, python
        self.tree, self.venv = place / "tree", place / f"venv-{python}"
        self.place, self.declared = place, ""

    def at(self, sha: str) -> None:
        """See to it that the environment is what the commit declares."""
        if self.declared != self.clone.git("ls-tree", sha, "--", *_DECLARE):
            self.open(sha)

    def open(self, sha: str) -> None:
        """The project at a commit, installed with what its tests need."""
        if not self.tree.exists():
            self.clone.check_out(self.tree)
        show(self.tree, sha)
        self.declared = self.clone.git("ls-tree", sha, "--", *_DECLARE)
        plain.make(self.tree, self.venv, self.python, self.data)
        plain.complete(self.tree, self.venv, self.data)

    def run(self, base: str, fix: str, tests: tuple[str, ...], only: tuple[str, ...]) -> plain.Ran:
        """One run at `base` with the tests of `fix`."""
        show(self.tree, base, fix, tests)
        return plain.run(self.tree, self.venv, self.data, only, _SUITE_SECONDS)


def mined(repository: str, data: Path, until: float) -> dict[str, Any]:
    """What the history of a project gives: recipes, and why other commits were dropped."""
    kept = data / "mined" / f"{repository.replace('/', '+')}.json"
    if kept.exists():
        return dict(json.loads(kept.read_text()))
    clone = find(data, repository)
    found: list[Recipe] = []
    dropped: Counter[str] = Counter()
    try:
        _work_through(clone, data, until, found, dropped)
    except (CloneError, PlainError, OSError, SubprocessError, SyntaxError) as error:
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
    clone: Clone, data: Path, until: float, found: list[Recipe], dropped: Counter[str]
) -> None:
    with tempfile.TemporaryDirectory(prefix="street-", dir=data) as name:
        bench: Bench | None = None
        begin = time.monotonic()
        for tried, change in enumerate(repairs(clone)):
            if len(found) >= MOST or tried >= _TRIES or time.time() > until:
                return
            if time.monotonic() - begin > _PROJECT_SECONDS:
                dropped["project: no more time for it"] += 1
                return
            try:
                if bench is None:
                    bench = _bench(clone, data, Path(name), change)
                found.append(_validated(bench, change))
            except DroppedError as error:
                dropped[str(error)] += 1
                if str(error).startswith("slow"):
                    return


def _bench(clone: Clone, data: Path, place: Path, change: Change) -> Bench:
    """The environment for the newest commit, with the first Python whose whole suite is green."""
    said = ""
    for python in _PYTHONS:
        bench = Bench(clone, data, place, python)
        try:
            bench.open(change.sha)
            ran = bench.run(change.sha, change.sha, (), ())
        except PlainError as error:
            said = str(error)
            if "more than" in said:
                break
            continue
        if not ran.red:
            return bench
        said = f"its suite is red ({len(ran.red)} of {len(ran.red) + ran.passed}) when repaired"
    raise PlainError(said)


def _validated(bench: Bench, change: Change) -> Recipe:
    """The recipe of a repair whose tests fail before and pass after it, thrice the same."""
    files = tuple(t for t in change.tests if t.endswith(".py") and "test" in t.rpartition("/")[2])
    only = tuple(path for path in files if not path.endswith("conftest.py"))
    only = _there(bench, change, only)
    try:
        bench.at(change.sha)
        first = _first(bench, change, only)
        if not first.red:
            raise DroppedError("its tests pass without it")
        right = bench.run(change.sha, change.sha, (), ())
        if right.red:
            raise DroppedError("red when repaired")
        whole = [bench.run(change.parent, change.sha, change.tests, ()) for _ in range(RUNS)]
        again = [bench.run(change.sha, change.sha, (), ()) for _ in range(RUNS - 1)]
    except PlainError as error:
        words = "slow suite" if "more than" in str(error) else "its tests do not start"
        raise DroppedError(words) from None
    if len({ran.red for ran in whole}) > 1 or any(ran.red for ran in again):
        raise DroppedError("its runs differ")
    red = whole[0].red
    if not red:
        raise DroppedError("its tests pass without it")
    if any("::" not in test or test.startswith("::") for test in red):
        raise DroppedError("its tests do not import without it")
    if len(red) > 60:
        raise DroppedError("more than 60 tests are red")
    return Recipe(
        id=f"fixes/{bench.clone.repository.rpartition('/')[2].lower()}-{change.sha[:8]}",
        part="fixes", repository=bench.clone.repository, base=change.parent, fix=change.sha,
        tests=change.tests, sources=change.sources, python=bench.python,
        red=tuple(sorted(red)), passed=whole[0].passed, seconds=round(whole[0].seconds, 1),
    )  # fmt: skip


def _first(bench: Bench, change: Change, only: tuple[str, ...]) -> plain.Ran:
    """The changed tests alone; with the environment made anew where something is missing in it."""
    try:
        return bench.run(change.parent, change.sha, change.tests, only)
    except PlainError as error:
        if "No module named" not in str(error):
            raise
        bench.open(change.sha)
        return bench.run(change.parent, change.sha, change.tests, only)


def _there(bench: Bench, change: Change, paths: tuple[str, ...]) -> tuple[str, ...]:
    """The changed test files that the repair still has."""
    return tuple(path for path in paths if bench.clone.read(change.sha, path)) or ()


def main(argv: list[str]) -> int:
    """Mine all clones of the folder, and write the recipes where asked."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.street.mine")
    parser.add_argument("--data", type=Path, required=True, help="the folder with the clones")
    parser.add_argument("--only", default="", help="projects whose name has this in it")
    parser.add_argument("--minutes", type=float, default=60, help="when to stop")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--write", action="store_true", help="add them to the repository")
    asked = parser.parse_args(argv)
    data = asked.data.resolve()
    names = [c.repository for c in clones(data) if asked.only in c.repository]
    until = time.time() + 60 * asked.minutes
    with ProcessPoolExecutor(asked.jobs) as pool:
        results = list(pool.map(mined, names, [data] * len(names), [until] * len(names)))
    dropped: Counter[str] = Counter()
    for result in results:
        dropped.update(result["dropped"])
    found = [Recipe.model_validate_json(json.dumps(r)) for one in results for r in one["recipes"]]
    if asked.write:
        kept = [r for r in recipes.load("fixes") if r.repository not in names]
        recipes.save("fixes", [*kept, *found])
    print(json.dumps({
        "fixes": len(found), "projects": len({r.repository for r in found}),
        "tune": sum(r.split == "tune" for r in found), "dropped": dict(dropped.most_common()),
        "complete": all(result["complete"] for result in results),
    }))  # fmt: skip
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
