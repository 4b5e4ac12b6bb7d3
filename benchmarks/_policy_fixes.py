"""Small bug fixes of public projects, held against the patch policy."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.street import recipes
from benchmarks.street.clones import Clone, CloneError, CommitTree, clones
from benchmarks.street.compared import changed_pairs
from benchmarks.street.history import Change, repairs
from heal_bot.core.errors import HealBotError
from heal_bot.core.model import Candidate, Edit
from heal_bot.source import edit_recovery, patch_policy, paths

# Of a project: the fixes that count, and the commits that are looked at for them.
_MOST, _LOOKED = 3, 10


def measure(data: Path, seconds: float) -> dict[str, Any]:
    """How many fixes there are, and the part that is refused: as a patch, or left to a person.

    `by_split` has the sums of each half; `refused` names those of `tune` alone.
    """
    ended = time.monotonic() + seconds
    sums: dict[str, Counter[str]] = {"tune": Counter(), "held": Counter()}
    refused: list[str] = []
    whole = True
    for clone in sorted(clones(data), key=lambda one: recipes.digest(one.repository)):
        if time.monotonic() > ended:
            whole = False
            break
        half = recipes.split(clone.repository)
        for change, why, doubts in _judged(clone):
            sums[half].update(fixes=1, refused=bool(why), drafts=bool(doubts))
            if why and half == "tune":
                refused.append(f"{clone.repository}@{change.sha[:10]}: {why}")
    total = sums["tune"] + sums["held"]
    return {
        "honest": total["fixes"],
        "honest_refused": round(total["refused"] / max(1, total["fixes"]), 4),
        "honest_drafts": round(total["drafts"] / max(1, total["fixes"]), 4),
        "by_split": {half: dict(found) for half, found in sums.items()},
        "refused": refused,
        "honest_complete": whole,
    }


def _judged(clone: Clone) -> Iterator[tuple[Change, str, bool]]:
    """The newest fixes of a project that are changes of functions where a repair may go."""
    found = 0
    try:
        for looked, change in enumerate(repairs(clone)):
            if found >= _MOST or looked >= _LOOKED:
                return
            tree: Any = CommitTree(clone, change.parent)
            never = paths.find_plugins(tree) | paths.find_entry_points(tree)
            if any(paths.is_protected(p) or paths.is_test(p) or p in never for p in change.sources):
                continue
            try:
                edits = tuple(e for p in change.sources for e in _edits(tree, change, p))
            except (HealBotError, KeyError):
                continue
            if not 0 < len(edits) <= patch_policy.MAX_EDITS:
                continue
            found += 1
            candidate = Candidate(edits, "benchmark", "fix")
            why = patch_policy.check_candidate(candidate, tree)
            why = why or "; ".join(patch_policy.list_reaches(candidate, tree))
            yield change, why, not why and bool(patch_policy.list_doubts(candidate, tree))
    except CloneError:
        return


def _edits(tree: CommitTree, change: Change, path: str) -> tuple[Edit, ...]:
    """What a fix changes in a file; an error where that is more than functions and imports."""
    before, after = tree.clone.read(change.parent, path), tree.clone.read(change.sha, path)
    changed = {old.qualname for old, _ in changed_pairs(path, before, after)}
    return edit_recovery.recover_edits(path, before, after, changed)
