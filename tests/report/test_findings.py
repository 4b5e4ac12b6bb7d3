"""What a run proved, what follows without proof, and what it did not show."""

from __future__ import annotations

from dataclasses import replace

import pytest

from heal_bot.core.model import (
    Attempt,
    Baseline,
    Bump,
    Candidate,
    Certificate,
    Cluster,
    Confirmed,
    Edit,
    Failure,
    HealRequest,
    History,
    Isolation,
    Outcome,
    PackageChange,
    Patch,
    PatchedFile,
    Regression,
    Report,
    Reproduced,
    Suggestion,
    Suite,
    SuiteTotals,
    Suspect,
    Target,
    Verdict,
)
from heal_bot.report.findings import list_checks, list_findings
from heal_bot.report.outcome_record import flatten
from tests.fakes import ENVIRONMENT, ISOLATION, SHA, suite

A, B = "tests/test_a.py::test_a", "tests/test_a.py::test_b"
TOTAL = Target("shop.py", "total", 0, "function", 1, 2, "def total():\n    return 0\n")
EDIT = Edit(TOTAL, "def total():\n    return 1\n")
CERTIFICATE = Certificate(
    SHA, SHA, "", ENVIRONMENT, ISOLATION, 3, 2, (), SuiteTotals(True, 9, 0, 0, 0.1), True
)
PATCH = Patch(SHA, (PatchedFile("shop.py", SHA, ""),), "", (EDIT,), (A,), ())
FIRST = Regression("a" * 40, "b" * 40, "Simplify", (A, B), confirmed=True)
OTHER = Regression("c" * 40, "d" * 40, "Tidy", ("tests/test_b.py::test_c",), confirmed=True)
LIB = PackageChange((Bump("lib", "2.3", "2.4"),), (A,), 5)
NEEDING = PackageChange(tuple(Bump(f"p{at}", "1", "2") for at in range(9)), (A,), 5)
SET = PackageChange((*LIB.bumps, Bump("old", "1", "")), (A, B), 5, single=False)


def _outcome(**fields: object) -> Outcome:
    red = tuple(Reproduced(Failure(test, "KeyError", "'x'"), "confirmed") for test in (A, B))
    clusters = (Cluster("c1", (red[0].failure,), (Suspect(TOTAL, 1.0, ()),)),)
    found = Outcome(
        HealRequest("o/r", SHA), "not_healed", "exhausted", "", Report(()),
        Baseline(red, suite(), 3), clusters,
    )  # fmt: skip
    return replace(found, **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("history", "said"),
    [
        (History((FIRST,)), ["`bbbbbbb` (Simplify) broke these 2 tests; they pass at its parent"]),
        (
            History((FIRST, OTHER)),
            [
                f"`bbbbbbb` (Simplify) broke these 2 tests; they pass at its parent: `{A}`, `{B}`",
                "`ddddddd` (Tidy) broke this test; it passes at its parent:"
                " `tests/test_b.py::test_c`",
            ],
        ),
        (History(packages=(LIB,)), ["`lib 2.3 → 2.4` broke this test; it passes with 2.3"]),
        (
            History(packages=(SET,)),
            ["`lib 2.3 → 2.4`, `old 1 → not installed` broke these 2 tests together; they pass"
             " with the former versions"],
        ),
        (
            History(packages=(NEEDING,)),
            ["`p0 1 → 2` (with `p1 1 → 2`, `p2 1 → 2`, `p3 1 → 2`, `p4 1 → 2`, `p5 1 → 2` and 3"
             " more, which it needs) broke this test; it passes with 1"],
        ),
        (History((replace(FIRST, confirmed=False),)), []),
        (History(reason="no earlier commit is available"), []),
    ],
    ids=["a commit", "two commits", "a package", "packages", "a package with others",
         "one not confirmed", "none"],
)  # fmt: skip
def test_what_broke_the_tests_is_proved(history: History, said: list[str]) -> None:
    assert list(list_findings(_outcome(history=history))["proved"]) == said


