"""What becomes of a report that is cut, old, empty, foreign, or of another leg."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from heal_bot.core.errors import HealBotError, ProvisionError, SandboxError, UsageError
from heal_bot.core.model import (
    Collection,
    Environment,
    HealRequest,
    Isolation,
    Memory,
    Outcome,
    Spectrum,
    SuiteRun,
)
from heal_bot.pipeline import Edges, heal
from heal_bot.repair.search.cluster_search import SearchLimits
from heal_bot.report.outcome_record import flatten
from tests.fakes import (
    ISOLATION,
    RED,
    SHA,
    FolderTree,
    FolderWorkspace,
    NoStore,
    ScriptedRunner,
    case,
    failed,
    passed,
    quiet_run,
    suite,
)

FILES = {"tests/test_a.py": "def test_one(): pass\ndef test_two(): pass\ndef test_three(): pass\n"}
ONE, TWO, THREE = (f"tests/test_a.py::test_{n}" for n in ("one", "two", "three"))
MADE = 1_000_000.0


@dataclass
class Runner(ScriptedRunner):
    """Collects the three tests of FILES."""

    def preflight(self, run: Any, env: Any) -> Isolation:
        return ISOLATION

    def collect(self, run: Any, tree: Any, env: Any) -> Collection:
        return Collection((ONE, TWO, THREE))


@dataclass
class Workspace(FolderWorkspace):
    """One commit, made at MADE."""

    def checkout(self, run: Any, sha: str) -> FolderTree:
        return FolderTree.of(self.folder, FILES)

    def date_content(self, run: Any, tree: Any) -> float:
        return MADE


def healed(
    tmp_path: Path, reports: dict[str, str], *suites: Any, only: tuple[str, ...] = ()
) -> tuple[Outcome, Runner]:
    for name, text in reports.items():
        whole = text if text.startswith("<testsuite") else f"<testsuite>{text}</testsuite>"
        (tmp_path / name).write_text(whole)
    run, _ = quiet_run()
    runner = Runner(list(suites) or [suite(passed(ONE), passed(TWO), passed(THREE))])
    edges = Edges(Workspace(tmp_path / "tree"), runner, (), NoStore())  # type: ignore[arg-type]
    request = HealRequest("octo/shop", SHA, reports=tuple(reports), only=only)
    return heal(run, request, edges, tmp_path, Memory(), SearchLimits()), runner


@dataclass
class BrokenWorkspace(Workspace):
    """A project with a fault, of which no environment can be made."""

    error: HealBotError = field(default_factory=lambda: ProvisionError("no index answers"))

    def checkout(self, run: Any, sha: str) -> FolderTree:
        source = "def total(prices):\n    return prices[9]\n\ndef label(a):\n    return a\n"
        return FolderTree.of(self.folder, {**FILES, "shop.py": source})

    def provision(self, run: Any, tree: object, hints: object) -> Environment:
        raise self.error


TRACEBACK = """<failure message="IndexError: list index out of range">
tests/test_a.py:1: in test_one
    total([])
