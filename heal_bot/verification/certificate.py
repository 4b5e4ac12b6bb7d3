"""The certificate: what a reviewer needs to repeat the verification."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from heal_bot.core.model import Baseline, Certificate, Environment, Patch, SuiteRun, SuiteTotals
from heal_bot.core.statuses import GREEN, RED, RunResult
from heal_bot.core.text import count
from heal_bot.ports import Tree
from heal_bot.source import paths


@dataclass(frozen=True, slots=True)
class CertificateFindings:
    """What stands in a certificate beside the runs.

    `method` says how the assertions ran (oracle, in-process), `gates` are (name, result),
    `undoes` is the commit under test that the patch takes back, if any.
    """

    method: str
    gates: tuple[tuple[str, str], ...] = ()
    doubts: tuple[str, ...] = ()
    undoes: str = ""


def protected_hash(tree: Tree, collected: Sequence[str], base: Tree | None = None) -> str:
    """SHA-256 over path and content of everything a patch may never touch, as it lies on disk.

    Which files these are is read off `base`, the commit, where `tree` holds a patch, and off the
    tests collected, which the configuration may call anything.
    """
    total = hashlib.sha256()
    for path in protected_paths(tree, collected, base):
        file = tree.root / path
        content = file.read_bytes() if file.is_file() and not file.is_symlink() else b""
        total.update(path.encode(errors="surrogateescape") + b"\0")
        total.update(hashlib.sha256(content).digest())
    return total.hexdigest()


def protected_paths(
    tree: Tree, collected: Sequence[str], base: Tree | None = None
) -> tuple[str, ...]:
    """The files that a patch may never touch."""
    never = paths.find_machinery(base or tree) | paths.test_files(collected)
    return tuple(
        path for path in tree.paths()
        if paths.is_protected(path) or paths.is_test(path) or path in never
    )  # fmt: skip


def certify(
    patch: Patch,
    tree: Tree,
    env: Environment,
    baseline: Baseline,
    suites: Sequence[SuiteRun],
    found: CertificateFindings,
) -> Certificate:
    """The certificate of a patch that held in `suites`; the last one gives the totals."""
    last = suites[-1]
    after = {result.test: result.outcome for result in last.results}
    before = {result.test: result.outcome for result in baseline.suite.results}
    confirmed = {failure.test for failure in baseline.confirmed}
    changed = tuple(
        (test, before.get(test, "not collected"), after.get(test, "not collected"))
        for test in sorted(confirmed | set(before) | set(after))
        if before.get(test) != after.get(test) or test in confirmed
    )
    held = f"no regression in {count(len(suites), 'run')}"
    ran = env.suite.said or "whole suite"
    ran = f"{ran if baseline.whole else 'impacted tests'}, cold"
    return Certificate(
        base_sha=patch.base_sha,
        tree_sha=tree.tree_sha,
        tests_hash=protected_hash(tree, baseline.suite.collected),
        environment=env,
        isolation=last.isolation,
        baseline_runs=baseline.runs,
        verify_runs=len(suites),
        before_after=changed,
        full_suite=count_totals(last, whole=baseline.whole),
        tests_unchanged=True,
        methods=tuple(
            dict.fromkeys(
                (f"{edit.target.path}::{edit.target.qualname}", found.method)
                for edit in patch.edits
            )
        ),
        gates=((ran, held), *found.gates),
        doubts=found.doubts,
        suite_before=count_totals(baseline.suite, whole=baseline.whole),
        undoes=found.undoes,
    )


def count_totals(suite: SuiteRun, *, whole: bool) -> SuiteTotals:
    """A run in numbers; `whole` when nothing was left out of it on purpose."""
    return SuiteTotals(
        complete=whole and suite.finished,
        passed=suite.count(GREEN),
        failed=suite.count(RED),
        skipped=suite.count({RunResult.SKIPPED}),
        seconds=suite.seconds,
    )