def test_why_no_commit_is_named_is_among_what_was_not_shown() -> None:
    history = History(reason="1 test, first x, fail on every\nolder commit that was tried")
    record = flatten(_outcome(history=history))
    assert record.not_shown[0] == "1 test, first x, fail on every older commit that was tried"


@pytest.mark.parametrize(
    ("family", "fault"),
    [
        ("number", "in `shop.py::total`, where the tests pass with the change"),
        ("missed place", "in `shop.py::total`, where the tests pass with the change"),
        ("reversal", "what the patch takes back of the commit: without it the tests pass"),
    ],
)
def test_of_a_patch_the_runs_are_proved_and_the_place_of_the_fault_is_inferred(
    family: str, fault: str
) -> None:
    attempt = Attempt(1, "c1", Candidate((EDIT,), "history", family), Verdict("fixed", (A,)))
    told = list_findings(_outcome(patch=PATCH, certificate=CERTIFICATE, attempts=(attempt,)))
    assert told["proved"] == (
        "1 failing test passes with the patch in 2 cold runs of the suite, in which no other test"
        " breaks, after 3 failed runs without it",
    )
    assert told["inferred"] == (f"the fault is {fault}",)
    assert "1 test was not attempted" in told["not_shown"]


def test_of_a_suggestion_the_runs_are_proved_and_the_fault_is_a_guess() -> None:
    attempt = Attempt(1, "c1", Candidate((EDIT,), "rules", "x"), Verdict("fixed", (A,)))
    held = Confirmed(replace(PATCH, fixed=(A, B)), CERTIFICATE)
    told = list_findings(_outcome(suggestion=Suggestion(attempt, held, ("weak",))))
    assert told["proved"][0].startswith("2 failing tests pass with the suggested change in 2 cold")
    said = "the fault may be in `shop.py::total`, where the tests pass with the suggested change"
    assert told["inferred"] == (said,)


def test_no_function_is_called_guilty_beside_a_change_that_passes_tests_of_the_cause() -> None:
    both = _outcome().baseline.confirmed
    clusters = (Cluster("c1", both, (Suspect(replace(TOTAL, qualname="other"), 1.0, ()),)),)
    attempt = Attempt(1, "c1", Candidate((EDIT,), "rules", "x"), Verdict("improved", (A,)))
    suggested = Suggestion(attempt, Confirmed(PATCH, CERTIFICATE), ("weak",))
    for held in ({"patch": PATCH, "certificate": CERTIFICATE}, {"suggestion": suggested}):
        told = list_findings(_outcome(clusters=clusters, attempts=(attempt,), **held))
        assert not any("other" in said for said in told["inferred"]), told
    told = list_findings(_outcome(clusters=clusters))
    assert told["inferred"] == ("the fault behind 2 tests is in `shop.py::other`, by ranking",)


@pytest.mark.parametrize(
    ("number", "last"),
    [
        (5, "the fault behind 1 test is in `shop.py::total`, by ranking"),
        (6, "and 1 more cause"),
        (12, "and 7 more causes"),
    ],
)
def test_of_many_causes_the_rest_is_counted(number: int, last: str) -> None:
    failures = [Failure(f"tests/test_a.py::test_{at}", "KeyError", "'x'") for at in range(number)]
    red = tuple(Reproduced(failure, "confirmed") for failure in failures)
    clusters = tuple(
        Cluster(failure.test, (failure,), (Suspect(TOTAL, 1.0, ()),)) for failure in failures
    )
    told = list_findings(_outcome(baseline=Baseline(red, suite(), 3), clusters=clusters))[
        "inferred"
    ]
    assert (len(told), told[-1]) == (min(number, 6), last)