shop.py:2: IndexError
</failure>"""


@pytest.mark.parametrize(
    ("error", "status"),
    [(ProvisionError("no index"), "environment_error"), (SandboxError("open"), "sandbox_error")],
)
def test_where_no_test_can_run_the_tracebacks_of_the_report_tell_who_is_suspected(
    tmp_path: Path, error: HealBotError, status: str
) -> None:
    (tmp_path / "r.xml").write_text(f"<testsuite>{case('one', TRACEBACK)}</testsuite>")
    run, _ = quiet_run()
    edges = Edges(BrokenWorkspace(tmp_path / "tree", error=error), Runner([]), (), NoStore())  # type: ignore[arg-type]
    request, before = HealRequest("octo/shop", SHA, reports=("r.xml",)), Memory((), ("breaks:f",))
    outcome = heal(run, request, edges, tmp_path, before, SearchLimits())
    record = flatten(outcome)
    assert (record.status, record.memory.lessons) == (status, ("breaks:f",))
    assert record.reason.startswith(str(error))
    (failure,) = record.failures
    assert (failure.test, failure.status) == (ONE, "not_attempted")
    assert failure.suspects[0].qualname == "total"
    assert "raised here in 1 of 1 failing tests" in failure.suspects[0].evidence
    assert record.inferred == ("the fault behind 1 test is in `shop.py::total`, by ranking",)


def test_where_no_test_can_run_and_the_report_names_none_the_error_stands(tmp_path: Path) -> None:
    run, _ = quiet_run()
    edges = Edges(BrokenWorkspace(tmp_path / "tree"), Runner([]), (), NoStore())  # type: ignore[arg-type]
    with pytest.raises(ProvisionError, match="no index answers"):
        heal(run, HealRequest("octo/shop", SHA), edges, tmp_path, Memory(), SearchLimits())


GREEN = case("one") + case("two") + case("three")


def test_a_whole_report_without_failures_leaves_nothing_to_do(tmp_path: Path) -> None:
    outcome, runner = healed(tmp_path, {"r.xml": GREEN})
    assert (outcome.status, outcome.reason) == ("nothing_to_do", "the report names no failure")
    assert runner.asked == []


@pytest.mark.parametrize(
    ("text", "flag"),
    [
        ("<testsuites/>", "empty"),
        (case("one") + "<testcase/>", "partial"),
        ("<testsuite>" + case("one") + "<testcase classname", "partial"),
    ],
)
def test_a_report_that_is_no_proof_makes_the_baseline_the_report(
    tmp_path: Path, text: str, flag: str
) -> None:
    outcome, runner = healed(tmp_path, {"r.xml": text})
    assert (outcome.status, outcome.reason) == ("nothing_to_do", "every test passes here")
    assert flag in outcome.report.flags
    assert runner.asked[0][1] is None
    red = suite(failed(ONE), passed(TWO), passed(THREE))
    green_alone = suite(passed(ONE))
    outcome, _ = healed(tmp_path, {"r.xml": text}, red, green_alone)
    assert outcome.status == "not_reproduced"
    assert "depends on load or chance" in outcome.reason
    assert outcome.baseline is not None
    assert [r.failure.test for r in outcome.baseline.reproduced] == [ONE]


def test_a_report_older_than_the_commit_is_no_proof(tmp_path: Path) -> None:
    (tmp_path / "r.xml").write_text(f"<testsuite>{GREEN}</testsuite>")
    os.utime(tmp_path / "r.xml", (MADE - 1, MADE - 1))
    run, events = quiet_run()
    runner = Runner([suite(passed(ONE), passed(TWO), passed(THREE))])
    edges = Edges(Workspace(tmp_path / "tree"), runner, (), NoStore())  # type: ignore[arg-type]
    request = HealRequest("octo/shop", SHA, reports=("r.xml",))
    outcome = heal(run, request, edges, tmp_path, Memory(), SearchLimits())
    assert "stale" in outcome.report.flags
    assert runner.asked != []
    said = [getattr(event, "message", "") for event in events]
    assert "r.xml was written before the commit that it is for was made" in said
    assert "the report is stale: the tests are run to see what fails" in said


def test_a_report_that_stops_at_its_first_failure_is_partial(tmp_path: Path) -> None:
    outcome, _ = healed(tmp_path, {"r.xml": case("one") + case("two", RED)})
    assert outcome.status == "not_reproduced"
    assert outcome.report.flags == ("partial",)
    assert "names 2 of 3 collected tests" in outcome.report.skipped[0]
    outcome, _ = healed(tmp_path, {"r.xml": case("one") + case("two", RED) + case("three")})
    assert outcome.report.flags == ()


@pytest.mark.parametrize("red_here", [False, True])
def test_failures_of_other_systems_alone_are_not_reproduced_and_name_their_leg(
    tmp_path: Path, red_here: bool
) -> None:
    reports = {
        "results-windows-py3.11.xml": case("one", RED) + case("two") + case("three"),
        "results-ubuntu-py3.11.xml": GREEN,
    }
    here = failed(ONE) if red_here else passed(ONE)
    outcome, _ = healed(tmp_path, reports, suite(here, passed(TWO), passed(THREE)))
    assert outcome.status == "explained"
    assert "reported only on windows, by results-windows-py3.11.xml" in outcome.reason
    assert ("failing too" in outcome.reason) is red_here


def test_a_python_that_is_not_here_is_named_when_nothing_fails_here(tmp_path: Path) -> None:
    reports = {"results-ubuntu-py3.13.xml": case("one", RED) + case("two") + case("three")}
    outcome, _ = healed(tmp_path, reports)
    assert outcome.status == "explained"
    assert "it was reported on Python 3.13, here is 3.11.2" in outcome.reason


def test_a_try_that_passed_and_a_test_of_the_same_name_are_told_apart(tmp_path: Path) -> None:
    text = case("one", RED) + case("one") + case("two") + case("three")
    outcome, _ = healed(tmp_path, {"r.xml": text})
    assert (outcome.status, outcome.reason) == ("nothing_to_do", "the report names no failure")
    assert "failed and then passed in r.xml" in outcome.report.skipped[0]


def test_only_needs_a_failing_test_of_the_report(tmp_path: Path) -> None:
    text = case("one", RED) + case("two", RED) + case("three")
    with pytest.raises(
        UsageError, match=f"--only {TWO}x: the report has no such .* has {ONE} among"
    ):
        healed(tmp_path, {"r.xml": text}, only=(f"{TWO}x",))
    outcome, _ = healed(tmp_path, {"r.xml": text}, only=(TWO,))
    assert outcome.baseline is not None
    assert [r.failure.test for r in outcome.baseline.reproduced] == [TWO]


@pytest.mark.parametrize(
    ("name", "text", "runner"),
    [
        ("pkg/core_test", '<error message="exited with error code 1"/>', "Bazel"),
        ("adds", "<failure>at x (/r/a.test.ts:3:9)</failure>", "a JavaScript test runner"),
    ],
)
def test_a_report_of_a_runner_that_pytest_cannot_stand_in_for_leaves_nothing_to_do(
    tmp_path: Path, name: str, text: str, runner: str
) -> None:
    outcome, _ = healed(tmp_path, {"r.xml": f'<testcase name="{name}">{text}</testcase>'})
    assert outcome.status == "nothing_to_do"
    told = f"the report comes from {runner}, whose tests pytest cannot run; test-command may"
    assert outcome.reason.startswith(told)


def test_what_pytest_cannot_run_the_test_command_may(tmp_path: Path) -> None:
    inside = '<failure message="Failed doctest test for calc.add   File x"/>'
    told = f'<testsuite><testcase classname="calc" name="add">{inside}</testcase></testsuite>'
    (tmp_path / "r.xml").write_text(told)
    red = suite(failed("calc::add"), passed(ONE))
    for command, confirmed in (("", None), ("make test", ["calc::add"])):
        run, _ = quiet_run()
        runner = Runner([red])
        edges = Edges(Workspace(tmp_path / "tree"), runner, (), NoStore())  # type: ignore[arg-type]
        request = HealRequest("octo/shop", SHA, reports=("r.xml",), test_command=command)
        outcome = heal(run, request, edges, tmp_path, Memory(), SearchLimits())
        assert (outcome.status == "nothing_to_do") is not bool(command)
        found = outcome.baseline and [f.test for f in outcome.baseline.confirmed]
        assert found == confirmed


def test_a_leg_whose_python_is_not_here_is_named_in_the_outcome(tmp_path: Path) -> None:
    reports = {
        "py3.11.xml": case("one", RED) + case("two") + case("three"),
        "py3.13.xml": case("one", RED) + case("two") + case("three"),
    }
    outcome, _ = healed(tmp_path, reports, suite(failed(ONE), passed(TWO), passed(THREE)))
    assert outcome.status == "not_healed"
    (told,) = [note for note in outcome.notes if "Python" in note]
    assert told == (
        f"not confirmed on Python 3.13 (py3.13.xml), where {ONE} failed:"
        " only Python 3.11.2 is provisioned here"
    )


@pytest.mark.parametrize(
    ("ran", "status", "remedy"),
    [
        (suite(ended="timeout", detail="600 s"), "budget_exhausted", "raise --max-minutes"),
        (
            replace(suite(passed(ONE), ended="timeout"), collected=(ONE, TWO, THREE)),
            "budget_exhausted",
            "1 of 3 tests ran",
        ),
        (suite(ended="crashed", detail="code 4: no config"), "environment_error", "to its end"),
        (suite(), "nothing_to_do", "collects no test"),
        (suite(passed(ONE)), "nothing_to_do", "every test passes here"),
    ],
)
def test_a_suite_that_names_no_failure_says_whether_it_could_have(
    tmp_path: Path, ran: SuiteRun, status: str, remedy: str
) -> None:
    outcome, _ = healed(tmp_path, {}, ran)
    assert outcome.status == status
    assert remedy in outcome.reason


CUT = replace(suite(passed(ONE), ended="timeout", detail="60 s"), collected=(ONE, TWO, THREE))
LONG = "<testsuite time='3000'>{}</testsuite>"


@pytest.mark.parametrize("left", [10.0, 200.0, 1200.0])
@pytest.mark.parametrize(
    ("cases", "age"),
    [(case("one") + "<testcase/>", 1), (GREEN, -1), ("", 1)],
    ids=["partial", "stale", "empty"],
)
def test_a_run_that_did_not_reach_its_end_never_speaks_for_the_rest(
    tmp_path: Path, cases: str, age: float, left: float
) -> None:
    (tmp_path / "r.xml").write_text(LONG.format(cases))
    os.utime(tmp_path / "r.xml", (MADE + age, MADE + age))
    run, _ = quiet_run(clock=lambda: 0.0, deadline=left)
    runner = Runner([CUT])
    edges = Edges(Workspace(tmp_path / "tree"), runner, (), NoStore())  # type: ignore[arg-type]
    request = HealRequest("octo/shop", SHA, reports=("r.xml",))
    outcome = heal(run, request, edges, tmp_path, Memory(), SearchLimits())
    assert (outcome.status, outcome.stopped) == ("budget_exhausted", "budget")
    assert "1 of 3 tests ran" in outcome.reason
    # Without a name to begin with nothing is left out beforehand.
    assert runner.asked == [(tmp_path / "tree", None)]


@pytest.mark.parametrize("stale", [False, True])
def test_what_a_report_names_runs_though_the_suite_does_not_come_to_it(
    tmp_path: Path, stale: bool
) -> None:
    cases = case("one") + case("three", RED)
    (tmp_path / "r.xml").write_text(f"<testsuite time='10'>{cases}</testsuite>")
    os.utime(tmp_path / "r.xml", (MADE - stale, MADE - stale))
    run, _ = quiet_run()
    for here, status in ((failed(THREE), "not_healed"), (passed(THREE), "not_reproduced")):
        runner = Runner([CUT, suite(here), suite(here)] * 2)
        edges = Edges(Workspace(tmp_path / "tree"), runner, (), NoStore())  # type: ignore[arg-type]
        request = HealRequest("octo/shop", SHA, reports=("r.xml",))
        outcome = heal(run, request, edges, tmp_path, Memory(), SearchLimits())
        green = stale and status == "not_reproduced"
        assert outcome.status == ("budget_exhausted" if green else status)
        assert runner.asked[1][1] == (THREE,)


def test_a_stale_report_says_what_runs_first_and_not_what_is_red(tmp_path: Path) -> None:
    for named in ("three", "gone"):
        cases = case("one") + case(named, RED)
        (tmp_path / "r.xml").write_text(f"<testsuite>{cases}</testsuite>")
        os.utime(tmp_path / "r.xml", (MADE - 1, MADE - 1))
        run, _ = quiet_run()
        runner = Runner([suite(passed(ONE), failed(TWO), passed(THREE)), suite(failed(TWO))])
        edges = Edges(Workspace(tmp_path / "tree"), runner, (), NoStore())  # type: ignore[arg-type]
        request = HealRequest("octo/shop", SHA, reports=("r.xml",))
        outcome = heal(run, request, edges, tmp_path, Memory(), SearchLimits())
        assert outcome.baseline is not None
        assert [f.test for f in outcome.baseline.confirmed] == [TWO]


def test_a_test_that_the_time_given_did_not_reach_was_not_attempted(tmp_path: Path) -> None:
    text = case("one") + case("two", RED) + case("three", RED)
    outcome, _ = healed(tmp_path, {"r.xml": text}, CUT)
    assert (outcome.status, outcome.stopped) == ("budget_exhausted", "budget")
    assert outcome.baseline is not None
    assert {r.status for r in outcome.baseline.reproduced} == {"not_attempted"}
    assert "1 of 3 tests ran" in outcome.reason
    crashed = replace(CUT, ended="crashed", detail="exit code 3")
    outcome, _ = healed(tmp_path, {"r.xml": text}, crashed)
    assert outcome.status == "environment_error"


def test_a_gap_of_what_was_observed_is_told_once(tmp_path: Path) -> None:
    gap = "child processes (1 test, first tests/test_a.py::test_one)"
    red = replace(suite(failed(ONE), passed(TWO), passed(THREE)), spectrum=Spectrum((), {}, (gap,)))
    (tmp_path / "r.xml").write_text(
        f"<testsuite>{case('one', RED)}{case('two')}{case('three')}</testsuite>"
    )
    run, events = quiet_run()
    edges = Edges(Workspace(tmp_path / "tree"), Runner([red]), (), NoStore())  # type: ignore[arg-type]
    request = HealRequest("octo/shop", SHA, reports=("r.xml",))
    heal(run, request, edges, tmp_path, Memory(), SearchLimits())
    assert [getattr(event, "message", "") for event in events].count(gap) == 1


@pytest.mark.parametrize("name", ["ruff", "mypy"])
def test_findings_of_linters_alone_end_the_run_before_anything_is_built(
    tmp_path: Path, name: str
) -> None:
    finding = f'<testcase classname="shop" name="{name}"><failure message="bad"/></testcase>'
    outcome, runner = healed(tmp_path, {"r.xml": finding + case("one")})
    assert outcome.status == "explained"
    assert name in outcome.reason
    assert runner.asked == []


WINDOWS = RED.replace("tests/test_a.py:1: ", "tests\\test_a.py:1: ")


@pytest.mark.parametrize(
    ("reports", "told"),
    [
        ({"r.xml": case("one", WINDOWS) + case("two") + case("three")}, "are of windows"),
        ({"a.xml": GREEN, "b.xml": case("one", RED) + case("two") + case("three")},
         "it is red on b.xml alone, of 2 legs"),
    ],
)  # fmt: skip
def test_what_is_red_on_one_leg_alone_and_green_here_is_explained(
    tmp_path: Path, reports: dict[str, str], told: str
) -> None:
    outcome, _ = healed(tmp_path, reports)
    assert outcome.status == "explained"
    assert told in outcome.reason
    plain, _ = healed(tmp_path, {"r.xml": case("one", RED) + case("two") + case("three")})
    assert plain.status == "not_reproduced"
