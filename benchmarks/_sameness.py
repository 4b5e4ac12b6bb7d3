"""Whether a patch does what the release does: held-out tests first, then calls of functions."""

from __future__ import annotations

import ast
import shutil
from collections.abc import Iterator
from pathlib import Path

from benchmarks import _releases
from benchmarks._libraries import Library, record
from benchmarks._mutants import Mutant
from benchmarks._planting import Fault
from heal_bot.core.events import Run
from heal_bot.core.model import Calls, Candidate, Edit, Environment, Failure, Patch, Target
from heal_bot.ports import Tree
from heal_bot.source import functions
from heal_bot.testrun.runner import SuiteRunner

CALLS = 200
_SEEDS = range(7, 17)
_GUARDS = 120


def is_original(released: Library, mutant: Mutant, patch: Patch) -> bool:
    """Whether the patched file is the released one but for layout and comments."""
    release = (released.release / mutant.path).read_text(encoding="utf-8")
    contents = {file.path: file.content for file in patch.files}
    return set(contents) == {mutant.path} and ast.dump(
        ast.parse(contents[mutant.path])
    ) == ast.dump(ast.parse(release))


def failing(fault: Fault, released: Library, patch: Patch, folder: Path, python: Path) -> str:
    """In words, the tests that fail on the patched release; '' when none does."""
    shutil.copytree(released.release, folder)
    for file in patch.files:
        (folder / file.path).write_text(file.content, encoding="utf-8")
    seen = record(released, folder, fault.near, python=python, traced=False)
    left = seen.red if seen else fault.near
    return f"{len(left)} held-out tests fail, first {min(left)}" if left else ""


def compared(
    fault: Fault,
    released: Library,
    patch: Patch,
    run: Run,
    tree: Tree,
    env: Environment,
    runner: SuiteRunner,
) -> tuple[int, str]:
    """How many calls of release and patch were compared, and the first that differs."""
    right = Candidate((_undone(fault.mutant, released, tree),), "release", "release")
    ours = Candidate(patch.edits, "patch", "patch")
    red = [Failure(test, "", "") for test in sorted(fault.red)]
    guards = sorted(fault.near - fault.red)[:_GUARDS]
    count = 0
    with runner.warm(run, tree, env, red, guards) as session:
        (verdict,) = session.judge([right])
        if verdict.status != "fixed":
            return 0, ""
        for seed in _SEEDS:
            calls = session.call([right, ours], seed)
            if len(calls.rows) < 3 or not calls.rows[1] or not calls.rows[2]:
                break
            for difference in _differences(calls):
                count += 1
                if difference:
                    return count, difference
            if count >= CALLS:
                break
    return count, ""


def _differences(calls: Calls) -> Iterator[str]:
    """For each call that both had time for, what differs; '' where nothing does."""
    for name, one, other in zip(calls.calls, calls.rows[1], calls.rows[2], strict=True):
        if "skipped" in (one.how, other.how):
            continue
        said = f"{other.how} {other.kind} {other.text} for {one.how} {one.kind} {one.text}"
        yield f"{name}: {said}"[:600] if one.mark != other.mark else ""


def _undone(mutant: Mutant, released: Library, tree: Tree) -> Edit:
    """The change that takes a mutation back."""
    lines = functions.split_lines((released.release / mutant.path).read_text(encoding="utf-8"))
    return Edit(_target(tree, mutant), "".join(lines[mutant.first_line - 1 : mutant.last_line]))


def _target(tree: Tree, mutant: Mutant) -> Target:
    found = functions.index_targets(mutant.path, tree.read(mutant.path).decode())
    target = functions.find_target(found, mutant.qualname, nth=mutant.nth)
    if target is None:
        raise _releases.Failed(f"{mutant.qualname} is not in {mutant.path}")
    return target
