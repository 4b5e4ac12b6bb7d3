"""What a run says at its end."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from heal_bot.conclusion import RunFindings, add_report_message, conclude
from heal_bot.core.errors import ProvisionError
from heal_bot.core.model import (
    Attempt,
    Baseline,
    Candidate,
    Certificate,
    Cluster,
    Confirmed,
    Failure,
    HealRequest,
    Patch,
    Report,
    ReportedCase,
    Reproduced,
    RunHints,
    SuiteTotals,
    Verdict,
)
from heal_bot.core.text import Secret
from heal_bot.repair.search.attempt_log import AttemptLog
from heal_bot.report.outcome_record import flatten
from tests.fakes import ENVIRONMENT, ISOLATION, SHA, FolderTree, quiet_run, suite


def _found(*tests: str) -> RunFindings:
    red = tuple(Reproduced(Failure(test, "KeyError", "'x'"), "confirmed") for test in tests)
    return RunFindings(HealRequest("octo/shop", SHA), Report(()), Baseline(red, suite(), 3), ())


def _certified(fixed: tuple[str, ...], left: tuple[str, ...], undoes: str) -> Confirmed:
    totals = SuiteTotals(True, 1, 0, 0, 0.1)
    return Confirmed(
        Patch(SHA, (), "", (), fixed, left),
        Certificate(SHA, "", "", ENVIRONMENT, ISOLATION, 2, 2, (), totals, True, undoes=undoes),
    )


@pytest.mark.parametrize(
    ("fixed", "left", "undoes", "status", "reason"),
    [
        (("a",), (), "", "healed", "1 of 1 failing test is fixed"),
        (("a", "b"), (), "", "healed", "2 of 2 failing tests are fixed"),
        (("a",), ("b",), "", "partly_healed", "1 of 2 failing tests is fixed"),
        (("a",), (), "abc", "healed", "takes back the code of abc: 1 of 1 failing test is fixed"),
    ],
)
def test_the_reason_of_a_repair_counts_what_it_fixes(
    tmp_path: Path,
    fixed: tuple[str, ...],
    left: tuple[str, ...],
    undoes: str,
    status: str,
    reason: str,
) -> None:
    run, _ = quiet_run()
    ledger = AttemptLog(FolderTree(tmp_path), confirmed=_certified(fixed, left, undoes))  # type: ignore[arg-type]
    outcome = conclude(run, run.clock(), _found(*fixed, *left), (), ledger)
    assert (outcome.status, outcome.reason) == (status, reason)


def test_without_a_repair_the_reason_says_so(tmp_path: Path) -> None:
    run, _ = quiet_run()
    ledger = AttemptLog(FolderTree(tmp_path), stopped="budget")  # type: ignore[arg-type]
    outcome = conclude(run, run.clock(), _found("a"), (), ledger)
    assert (outcome.status, outcome.stopped) == ("budget_exhausted", "budget")
    assert outcome.reason.startswith("no change made a failing test pass")


def test_no_part_of_a_secret_is_left_at_a_cut_of_the_reason(tmp_path: Path) -> None:
    value = "0123456789abcdefghijklmnopqr"
    detail = "x" * 230 + f" {value} " + "y" * 400
    attempt = Attempt(1, "c", Candidate((), "rules", "x"), Verdict("unconfirmed", detail=detail), 0)
    run, _ = quiet_run()
    ledger = AttemptLog(FolderTree(tmp_path), attempts=[attempt])  # type: ignore[arg-type]
    outcome = conclude(run, run.clock(), _found("a"), (), ledger)
    said = flatten(outcome, (Secret(value),)).reason
    assert "xx *** yy" in said
    assert value[:6] not in said


@pytest.mark.parametrize(
    ("confirmed", "status", "stopped"),
    [
        (None, "budget_exhausted", "budget"),
        (_certified(("a",), ("b",), ""), "partly_healed", "budget"),
        (_certified(("a", "b"), (), ""), "healed", "done"),
    ],
)
def test_a_run_whose_time_is_over_says_so_unless_its_patch_fixes_all(
    tmp_path: Path, confirmed: Confirmed | None, status: str, stopped: str
) -> None:
    run, _ = quiet_run(clock=lambda: 1.0, deadline=1.0)
    ledger = AttemptLog(FolderTree(tmp_path), confirmed=confirmed, stopped="exhausted")  # type: ignore[arg-type]
    outcome = conclude(run, 0.0, _found("a", "b"), (), ledger)
    assert (outcome.status, outcome.stopped) == (status, stopped)


@pytest.mark.parametrize(("command", "status"), [("", "stale_test"), ("tox", "not_healed")])
def test_a_test_that_executes_nothing_is_out_of_date_but_a_command_never_is(
    tmp_path: Path, command: str, status: str
) -> None:
    run, _ = quiet_run()
    found = _found("a")
    cluster = Cluster("c", tuple(r.failure for r in found.baseline.reproduced), (), "s", stale=True)
    request = replace(found.request, test_command=command)
    found = replace(found, request=request, clusters=(cluster,))
    outcome = conclude(run, run.clock(), found, (), AttemptLog(FolderTree(tmp_path)))  # type: ignore[arg-type]
    assert outcome.status == status


def test_where_no_environment_can_be_made_the_report_is_told() -> None:
    lone = ReportedCase("tests.test_a", "test_one", "failed", message="KeyError: 'a'\nand more")
    report = Report((lone,), hints=RunHints(python="3.13"))
    with pytest.raises(ProvisionError) as caught, add_report_message(report):
        raise ProvisionError("it needs a compiler: give another")
    assert str(caught.value) == (
        "it needs a compiler: give another; the report says on Python 3.13 of"
        " tests.test_a::test_one: KeyError: 'a'"
    )


def test_without_a_report_the_environment_alone_is_told() -> None:
    with (
        pytest.raises(ProvisionError, match=r"\Ait needs a compiler\Z"),
        add_report_message(Report(())),
    ):
        raise ProvisionError("it needs a compiler")
