"""The certificate: what a reviewer needs to repeat the verification."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from heal_bot.model import Baseline, Certificate, Environment, Patch, SuiteRun, SuiteTotals
from heal_bot.ports import Tree
from heal_bot.source import rails

_GREEN = frozenset({"passed", "xfailed"})


def tests_hash(tree: Tree) -> str:
    """SHA-256 over path and content of everything a patch may never touch, as it lies on disk."""
    total = hashlib.sha256()
    for path in tree.paths():
        if rails.is_protected(path):
            file = tree.root / path
            content = file.read_bytes() if file.is_file() and not file.is_symlink() else b""
            total.update(path.encode(errors="surrogateescape") + b"\0")
            total.update(hashlib.sha256(content).digest())
    return total.hexdigest()


def certify(
    patch: Patch,
    tree: Tree,
    env: Environment,
    baseline: Baseline,
    suites: Sequence[SuiteRun],
    doubts: Sequence[str],
) -> Certificate:
    """The certificate of a patch that held in `suites`; the last one gives the totals."""
    last = suites[-1]
    after = {result.test: result.outcome for result in last.results}
    before = {result.test: result.outcome for result in baseline.suite.results}
    changed = tuple(
        (test, before.get(test, "not collected"), after.get(test, "not collected"))
        for test in sorted({f.test for f in baseline.confirmed} | set(before) | set(after))
        if before.get(test) != after.get(test) or test in {f.test for f in baseline.confirmed}
    )
    return Certificate(
        base_sha=patch.base_sha,
        tree_sha=tree.tree_sha,
        tests_hash=tests_hash(tree),
        environment=env,
        isolation=last.isolation,
        baseline_runs=baseline.runs,
        verify_runs=len(suites),
        before_after=changed,
        full_suite=SuiteTotals(
            complete=last.ended == "finished",
            passed=sum(o in _GREEN for o in after.values()),
            failed=sum(o in {"failed", "error"} for o in after.values()),
            skipped=sum(o == "skipped" for o in after.values()),
            seconds=last.seconds,
        ),
        tests_unchanged=True,
        methods=tuple(
            dict.fromkeys(
                (f"{edit.target.path}::{edit.target.qualname}", "in-process")
                for edit in patch.edits
            )
        ),
        gates=(("whole suite, cold", f"{len(suites)} of {len(suites)} runs without regression"),),
        doubts=tuple(doubts),
    )
