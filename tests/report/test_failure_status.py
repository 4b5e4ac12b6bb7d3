from __future__ import annotations

from dataclasses import replace

import pytest

from heal_bot.core.model import (
    Attempt,
    Baseline,
    Candidate,
    Cause,
    Certificate,
    Cluster,
    Confirmed,
    Edit,
    Failure,
    HealRequest,
    Outcome,
    Patch,
    Report,
    Reproduced,
    Search,
    Suggestion,
    SuiteTotals,
    Suspect,
    Target,
    Verdict,
)
from heal_bot.report.failure_status import list_fates
from tests.fakes import ENVIRONMENT, ISOLATION, SHA, failed, suite

T = "test_a.py::test_one"
F = Failure(T, "AssertionError", "assert 0")
TARGET = Target("m.py", "f", 0, "function", 1, 2, "def f():\n    pass\n")


def _reason(*verdicts: Verdict, stopped: str = "exhausted", tried: int = 7) -> tuple[str, str]:
    candidate = Candidate((Edit(TARGET, "def f():\n    return 1\n"),), "rules", "constant")
    attempts = tuple(Attempt(n, "c", candidate, v) for n, v in enumerate(verdicts, 1))
    outcome = Outcome(
        HealRequest("o/r", SHA), "not_healed", stopped, "why", Report(()),
        Baseline((Reproduced(F, "confirmed"),), suite(failed(T)), 1),
        (Cluster("c", (F,), (Suspect(TARGET, 1.0),)),),
        (Search("rules", TARGET, "constant", tried, 0),) if tried else (), attempts,
    )  # fmt: skip
    (fate,) = list_fates(outcome)
    return fate.status, fate.reason


@pytest.mark.parametrize(
    ("verdicts", "stopped", "reason"),
    [
        ((), "exhausted", "no candidate: none of 7"),
        ((), "budget", "the time limit ended the search before a candidate was found"),
        ((), "interrupted", "the search was interrupted before a candidate was found"),
        ((Verdict("regression", (T,), (), (Failure("x::y", "", ""),)),), "exhausted",
         "an attempt that passes it breaks x::y"),
        ((Verdict("unconfirmed", newly_failing=(Failure("x::z", "", ""),)),), "exhausted",
         "an attempt that passes it breaks x::z (cold run)"),
        ((Verdict("unconfirmed", detail="f answers a value of the tests"),), "exhausted",
         "f answers a value of the tests (cold run)"),
        ((Verdict("unconfirmed", (T,), detail="other ids in each run", cause=Cause.IDS),), "stuck",
         "not measured: other ids in each run"),
        ((Verdict("unconfirmed", detail="abstained: two behaviours fit, they differ on f(0)"),),
         "budget", "abstained: two behaviours fit, they differ on f(0)"),
    ],
)  # fmt: skip
def test_a_test_that_still_fails_says_what_the_search_came_to(
    verdicts: tuple[Verdict, ...], stopped: str, reason: str
) -> None:
    status, said = _reason(*verdicts, stopped=stopped)
    assert (status, said.startswith(reason)) == ("still_failing", True), said


def _fate(suggested: int | None, *attempts: Attempt) -> str:
    """The reason of a test that `attempts` pass, of which one may be the suggestion."""
    patch = Patch(SHA, (), "", (), (T,), ())
    totals = SuiteTotals(complete=True, passed=1, failed=0, skipped=0, seconds=0.1)
    certificate = Certificate(
        SHA, SHA, "", ENVIRONMENT, ISOLATION, 2, 2, (), totals, tests_unchanged=True
    )
    chosen = [a for a in attempts if a.number == suggested]
    outcome = Outcome(
        HealRequest("o/r", SHA), "not_healed", "exhausted", "why", Report(()),
        Baseline((Reproduced(F, "confirmed"),), suite(failed(T)), 1),
        (Cluster("c", (F,), (Suspect(TARGET, 1.0),)),), attempts=attempts,
        suggestion=Suggestion(chosen[0], Confirmed(patch, certificate), ()) if chosen else None,
    )  # fmt: skip
    return list_fates(outcome)[0].reason


def test_a_suggestion_is_named_where_it_is_there_and_by_its_own_number() -> None:
    candidate = Candidate((Edit(TARGET, "def f():\n    return 1\n"),), "rules", "constant")
    first, second = (
        Attempt(n, "c", candidate, Verdict("fixed", (T,)), lacks=("too weak",)) for n in (1, 2)
    )
    said = "passes with attempt 2, which is a suggestion"
    assert _fate(2, first, second) == said
    refused = replace(second, verdict=Verdict("unconfirmed", detail="a check fails with it"))
    assert _fate(None, first, refused) == "a check fails with it (cold run)"
    assert _fate(None, first) == "attempt 1 passes it, and is not called the repair: too weak"


def test_a_test_that_was_never_searched_is_not_attempted() -> None:
    assert _reason(tried=0) == ("not_attempted", "why")
