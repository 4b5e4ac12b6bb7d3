"""The verification of a bundle, repeated from nothing but its patch and the commit it names."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from heal_bot.core.errors import UsageError
from heal_bot.core.model import (
    Attempt,
    Candidate,
    Certificate,
    ChangedFile,
    Confirmed,
    Edit,
    Failure,
    Proposal,
    Verdict,
    stable_test_ids,
)
from heal_bot.core.outcome import CertificateRecord, OutcomeRecord
from heal_bot.core.statuses import VerdictStatus
from heal_bot.core.text import count, list_some
from heal_bot.ports import RunContext
from heal_bot.source import edit_recovery, patch_policy, reversal_check
from heal_bot.verification.baseline import reproduce
from heal_bot.verification.final_check import confirm

_SHOWN = 5
_names = partial(list_some, most=_SHOWN)


@dataclass(frozen=True, slots=True)
class Row:
    """One fact of the certificate: as claimed and as found here. `counts` is False for remarks."""

    name: str
    claimed: str
    found: str
    counts: bool = True

    @property
    def equal(self) -> bool:
        """Whether both are the same."""
        return self.claimed == self.found


def replay_bundle(context: RunContext, record: OutcomeRecord) -> tuple[Row, ...]:
    """Every fact of the certificate beside what this run finds.

    The bundle is believed in nothing: its edits are read off its files and the commit, the rails
    judge them again, and baseline and confirmation run as they did for the first time.
    """
    tree, workspace = context.tree, context.workspace
    patch, claimed = record.patch, record.certificate
    if patch is None or claimed is None:
        raise UsageError(f"the bundle holds no verified patch: the run ended as {record.status}")
    if (broke := record.regression) and broke.good_sha:
        # What was changed is counted from where it was counted before, on the same line of commits.
        commits = workspace.commits(context.run, broke.good_sha, tree.sha)
        if commits and commits[0].parent == broke.good_sha:
            context = replace(context, tree=workspace.since(tree, broke.good_sha))
    try:
        candidate = Candidate(edit_recovery.recover_patch(patch, tree), "bundle", "replay")
    except edit_recovery.RecheckError as error:
        raise UsageError(f"the patch no longer applies: {error}") from error
    claiming = replace(candidate, undoes=claimed.undoes)
    reason = patch_policy.check_candidate(claiming, context.tree, patch_policy.MAX_EDITS_OF_ALL)
    if not reason and claimed.undoes and len(candidate.edits) > patch_policy.MAX_EDITS:
        reason = _check_reversal(context, candidate.edits, claimed.undoes)
    if reason:
        return (Row("patch", "allowed", f"refused: {reason}"),)
    if decisions := patch_policy.list_decisions(claiming, context.tree):
        return (Row("patch", "allowed", f"for a person to decide on: {decisions[0]}"),)
    failures = tuple(Failure(test, "", "") for test in (*patch.fixed, *patch.still_failing))
    baseline = reproduce(context, failures)
    if not baseline.confirmed:
        found = "; ".join(f"{i.failure.test} is {i.status}" for i in baseline.reproduced[:_SHOWN])
        return (Row("failing tests", "red before the patch", found),)
    here = partial(stable_test_ids.here, tests=baseline.suite.collected)
    rows_here = tuple(r.model_copy(update={"test": here(r.test)}) for r in claimed.before_after)
    claimed = claimed.model_copy(update={"before_after": rows_here})
    if record.regression:
        undoes = _confirm_undone(context, candidate.edits, claimed.undoes)
        candidate = replace(candidate, undoes=undoes)
    attempt = Attempt(1, "", candidate, Verdict(VerdictStatus.FIXED))
    verified = confirm(context, Proposal((attempt,)), baseline)
    if not isinstance(verified, Confirmed):
        return (Row("confirmation", "holds", f"{verified.status}: {verified.detail}"),)
    rows = list(compare(claimed, verified.certificate))
    made = verified.patch
    return (
        Row("fixed tests", _names(sorted(map(here, patch.fixed))), _names(sorted(made.fixed))),
        Row(
            "still failing",
            _names(sorted(map(here, patch.still_failing))),
            _names(sorted(made.still_failing)),
        ),
        Row("diff", _digest(patch.diff), _digest(made.diff)),
        *rows,
    )


def _check_reversal(context: RunContext, edits: Sequence[Edit], undoes: str) -> str:
    """Why all edits but those of other causes do not take back what a commit did; '' else."""
    files = _read_commit(context, undoes)
    if files is None:
        return f"commit {undoes} is not in the history"
    return reversal_check.explain_others(edits, files, undoes, patch_policy.MAX_EDITS)


def _confirm_undone(context: RunContext, edits: Sequence[Edit], undoes: str) -> str | None:
    """The commit that is said to be undone, where one of the edits does; None asks for a guess."""
    files = _read_commit(context, undoes) if undoes else ()
    known = any(not reversal_check.explain_refusal([one], files or (), undoes) for one in edits)
    return undoes if known or not undoes else None


def _read_commit(context: RunContext, sha: str) -> tuple[ChangedFile, ...] | None:
    """What a commit of the tree's history changed; None for another commit."""
    run, workspace, tree = context.run, context.workspace, context.tree
    since = workspace.commits(run, sha, tree.sha)
    known = workspace.commits(run, "", sha)
    if not known or sha not in {tree.sha, *(commit.parent for commit in since[:1])}:
        return None
    return workspace.changes(run, known[-1].parent, sha)