def test_a_suite_that_ran_in_part_is_told_of_the_change_that_it_ran_with() -> None:
    part = replace(CERTIFICATE, full_suite=replace(CERTIFICATE.full_suite, complete=False))
    attempt = Attempt(1, "c1", Candidate((EDIT,), "rules", "x"), Verdict("fixed", (A,)))
    found = Suggestion(attempt, Confirmed(PATCH, part), ("weak",))
    said = "the whole suite did not run with the change"
    assert said in list_findings(_outcome(suggestion=found))["not_shown"]


def test_the_tests_of_a_command_are_not_called_the_suite() -> None:
    env = replace(ENVIRONMENT, suite=Suite("pytest tests/unit"))
    outcome = _outcome(patch=PATCH, certificate=replace(CERTIFICATE, environment=env))
    (said,) = list_findings(outcome)["proved"]
    assert "2 cold runs of the tests of `pytest tests/unit`, in which" in said
    record = flatten(outcome)
    assert record.certificate is not None
    assert record.certificate.environment.suite == env.suite
    part = replace(outcome.certificate, full_suite=replace(CERTIFICATE.full_suite, complete=False))
    record = flatten(replace(outcome, certificate=part))
    left = "the tests of `pytest tests/unit` did not run with the patch"
    assert left in record.not_shown
    assert not any("did not run" in line for line in list_checks(record))


@pytest.mark.parametrize(
    ("status", "said"),
    [
        ("explained", "2 tests are red for a reason outside of the code, which is named for each"),
        ("environment", "2 tests are red for a reason outside of the code, which is named for"
                        " each"),
        ("stale_test", "2 tests look out of date"),
        ("flaky", None),
    ],
)  # fmt: skip
def test_a_reason_that_no_run_shows_is_inferred(status: str, said: str | None) -> None:
    baseline = _outcome().baseline
    assert baseline is not None
    red = tuple(replace(item, status=status) for item in baseline.reproduced)
    outcome = _outcome(baseline=replace(baseline, reproduced=red), clusters=())
    assert list_findings(outcome)["inferred"] == (() if said is None else (said,))
    proved = replace(outcome, history=History(packages=(replace(LIB, tests=(A, B)),)))
    assert ("reason outside" in str(list_findings(proved)["inferred"])) is False


def test_what_could_not_be_checked_is_not_shown_and_told_once() -> None:
    gates = (
        ("whole suite, cold", "2 of 2 runs without regression"),
        ("rerun with the change raising", "1 of 1 fail again"),
        ("oracle", "in-process: the tests run by a command"),
        ("changed lines executed", "not measured: the time was over"),
        ("mypy", "configured, not installed in the test environment"),
        ("ruff", "could not be run"),
    )
    certificate = replace(
        CERTIFICATE,
        gates=gates,
        isolation=Isolation("reduced", ("uid",), ("landlock: the kernel has none",)),
        full_suite=replace(CERTIFICATE.full_suite, complete=False),
    )
    record = flatten(_outcome(patch=replace(PATCH, fixed=(A, B)), certificate=certificate))
    assert record.not_shown == (
        "the whole suite did not run with the patch",
        "the change ran in the process of the assertions: the tests run by a command",
        "check changed lines executed: not measured: the time was over",
        "check mypy: configured, not installed in the test environment",
        "check ruff: could not be run",
        "isolation layer missing: landlock: the kernel has none",
    )
    assert list_checks(record) == (
        "check whole suite, cold: 2 of 2 runs without regression",
        "check rerun with the change raising: 1 of 1 fail again",
    )
    older = record.model_copy(update={"not_shown": ()})
    assert "isolation layer missing: landlock: the kernel has none" in list_checks(older)


def test_as_many_sentences_as_the_schema_allows_are_kept() -> None:
    many = tuple(replace(FIRST, title=f"{n}\n" * 900) for n in range(80))
    record = flatten(_outcome(history=History(many)))
    assert len(record.proved) == 50
    assert not any("\n" in said for said in record.proved)
