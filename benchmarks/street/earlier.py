"""Bugs that a commit of the main branch brought, with the tests of their fix in place before it.

A fix's tests are as red with its parent's source as those of a mined fix. Where they pass a few
commits earlier, the commit that ended that is a regression, and it is known.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from benchmarks.street import recipes
from benchmarks.street.clones import Clone, CloneError
from benchmarks.street.compared import functions_changed
from benchmarks.street.history import HUNK, Change
from benchmarks.street.recipes import Recipe
from benchmarks.street.workbench import Bench, DroppedError

BACK = 30
_BLAMED = re.compile(r"^([0-9a-f]{40}) ", re.MULTILINE)


def repaired(clone: Clone) -> Iterator[Change]:
    """The mined fixes of a project that mend what a commit broke not long before."""
    for recipe in recipes.load("fixes"):
        if recipe.repository == clone.repository and _culprit(clone, recipe):
            yield Change(recipe.fix, recipe.base, recipe.sources, recipe.tests)


def _culprit(clone: Clone, recipe: Recipe) -> str:
    """The last commit to write what the fix changes, in functions that were there before it; ''."""
    line = clone.git("rev-list", "--first-parent", f"--max-count={BACK}", recipe.base).split()
    found = [line.index(sha) for sha in _blamed(clone, recipe) if sha in line]
    if not found:
        return ""
    culprit = line[min(found)]
    for path in recipe.sources:
        right, broken = clone.read(recipe.fix, path), clone.read(recipe.base, path)
        there = functions_changed("", clone.read(f"{culprit}^", path))
        if not functions_changed(broken, right) <= there:
            return ""
    return culprit


def _blamed(clone: Clone, recipe: Recipe) -> set[str]:
    """The commits that wrote the lines that a fix changes or stands beside."""
    found: set[str] = set()
    for path in recipe.sources:
        change = clone.git(
            "diff", "--unified=0", "--no-ext-diff", recipe.base, recipe.fix, "--", path
        )
        for match in HUNK.finditer(change):
            first, count = max(1, int(match[1])), max(1, int(match[2] or 1))
            lines = f"-L{first},{first + count - 1}"
            try:
                said = clone.git("blame", "--porcelain", "-s", "-w", lines, recipe.base, "--", path)
            except CloneError:
                continue
            found |= set(_BLAMED.findall(said))
    return found


def regression(bench: Bench, change: Change) -> Recipe:
    """The recipe of a commit on which the fix's tests turn red, all else being green before it."""
    fixes = recipes.load("fixes")
    recipe = next(r for r in fixes if (r.repository, r.fix) == (bench.clone.repository, change.sha))
    culprit = _culprit(bench.clone, recipe)
    red, files = set(recipe.red), tuple(sorted({t.partition("::")[0] for t in recipe.red}))
    bench.at(change.sha)
    before = bench.run(f"{culprit}^", change.sha, change.tests, files)
    if before.red & red or before.passed < len(red):
        raise DroppedError("its tests fail before it")
    if not red <= bench.run(culprit, change.sha, change.tests, files).red:
        raise DroppedError("its tests pass with it")
    if bench.run(f"{culprit}^", change.sha, change.tests, ()).red:
        raise DroppedError("other tests fail before it")
    name = f"regressions/{bench.name}-{culprit[:8]}"
    return recipe.model_copy(update={"id": name, "part": "regressions", "culprit": culprit})
