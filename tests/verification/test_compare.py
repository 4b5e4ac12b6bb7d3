"""Both certificates side by side, without a run."""

from __future__ import annotations

from dataclasses import replace

import pytest

from heal_bot.core.model import Certificate, SuiteTotals
from heal_bot.core.outcome import CertificateRecord, EnvironmentRecord, IsolationRecord, SuiteRecord
from heal_bot.verification.bundle_replay import compare
from tests.fakes import ENVIRONMENT, ISOLATION

TOTALS = SuiteTotals(complete=True, passed=3, failed=0, skipped=0, seconds=1.0)
FOUND = Certificate(
    "1" * 40, "2" * 40, "3" * 64, ENVIRONMENT, ISOLATION, 3, 2, (), TOTALS, tests_unchanged=True
)
CLAIMED = CertificateRecord(
    base_sha="1" * 40, tree_sha="2" * 40, tests_hash="3" * 64,
    environment=EnvironmentRecord(python=ENVIRONMENT.version, lock_hash="", manifest_hash=""),
    isolation=IsolationRecord(mode="strict", layers=(), missing=()),
    baseline_runs=3, verify_runs=2, before_after=(), tests_unchanged=True, methods={}, gates=(),
    full_suite=SuiteRecord(complete=True, passed=3, failed=0, skipped=0, seconds=1.0), doubts=(),
)  # fmt: skip


def _differ(claimed: CertificateRecord, found: Certificate) -> set[str]:
    return {row.name for row in compare(claimed, found) if row.counts and not row.equal}


def test_equal_certificates_are_equal() -> None:
    assert _differ(CLAIMED, FOUND) == set()


@pytest.mark.parametrize(
    ("claimed", "found", "differ"),
    [
        (True, True, {"suite"}),
        (False, True, set()),
        (True, False, {"suite", "suite complete"}),
        (False, False, {"suite"}),
    ],
)
def test_a_claim_of_less_than_the_whole_suite_is_not_held_against_it(
    claimed: bool, found: bool, differ: set[str]
) -> None:
    less = CLAIMED.full_suite.model_copy(update={"complete": claimed, "passed": 2})
    record = CLAIMED.model_copy(update={"full_suite": less})
    totals = replace(TOTALS, complete=found)
    assert _differ(record, replace(FOUND, full_suite=totals)) == differ


def test_what_was_added_and_which_hosts_builds_reached_are_remarks() -> None:
    there = CLAIMED.environment.model_copy(
        update={"added": ("pytest-mock 3.1",), "network": ("github.com",)}
    )
    rows = compare(CLAIMED.model_copy(update={"environment": there}), FOUND)
    told = {row.name: (row.claimed, row.found, row.counts) for row in rows if not row.equal}
    assert told == {
        "added packages": ("pytest-mock 3.1", "", False),
        "network of builds": ("github.com", "", False),
    }
