"""What people read of a status: every one has its sentence, and none is claimed without proof."""

from __future__ import annotations

from typing import Any

import pytest

from heal_bot.core.outcome import AttemptRecord, FailureRecord, OutcomeRecord
from heal_bot.core.statuses import FailureStatus, OutcomeStatus, VerdictStatus
from heal_bot.report.status_sentences import describe_failure, describe_run, describe_verdict
from tests.github_server import records

BASE = "5" * 40
BROKEN = {"status": "collection_error", "source": "src/x.py", "line": 12}


def run(status: str, *failures: dict[str, Any], **changed: Any) -> OutcomeRecord:
    values = records.asked(BASE) if status == "needs_answer" else records.data(BASE)
    first = values["failures"][0]
    values |= {"status": status, "patch": None, "certificate": None} | changed
    values["failures"] = [first | {"status": "still_failing"} | given for given in failures]
    return records.record(values)


def failure(status: str, **changed: Any) -> FailureRecord:
    return run("not_healed", {"status": status, **changed}).failures[0]


@pytest.mark.parametrize("status", list(OutcomeStatus))
def test_every_run_ends_in_words_that_name_no_status(status: str) -> None:
    told = describe_run(run(status, {}))
    assert told[0].isupper()
    assert "_" not in told
    assert not told.endswith(".")


@pytest.mark.parametrize("status", [s for s in FailureStatus if s != FailureStatus.CONFIRMED])
def test_every_failure_is_told_in_words(status: str) -> None:
    assert "_" not in describe_failure(failure(status))


@pytest.mark.parametrize("verdict", list(VerdictStatus))
def test_every_verdict_is_told_in_words(verdict: str) -> None:
    assert "_" not in describe_verdict(attempt(verdict))


def attempt(verdict: str, **changed: Any) -> AttemptRecord:
    values = records.data(BASE)
    values["attempts"][1] |= {"verdict": verdict, **changed}
    return records.record(values).attempts[1]


ON_WINDOWS = {"status": "explained", "failed_on": ["Windows"]}


@pytest.mark.parametrize(
    ("record", "told"),
    [
        (run("healed", {"status": "fixed"}), "Fix proposed"),
        (run("partly_healed", *[{"status": "fixed"}] * 8, {}), "Fixes 8 of 9 failing tests"),
        (run("not_healed", {}), "No fix found"),
        (run("not_healed", {}, stopped="interrupted"), "Stopped before a fix was found"),
        (run("not_healed", BROKEN), "Import or syntax error in src/x.py:12"),
        (run("stale_test", {}), "Unsure: code or test"),
        (run("explained", {"status": "stale_test"}), "Test looks outdated"),
        (run("explained", {"status": "stale_test"}, {"status": "explained"}),
         "Explained; nothing to change in the code"),
        (run("explained"), "Explained; nothing to change in the code"),
        (run("explained", ON_WINDOWS), "Passes here; failed in CI on Windows"),
        (run("explained", ON_WINDOWS, {"status": "explained", "failed_on": ["macOS"]}),
         "Passes here; failed in CI on Windows and macOS"),
        (run("explained", ON_WINDOWS, {"status": "explained"}),
         "Explained; nothing to change in the code"),
        (run("not_reproduced", {"status": "not_reproduced"}), "Passes here; failed in CI"),
        (run("environment_error"), "Could not run your tests"),
        (run("sandbox_error"), "Could not run your tests"),
    ],
)  # fmt: skip
def test_a_run_is_told_by_what_it_found(record: OutcomeRecord, told: str) -> None:
    assert describe_run(record) == told


def test_a_change_that_is_only_suggested_is_not_called_a_fix() -> None:
    record = records.record(records.suggested(BASE))
    assert describe_run(record) == "A change passes, but is not proposed as the fix"


@pytest.mark.parametrize(
    ("found", "told"),
    [
        (failure("flaky", flake_rate=0.3), "flaky: fails in 30 % of its runs"),
        (failure("flaky", flake_rate=None), "flaky: fails only sometimes"),
        (failure("explained", failed_on=["Windows"]), "passes here; failed in CI on Windows"),
        (failure(**BROKEN), "import or syntax error in src/x.py:12"),
    ],
)
def test_a_failure_is_told_with_what_is_known_of_it(found: FailureRecord, told: str) -> None:
    assert describe_failure(found) == told


@pytest.mark.parametrize(
    ("found", "told"),
    [
        (attempt("fixed", fixed=["a", "b"]), "fixes 2 of 2"),
        (attempt("improved", fixed=["a"], still_failing=["b", "c"]), "fixes 1 of 3"),
        (attempt("regression", newly_failing=["a", "b", "c"]), "breaks 3 passing tests"),
        (attempt("unchanged"), "fixes none"),
        (attempt("regression", cause="flaky"), "could not be measured"),
    ],
)
def test_an_attempt_is_told_by_what_it_did(found: AttemptRecord, told: str) -> None:
    assert describe_verdict(found) == told
