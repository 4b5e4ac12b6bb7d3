"""Commits that turned their own suite red, found from the later commit that mends it."""

from __future__ import annotations

from itertools import pairwise

from benchmarks.street.clones import Clone
from benchmarks.street.history import Change, is_source
from benchmarks.street.plain import Ran
from benchmarks.street.recipes import Recipe
from benchmarks.street.workbench import Bench, DroppedError, steady

RUNS = 3
BACK = 15


def regression(bench: Bench, change: Change) -> Recipe:
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
        "rev-list", "--first-parent", f"--max-count={BACK + 1}", change.parent
    ).split()
    for base, before in pairwise(line):
        ran = bench.run(before, before, (), ())
        if not ran.red:
            return base, before
    raise DroppedError(f"no green commit among the {BACK} before it")


def _is_of_source(clone: Clone, base: str, before: str, change: Change, ran: Ran) -> None:
    """See to it that source broke the suite, and that the mend can be put on it as it is."""
    files = sorted({test.partition("::")[0] for test in ran.red})
    changed = clone.git("diff", "--name-only", "--no-renames", before, base).splitlines()
    if set(files) & set(changed) or not any(is_source(path) for path in changed):
        raise DroppedError("not broken by source")
    if clone.git("diff", "--name-only", base, change.parent, "--", *change.sources).strip():
        raise DroppedError("the source changed between")
