"""Commits that change behaviour on purpose, played with the tests that were there before them."""

from __future__ import annotations

from benchmarks.street.history import Change
from benchmarks.street.recipes import Recipe
from benchmarks.street.workbench import Bench, DroppedError, steady

RUNS = 3


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