def _digest(text: str) -> str:
    return f"{len(text.splitlines())} lines, {hashlib.sha256(text.encode()).hexdigest()[:12]}"


def compare(claimed: CertificateRecord, found: Certificate) -> tuple[Row, ...]:
    """The facts of both certificates side by side; where the tests ran is a remark."""
    before = {row.test: (row.before, row.after) for row in claimed.before_after}
    now = {test: (old, new) for test, old, new in found.before_after}
    changed = [name for name in sorted(before | now) if before.get(name) != now.get(name)]
    suite, mine = claimed.full_suite, found.full_suite
    totals = f"{suite.passed} passed, {suite.failed} failed, {suite.skipped} skipped"
    # What had no time for the whole suite claimed less than is found here.
    same = suite.complete or not mine.complete
    place, here = claimed.environment, found.environment
    return (
        Row("commit", claimed.base_sha, found.base_sha),
        Row("tree", claimed.tree_sha, found.tree_sha),
        Row("protected files", claimed.tests_hash, found.tests_hash),
        Row("tests before and after", _outcomes(changed, before), _outcomes(changed, now)),
        Row(
            "suite",
            totals,
            f"{mine.passed} passed, {mine.failed} failed, {mine.skipped} skipped",
            counts=same,
        ),
        Row("suite complete", str(suite.complete), str(mine.complete), counts=same),
        Row("methods", _methods(claimed.methods), _methods(dict(found.methods))),
        Row("undoes", claimed.undoes, found.undoes),
        Row("python", place.python, here.version, counts=False),
        Row("lock file", place.lock_hash, here.lock_hash, counts=False),
        Row("added packages", _names(place.added), _names(here.added), counts=False),
        Row("network of builds", _names(place.network), _names(here.network), counts=False),
        Row("isolation", claimed.isolation.mode, found.isolation.mode, counts=False),
    )


def _outcomes(tests: Sequence[str], known: Mapping[str, tuple[str, str]]) -> str:
    if not tests:
        return f"{count(len(known), 'test')} as claimed"
    said = [f"{test}: {' to '.join(known.get(test, ('absent',)))}" for test in tests[:_SHOWN]]
    return "; ".join(said)


def _methods(methods: Mapping[str, str]) -> str:
    return ", ".join(f"{name}: {method}" for name, method in sorted(methods.items()))
