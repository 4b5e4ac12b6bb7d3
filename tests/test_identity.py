"""Names of tests that hold from run to run: in records, and where a later run reads them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from heal_bot.core.events import Run
from heal_bot.core.model import (
    Baseline,
    Collection,
    Failure,
    HealRequest,
    Outcome,
    Report,
    Reproduced,
    stable_test_ids,
)
from heal_bot.junit import reader, reported_tests
from heal_bot.report.outcome_record import fingerprint_failures, flatten
from heal_bot.verification.baseline import reproduce
from tests.fakes import (
    FolderTree,
    ScriptedRunner,
    context_of,
    failed,
    passed,
    quiet_run,
    suite,
)

F = "t[1]/test_m.py::Case::test_f"
MONDAY = ("a.py::test_a", f"{F}[mon [1]]", f"{F}[mon::2]", f"{F}[mon 3]", "b.py::test_b[x]")


def test_a_test_is_named_by_its_place_and_found_by_it_in_another_run() -> None:
    names = stable_test_ids.placed(MONDAY, [F])
    assert list(names.values()) == [f"{F}[{n} of 3]" for n in (1, 2, 3)]
    tuesday = tuple(test.replace("mon", "tue") for test in MONDAY)
    assert [stable_test_ids.here(names[test], tuesday) for test in MONDAY[1:4]] == list(
        tuesday[1:4]
    )
    assert stable_test_ids.runnable(names[MONDAY[1]]) == F


@pytest.mark.parametrize(
    "name", [f"{F}[2 of 4]", f"{F}[0 of 3]", f"{F}[4 of 3]", f"{F}[mon 3]", F, "a.py"]
)
def test_a_name_that_is_no_place_here_stays_as_it_is(name: str) -> None:
    assert stable_test_ids.here(name, MONDAY) == name


def test_an_id_that_reads_like_a_place_is_an_id() -> None:
    assert stable_test_ids.here("m::f[1 of 1]", ("m::f[x]", "m::f[1 of 1]")) == "m::f[1 of 1]"


def _outcome(test: str, *collected: str) -> Outcome:
    seen = suite(*map(passed, collected))
    item = Reproduced(Failure(test, "AssertionError", "assert 0"), "confirmed")
    baseline = Baseline((item,), seen, 1, unsteady=(F,))
    request = HealRequest("o/r", "1" * 40)
    return Outcome(request, "not_healed", "done", "", Report(()), baseline)


def test_the_same_failures_have_the_same_names_and_fingerprint_on_another_day() -> None:
    monday = _outcome(MONDAY[2], *MONDAY)
    tuesday = _outcome(f"{F}[tue 2]", f"{F}[tue 1]", f"{F}[tue 2]", f"{F}[tue 3]")
    assert fingerprint_failures(monday) == fingerprint_failures(tuesday)
    other = replace(tuesday, baseline=_outcome(f"{F}[tue 1]", f"{F}[tue 1]").baseline)
    assert fingerprint_failures(monday) != fingerprint_failures(other)
    shown = [flatten(outcome).failures[0].test for outcome in (monday, tuesday)]
    assert shown == [f"{F}[2 of 3]"] * 2


def test_a_later_run_reproduces_what_an_earlier_one_named(tmp_path: Path) -> None:
    run, events = quiet_run()
    red = suite(passed(MONDAY[0]), passed(MONDAY[1]), failed(MONDAY[2]), passed(MONDAY[3]))
    runner = ScriptedRunner([replace(red, unsteady=(F,))])
    tree = FolderTree.of(tmp_path, {"m.py": ""})
    named = [Failure(f"{F}[2 of 3]", "", "")]
    baseline = reproduce(context_of(run, runner, tree), named)
    assert [failure.test for failure in baseline.confirmed] == [MONDAY[2]]
    assert baseline.unsteady == (F,)
    told = [text for e in events if F in (text := getattr(e, "message", ""))]
    assert told == [f"test ids that change from run to run, compared by function and position: {F}"]


REPORTED = """\
<testsuite name="pytest" tests="5">
<testcase classname="pkg.test_m" name="test_f[09:00:01]"/>
<testcase classname="pkg.test_m" name="test_f[09:00:02]"><failure message="assert 0"/></testcase>
<testcase classname="pkg.test_m" name="test_f[09:00:02]"><error message="failed on teardown"/>
</testcase>
<testcase classname="pkg.test_m" name="test_f[09:00:03]"><skipped/></testcase>
<testcase classname="pkg.test_n" name="test_f[x]"/>
</testsuite>
"""


def _joined(tmp_path: Path, *ids: str, reported: str = REPORTED) -> reported_tests.Resolved:
    (tmp_path / "junit.xml").write_text(reported)
    run = Run(lambda event: None)
    report = reader.read_reports(run, tmp_path, ["junit.xml"])
    collected = [f"pkg/test_m.py::test_f[{one}]" for one in ids]
    collection = Collection(("pkg/test_n.py::test_f[x]", *collected, "pkg/test_m.py::test_g"))
    paths = ("pkg/test_m.py", "pkg/test_n.py")
    return reported_tests.resolve(run, report, collection, paths, lambda path: b"")


def test_a_reported_test_whose_ids_change_is_joined_by_its_place(tmp_path: Path) -> None:
    found = _joined(tmp_path, "17:30:08", "17:30:09", "17:30:10")
    assert [f.test for f in found.failures] == ["pkg/test_m.py::test_f[17:30:09]"]
    assert found.skipped == ()


def test_a_report_of_workers_is_in_no_order_and_joins_nothing_by_its_place(tmp_path: Path) -> None:
    said = '<failure message="assert 0">[gw1] linux -- Python 3.12.4 /venv/bin/python</failure>'
    reported = REPORTED.replace('<failure message="assert 0"/>', said)
    found = _joined(tmp_path, "17:30:08", "17:30:09", "17:30:10", reported=reported)
    assert "no parameter set of this name" in found.nothing


def test_a_reported_test_is_not_joined_where_there_are_more_or_fewer(tmp_path: Path) -> None:
    assert "no parameter set of this name" in _joined(tmp_path, "17:30:08", "17:30:09").nothing


def test_projects_with_tests_of_one_name_have_fingerprints_apart() -> None:
    found = _outcome("tests/a.py::f", "tests/a.py::f")
    assert fingerprint_failures(found, "a") != fingerprint_failures(found, "b")
    # Where the ids bear the folder nothing else is needed to tell them apart.
    assert fingerprint_failures(found, "tests") == fingerprint_failures(found)
