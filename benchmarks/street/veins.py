"""What makes a commit a case: it leaves its tests behind, breaks the suite, or brings a bug.

A bug that a commit of the main branch brought is known where the tests of its fix, in place before
it, pass a few commits earlier: as red with the parent's source as those of a mined fix.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from benchmarks.street import recipes
from benchmarks.street.clones import Clone, CloneError
from benchmarks.street.compared import functions_changed
from benchmarks.street.history import HUNK, Change, is_source
from benchmarks.street.plain import Ran
from benchmarks.street.recipes import Recipe
from benchmarks.street.workbench import Bench, DroppedError, steady

RUNS = 3
# How many commits back from the one that mends a break is looked for, and the one that brought a
# bug.
_BROKEN, _BROUGHT = 15, 30
_BLAMED = re.compile(r"^([0-9a-f]{40}) ", re.MULTILINE)


def left_behind(bench: Bench, change: Change) -> Recipe:
    """The recipe of a commit whose own tests pass, and whose parent's fail with its source."""
    old = tuple(t for t in change.tests if t.endswith(".py") and bench.clone.read(change.parent, t))
    only = tuple(t for t in old if "test" in t.rpartition("/")[2])
    bench.at(change.sha)
    if not only or not bench.run(change.sha, change.parent, change.tests, only).red:
        raise DroppedError("the tests before it pass with it")
    whole = [bench.run(change.sha, change.parent, change.tests, ()) for _ in range(RUNS)]
    ran = steady(whole)
    if {test.partition("::")[0] for test in ran.red} - set(old):
        raise DroppedError("a test fails that it leaves alone")
    if bench.run(change.parent, change.parent, (), ()).red:
        raise DroppedError("red before it")
    if bench.run(change.sha, change.sha, (), ()).red:
        raise DroppedError("red as it is")
    return Recipe(
        id=f"situations/intended/{bench.name}-{change.sha[:8]}", part="situations",
        repository=bench.clone.repository, base=change.parent, fix=change.sha, tests=change.tests,
        sources=change.sources, python=bench.python, red=tuple(sorted(ran.red)),
        passed=ran.passed, seconds=round(ran.seconds, 1),
    )  # fmt: skip


def broke(bench: Bench, change: Change) -> Recipe:
    """The recipe of a commit that broke the suite which `change` mends, thrice the same."""
    bench.at(change.sha)
    if bench.run(change.sha, change.sha, (), ()).red:
        raise DroppedError("red when mended")
    ran = bench.run(change.parent, change.parent, (), ())
    if not ran.red:
        raise DroppedError("its tests pass without it")
    steady([ran])
    base, before = _walked(bench, change)
    _is_of_source(bench.clone, base, before, change, ran)
    whole = steady([bench.run(base, base, (), ()) for _ in range(RUNS)])
    if any(bench.run(base, change.sha, change.sources, ()).red for _ in range(RUNS)):
        raise DroppedError("red when only its source is mended")
    return Recipe(
        id=f"regressions/{bench.name}-{base[:8]}", part="regressions",
        repository=bench.clone.repository, base=base, fix=change.sha, sources=change.sources,
        python=bench.python, red=tuple(sorted(whole.red)), passed=whole.passed,
        seconds=round(whole.seconds, 1),
    )  # fmt: skip


def _walked(bench: Bench, change: Change) -> tuple[str, str]:
    """The first red commit on a green one, and that one, along first parents from the mend."""
    line = bench.clone.git(
        "rev-list", "--first-parent", f"--max-count={_BROKEN + 1}", change.parent
    ).split()
    for base, before in pairwise(line):
        ran = bench.run(before, before, (), ())
        if not ran.red:
            return base, before
    raise DroppedError(f"no green commit among the {_BROKEN} before it")


def _is_of_source(clone: Clone, base: str, before: str, change: Change, ran: Ran) -> None:
    """See to it that source broke the suite, and that the mend can be put on it as it is."""
    files = sorted({test.partition("::")[0] for test in ran.red})
    changed = clone.git("diff", "--name-only", "--no-renames", before, base).splitlines()
    if set(files) & set(changed) or not any(is_source(path) for path in changed):
        raise DroppedError("not broken by source")
    if clone.git("diff", "--name-only", base, change.parent, "--", *change.sources).strip():
        raise DroppedError("the source changed between")


def mended(clone: Clone) -> Iterator[Change]:
    """The mined fixes of a project that mend what a commit broke not long before."""
    for recipe in recipes.load("fixes"):
        if recipe.repository == clone.repository and _culprit(clone, recipe):
            yield Change(recipe.fix, recipe.base, recipe.sources, recipe.tests)


def _culprit(clone: Clone, recipe: Recipe) -> str:
    """The last commit to write what the fix changes, in functions that were there before it; ''."""
    line = clone.git("rev-list", "--first-parent", f"--max-count={_BROUGHT}", recipe.base).split()
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


def brought(bench: Bench, change: Change) -> Recipe:
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
