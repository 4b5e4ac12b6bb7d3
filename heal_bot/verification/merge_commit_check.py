"""The commit that CI tested, where it is not the one that is patched: the repair holds there too.

For a pull request CI tests its merge with the base branch; the patch is made on the head.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from heal_bot.core.errors import ProvisionError, UsageError, WorkspaceError
from heal_bot.core.model import (
    CaseResult,
    Confirmed,
    Edit,
    PatchedFile,
    SuiteRun,
    Verdict,
)
from heal_bot.core.statuses import VerdictStatus
from heal_bot.core.text import name_first
from heal_bot.ports import Ask, RunContext, Tree
from heal_bot.source import edit, functions
from heal_bot.source.guard import SourceRejected
from heal_bot.verification.measured_change import ended_early

GATE = "merge commit"


def check_merge_commit(
    context: RunContext, found: Confirmed, *, tested_sha: str, selected: tuple[str, ...] | None
) -> Confirmed | Verdict:
    """The confirmation with a gate for the tested commit, or the `unconfirmed` verdict.

    The edits are put where their functions stand there. Where that cannot be done, or the commit
    is gone, that is a doubt: nobody can say whether the repair holds.
    """
    if tested_sha in {"", context.tree.sha}:
        return found
    name = f"{GATE} {tested_sha[:12]}, which CI tested,"
    try:
        merged = context.workspace.checkout(context.run, tested_sha)
        files = _carried(merged, found.patch.edits)
    except (UsageError, WorkspaceError, ProvisionError) as error:
        return found.with_doubt(f"the {name} cannot be had: {error}")
    except (edit.EditError, SourceRejected, LookupError) as error:
        return found.with_doubt(f"the repair was not tried on the {name} {error}")
    if merged.tree_sha == context.tree.tree_sha:
        return found.with_gate(GATE, f"{tested_sha[:12]} holds the same files")
    fresh = replace(context, tree=merged).patched(files)
    before, after = context.run_many([Ask(merged, selected), Ask(fresh, selected)])
    if before.finished and not after.finished:
        return ended_early(context.run, f"the patched suite on the {name}", after)
    left = tuple(r.as_failure() for r in after.red if r.test in found.patch.fixed)
    if left:
        detail = f"still red on the {name}: {name_first(len(left), left[0].test, 'test')}"
        return Verdict(VerdictStatus.UNCONFIRMED, still_failing=left, detail=detail)
    if broken := _broken(context, fresh, before, after):
        detail = f"newly red on the {name}: {name_first(len(broken), broken[0].test, 'test')}"
        newly = tuple(map(CaseResult.as_failure, broken))
        return Verdict(VerdictStatus.UNCONFIRMED, newly_failing=newly, detail=detail)
    there = {r.test for r in after.results} & set(found.patch.fixed)
    return found.with_gate(GATE, f"{len(there)} of the fixed tests pass on {tested_sha[:12]} too")


def _broken(
    context: RunContext, fresh: Tree, before: SuiteRun, after: SuiteRun
) -> Sequence[CaseResult]:
    """The tests that passed there without the patch and fail with it, twice."""
    passed = before.passed
    red = tuple(result.test for result in after.red if result.test in passed)
    if not red:
        return ()
    (again,) = context.run_many([Ask(fresh, red)])
    return [result for result in again.red if result.test in red]


def _carried(merged: Tree, edits: Sequence[Edit]) -> tuple[PatchedFile, ...]:
    """The files of the tested commit with the edits; LookupError where one has no place there."""
    placed = []
    for change in edits:
        target = change.target
        known = functions.index_targets(target.path, edit.text_of(merged, target.path))
        there = functions.find_same(target, known)
        if there is None or there.source != target.source:
            raise LookupError(f"{target.path}::{target.qualname} is another there")
        placed.append(replace(change, target=there))
    return edit.patch_files(merged, placed)
