"""How tests, suite runs, failures, verdicts and whole runs end: each word is defined here alone.

The values are the names in small letters. A member equals its string, which is what reports,
records and bundles hold.
"""

from __future__ import annotations

from enum import StrEnum

# How one test came out; a report knows the first four alone.
RunResult = StrEnum("RunResult", "PASSED FAILED ERROR SKIPPED XFAILED XPASSED")
# How a run of the suite ended.
SuiteEnd = StrEnum("SuiteEnd", "FINISHED TIMEOUT CRASHED KILLED UNTRUSTED")
# What the baseline makes of a failure, and where the search for a confirmed one ended.
FailureStatus = StrEnum(
    "FailureStatus",
    "CONFIRMED FLAKY ORDER_DEPENDENT NOT_REPRODUCED ENVIRONMENT STALE_TEST EXPLAINED NOT_ATTEMPTED"
    " FIXED STILL_FAILING COLLECTION_ERROR",
)
VerdictStatus = StrEnum(
    "VerdictStatus", "FIXED IMPROVED UNCHANGED REGRESSION REJECTED TIMEOUT ERROR UNCONFIRMED"
)
# How far a patch is to be believed, in words, and the probabilities from which it is medium, which
# nobody can lower, and by default high (`likely` and `high` of `python -m benchmarks fit`).
ConfidenceLevel = StrEnum("ConfidenceLevel", "HIGH MEDIUM LOW")
LIKELY, SURE = 0.75, 0.9
# How a whole run ended.
OutcomeStatus = StrEnum(
    "OutcomeStatus",
    "HEALED PARTLY_HEALED NOT_HEALED FLAKY STALE_TEST NOT_REPRODUCED NOTHING_TO_DO REFUSED"
    " SUPERSEDED BUDGET_EXHAUSTED SANDBOX_ERROR ENVIRONMENT_ERROR EXPLAINED NEEDS_ANSWER",
)

# As pytest's exit code has it: an expected failure is none, nor is a pass that was not expected
# (where that is an error, `xfail_strict`, pytest itself says `failed`). Skips are neither.
RED = frozenset({RunResult.FAILED, RunResult.ERROR})
GREEN = frozenset({RunResult.PASSED, RunResult.XFAILED, RunResult.XPASSED})
# What a test must keep to after a change, and what shows that a state is good: not `xpassed`,
# since a test that contradicts its own mark may fail again with nothing broken.
EXPECTED = frozenset({RunResult.PASSED, RunResult.XFAILED})
# What a claim of a test that no longer holds looks like; anything else is the code's exception.
CLAIMS = frozenset({
    "AssertionError", "DocTestFailure", "Failed", "MultipleDoctestFailures",
})  # fmt: skip
# Verdicts on changes that make failing tests pass and break none.
MENDING = frozenset({VerdictStatus.FIXED, VerdictStatus.IMPROVED})
# Verdicts that hold on another day: a time-out or a crash of the judge says nothing of the change.
LASTING = frozenset({
    VerdictStatus.REGRESSION, VerdictStatus.REJECTED, VerdictStatus.UNCONFIRMED,
    VerdictStatus.UNCHANGED,
})  # fmt: skip
