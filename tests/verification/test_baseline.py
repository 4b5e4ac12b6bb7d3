from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from heal_bot.core.model import COMMAND, CaseResult, Failure, Frame, Leg, Origin, Spectrum
from heal_bot.verification.baseline import reproduce
from heal_bot.verification.matrix_results import list_unconfirmed
from tests.fakes import (
    ENVIRONMENT,
    FolderTree,
    ScriptedRunner,
    context_of,
    failed,
    passed,
    quiet_run,
    suite,
)

T = "test_a.py::test_one"


def _status(tmp_path: Path, *suites: object, reported: str = T) -> tuple[str, str, float | None]:
    runner = ScriptedRunner(list(suites))  # type: ignore[arg-type]
    run, _ = quiet_run()
    failures = (Failure(reported, "AssertionError", "as reported"),)
    baseline = reproduce(context_of(run, runner, FolderTree(tmp_path)), failures)
    item = baseline.reproduced[0]
    return item.status, item.failure.reason, item.flake_rate


def test_red_twice_is_confirmed_with_the_message_seen_here(tmp_path: Path) -> None:
    run, _ = quiet_run()
    runner = ScriptedRunner([suite(failed(T, "assert 3 == 4"), passed("test_a.py::test_two"))])
    reported = (Failure(T, "", ""),)
    baseline = reproduce(context_of(run, runner, FolderTree(tmp_path)), reported)
    assert [f.message for f in baseline.confirmed] == ["assert 3 == 4"]
    assert baseline.passed == {"test_a.py::test_two"}
    assert runner.asked[1][1] == (T,)


RED, GREEN = suite(failed(T)), suite(passed(T))


@pytest.mark.parametrize(
    ("suites", "status", "rate"),
    [
        ([GREEN], "not_reproduced", None),
        # The suite, three times alone and in random order twice over, the suite again.
        ([RED, *[GREEN] * 8, RED], "order_dependent", None),
        ([GREEN, *[RED] * 8, GREEN], "order_dependent", None),
        ([*[GREEN] * 9, RED], "order_dependent", None),
        # Red only beside other runs of ours, or only (and never) while lines are observed.
        ([RED, *[GREEN] * 8, GREEN], "not_reproduced", None),
        ([GREEN, RED, *[GREEN] * 7], "not_reproduced", None),
        ([RED, RED, *[GREEN] * 7], "not_reproduced", None),
        ([GREEN, GREEN, *[RED] * 7], "confirmed", None),
        ([RED, GREEN, GREEN, RED, *[GREEN] * 5], "flaky", 2 / 9),
        ([RED, GREEN, RED, *[GREEN] * 6], "flaky", 2 / 9),
        ([RED, RED, GREEN, *[RED] * 3, *[GREEN] * 3], "flaky", 5 / 9),
        ([suite(passed("test_b.py::test_x"))], "not_reproduced", None),
        ([suite(ended="timeout", detail="600 s")], "not_attempted", None),
        ([suite(ended="crashed", detail="exit code 3")], "environment", None),
        ([suite(failed(COMMAND))], "environment", None),
    ],
)
def test_what_is_not_firmly_red_is_named(
    tmp_path: Path, suites: list[object], status: str, rate: float | None
) -> None:
    found, reason, flake = _status(tmp_path, *suites)
    assert (found, flake) == (status, rate)
    assert reason


def test_a_flaky_test_says_of_which_runs_it_failed_in_some(tmp_path: Path) -> None:
    _, reason, _ = _status(tmp_path, RED, GREEN, GREEN, RED, *[GREEN] * 5)
    assert reason.startswith("it failed in 2 of 9 runs (suite, by itself, in random order)")


def test_a_run_that_does_not_come_to_a_test_says_nothing_of_it(tmp_path: Path) -> None:
    ended = suite(ended="timeout", detail="30 s")
    assert _status(tmp_path, RED, *[ended] * 8)[0] == "confirmed"
    assert _status(tmp_path, RED, ended, GREEN, RED, *[ended] * 5)[::2] == ("flaky", 2 / 3)


def test_a_test_that_is_called_otherwise_each_time_is_told_so(tmp_path: Path) -> None:
    status, reason, _ = _status(tmp_path, RED, suite(failed("test_a.py::test_one[x]")))
    assert status == "not_reproduced"
    assert "fixed values" in reason


def test_code_that_looks_steady_is_run_three_times_and_other_code_nine_times(
    tmp_path: Path,
) -> None:
    source = "def test_one():\n    assert 0\n\ndef test_two():\n    assert time.time() < 0\n"
    tree = FolderTree.of(tmp_path, {"test_a.py": source})
    two = "test_a.py::test_two"
    spectrum = Spectrum((("test_a.py", 2), ("test_a.py", 5)), {T: 1, two: 2})
    for tests, runs in ((T, 3), (two, 9)):
        run, _ = quiet_run()
        runner = ScriptedRunner([replace(suite(failed(tests)), spectrum=spectrum)])
        baseline = reproduce(context_of(run, runner, tree), (Failure(tests, "", ""),))
        assert (len(baseline.confirmed), baseline.runs) == (1, runs)


def test_of_many_tests_that_only_look_unsteady_a_sample_is_run_again(tmp_path: Path) -> None:
    names = [f"test_a.py::test_{n}" for n in range(45)]
    runner = ScriptedRunner([suite(*map(failed, names))])
    run, _ = quiet_run()
    reported = tuple(Failure(name, "", "") for name in names)
    baseline = reproduce(context_of(run, runner, FolderTree(tmp_path)), reported)
    assert (len(baseline.confirmed), baseline.runs) == (45, 9)
    assert {len(asked[1]) for asked in runner.asked[3:]} == {15}


@pytest.mark.parametrize(("left", "runs"), [(1_000.0, 9), (30.0, 5), (10.0, 5)])
def test_what_is_red_in_every_run_is_repeated_as_the_time_left_allows(
    tmp_path: Path, left: float, runs: int
) -> None:
    run, _ = quiet_run()
    run = replace(run, deadline=run.clock() + left)
    runner = ScriptedRunner([replace(suite(failed(T)), seconds=3.0)])
    baseline = reproduce(context_of(run, runner, FolderTree(tmp_path)), (Failure(T, "", ""),))
    assert (len(baseline.confirmed), baseline.runs) == (1, runs)


def test_a_test_that_passed_once_is_repeated_in_full_whatever_time_is_left(tmp_path: Path) -> None:
    run, _ = quiet_run()
    run = replace(run, deadline=run.clock() + 30.0)
    slow = [replace(one, seconds=3.0) for one in (RED, GREEN, RED)]
    runner = ScriptedRunner([*slow, *[GREEN] * 6])
    baseline = reproduce(context_of(run, runner, FolderTree(tmp_path)), (Failure(T, "", ""),))
    assert baseline.runs == 9


@pytest.mark.parametrize(
    ("kind", "message", "status"),
    [
        ("ConnectionRefusedError", "[Errno 111] Connection refused", "explained"),
        ("gaierror", "[Errno -3] Temporary failure in name resolution", "explained"),
        ("PermissionError", "[Errno 1] Operation not permitted", "explained"),
        ("PermissionError", "[Errno 13] Permission denied", "explained"),
        ("PermissionError", "[Errno 13] Permission denied: '/x'", "confirmed"),
        ("ModuleNotFoundError", "No module named 'yarl.inner'", "explained"),
        ("ModuleNotFoundError", "No module named 'shop.tx'", "confirmed"),
        ("ModuleNotFoundError", "No module named 'colections'", "confirmed"),
        (
            "ImportError",
            "cannot import name 'URL' from 'yarl' (/x/site-packages/yarl/__init__.py)",
            "explained",
        ),
        ("ImportError", "cannot import name 'rate' from 'shop' (/r/shop/__init__.py)", "confirmed"),
        ("ValueError", "the connection is refused", "confirmed"),
        ("NoBrokersAvailable", "NoBrokersAvailable", "explained"),
        ("docker.errors.DockerException", "Error while fetching server API", "explained"),
    ],
)
def test_what_the_machine_lacks_is_told_from_what_the_code_gets_wrong(
    tmp_path: Path, kind: str, message: str, status: str
) -> None:
    tree = FolderTree.of(tmp_path, {"shop/__init__.py": "", "test_a.py": ""})
    run, _ = quiet_run()
    result = CaseResult(T, "failed", kind=kind, message=message)
    reported = (Failure(T, kind, message),)
    baseline = reproduce(context_of(run, ScriptedRunner([suite(result)]), tree), reported)
    assert baseline.reproduced[0].status == status


@pytest.mark.parametrize(
    ("name", "path", "status"),
    [
        ("psql", "/usr/lib/python3.11/subprocess.py", "explained"),
        ("psql", "shop/net.py", "confirmed"),
        ("run.sh", "/usr/lib/python3.11/subprocess.py", "confirmed"),
        ("bin/psql", "/usr/lib/python3.11/subprocess.py", "confirmed"),
    ],
)
def test_a_program_that_the_machine_lacks_is_the_environment(
    tmp_path: Path, name: str, path: str, status: str
) -> None:
    tree = FolderTree.of(tmp_path, {"ci/run.sh": "", "test_a.py": ""})
    message = f"[Errno 2] No such file or directory: '{name}'"
    frames = (Frame("test_a.py", 3, "test_one", Origin.TEST), Frame(path, 9, "run", Origin.LIBRARY))
    seen = CaseResult(T, "failed", kind="FileNotFoundError", message=message, frames=frames)
    run, _ = quiet_run()
    reported = (Failure(T, "FileNotFoundError", message),)
    baseline = reproduce(context_of(run, ScriptedRunner([suite(seen)]), tree), reported)
    assert baseline.reproduced[0].status == status


def test_a_missing_package_is_the_environment_and_a_missing_project_name_is_not(
    tmp_path: Path,
) -> None:
    missing = CaseResult(T, "failed", kind="ModuleNotFoundError", message="No module named 'yarl'")
    status, reason, _ = _status(tmp_path, suite(missing))
    assert status == "environment"
    assert "install" in reason
    frame = Frame("shop/tax.py", 3, "rate", Origin.PROJECT)
    ours = CaseResult(T, "failed", kind="ImportError", message="cannot import", frames=(frame,))
    assert _status(tmp_path, suite(ours))[0] == "confirmed"


@pytest.mark.parametrize(
    ("reported", "seen", "status"),
    [
        (("AssertionError", "3 != 4"), ("PermissionError", "[Errno 13] denied"), "environment"),
        (("KeyError", "'a'"), ("RuntimeError", "failed: [Errno 111] refused"), "environment"),
        (("PermissionError", "[Errno 13] x"), ("PermissionError", "[Errno 13] x"), "confirmed"),
        (("AssertionError", "a"), ("AssertionError", "PermissionError not raised"), "confirmed"),
        (("", ""), ("PermissionError", "[Errno 13] denied"), "confirmed"),
    ],
)
def test_a_test_that_fails_for_the_sandboxs_sake_alone_is_the_environment(
    tmp_path: Path, reported: tuple[str, str], seen: tuple[str, str], status: str
) -> None:
    run, _ = quiet_run()
    here = suite(CaseResult(T, "failed", kind=seen[0], message=seen[1]), failed("x::z"))
    failures = (Failure(T, *reported), Failure("x::z", "AssertionError", "as reported"))
    runner = ScriptedRunner([here])
    baseline = reproduce(context_of(run, runner, FolderTree(tmp_path)), failures)
    assert [item.status for item in baseline.reproduced] == [status, "confirmed"]
    assert ("not verified" in baseline.reproduced[0].failure.reason) == (status == "environment")


def test_what_a_failing_test_executes_by_itself_counts_too(tmp_path: Path) -> None:
    place, memo = ("a.py", 2), ("a.py", 5)
    whole = replace(suite(failed(T)), spectrum=Spectrum((place,), {T: 1}, ("a gap",)))
    alone = replace(suite(failed(T)), spectrum=Spectrum((memo, place), {T: 1}))
    run, _ = quiet_run()
    runner = ScriptedRunner([whole, alone, suite(failed(T))])
    baseline = reproduce(context_of(run, runner, FolderTree(tmp_path)), (Failure(T, "", ""),))
    assert baseline.suite.spectrum == Spectrum((place, memo), {T: 3}, ("a gap",))


def test_what_a_test_that_the_suite_did_not_come_to_executes_counts_for_it_alone(
    tmp_path: Path,
) -> None:
    place, other, near = ("a.py", 2), ("a.py", 5), f"{T}_other"
    cut = suite(passed(near), ended="timeout", detail="60 s")
    whole = replace(cut, spectrum=Spectrum((other,), {near: 1}))
    alone = replace(suite(failed(T)), spectrum=Spectrum((place,), {T: 1}))
    run, _ = quiet_run()
    runner = ScriptedRunner([whole, alone, suite(failed(T))])
    baseline = reproduce(context_of(run, runner, FolderTree(tmp_path)), (Failure(T, "", ""),))
    assert baseline.suite.spectrum == Spectrum((other, place), {near: 1, T: 2})


def test_without_a_report_every_red_test_of_the_suite_is_a_failure(tmp_path: Path) -> None:
    run, _ = quiet_run()
    ran = suite(failed(T), passed("x::y"), failed("x::z"))
    broken = ("test_u.py", "SyntaxError: invalid syntax")
    runner = ScriptedRunner([replace(ran, errors=(broken,))])
    baseline = reproduce(context_of(run, runner, FolderTree(tmp_path)), None)
    assert [f.test for f in baseline.confirmed] == ["test_u.py", T, "x::z"]
    assert baseline.confirmed[0].kind == "SyntaxError"


@pytest.mark.parametrize("named", ["test_a.py", "test_a.py::TestA", "test_a.py::TestA::test_p"])
def test_a_failure_of_many_tests_is_the_red_ones_beneath_it(tmp_path: Path, named: str) -> None:
    red, green = (f"test_a.py::TestA::test_p[{n}]" for n in range(2))
    run, _ = quiet_run()
    runner = ScriptedRunner([suite(failed(red), passed(green), failed("test_a.pyx::test_z"))])
    failures = (Failure(named, "", ""),)
    baseline = reproduce(context_of(run, runner, FolderTree(tmp_path)), failures)
    assert [f.test for f in baseline.confirmed] == [red]
    for here in (suite(passed(red)), suite(passed("test_b.py::test_x"))):
        runner = ScriptedRunner([here])
        baseline = reproduce(context_of(run, runner, FolderTree(tmp_path)), failures)
        assert [(r.failure.test, r.status) for r in baseline.reproduced] == [
            (named, "not_reproduced")
        ]


@pytest.mark.parametrize(
    ("legs", "status", "told"),
    [
        ((Leg("w", "3.11", "windows"),), "explained", "reported; Linux shows it failing too"),
        ((Leg("w", "3.11", "windows"), Leg("m", "", "macos")), "explained", "reported; Li"),
        ((Leg("w", "", "windows"), Leg("u", "3.11", "linux")), "confirmed", "reported"),
        ((Leg("r.xml"),), "confirmed", "reported"),
    ],
)
def test_what_failed_on_other_systems_alone_is_not_reproduced(
    tmp_path: Path, legs: tuple[Leg, ...], status: str, told: str
) -> None:
    run, _ = quiet_run()
    reported = (Failure(T, "AssertionError", "m", reason="reported", legs=legs),)
    runner = ScriptedRunner([suite(failed(T))])
    baseline = reproduce(context_of(run, runner, FolderTree(tmp_path)), reported)
    (found,) = baseline.reproduced
    assert found.status == status
    assert found.failure.reason.startswith(told)
    assert found.failure.legs == legs


def test_linux_legs_of_another_python_are_named_as_not_confirmed(tmp_path: Path) -> None:
    run, _ = quiet_run()
    many = (Leg("a", "3.10", "linux"), Leg("b", "3.11", "linux"), Leg("w", "3.9", "windows"))
    reported = (
        Failure(T, "", "", legs=many),
        Failure("x::z", "", "", legs=(*many, Leg("c", "3.13"))),
    )
    runner = ScriptedRunner([suite(failed(T), failed("x::z"))])
    baseline = reproduce(context_of(run, runner, FolderTree(tmp_path)), reported)
    told = list_unconfirmed(baseline, ENVIRONMENT)
    assert [line.partition(", where ")[::2] for line in told] == [
        (
            "not confirmed on Python 3.10 (a)",
            "2 of the tests failed: only Python 3.11.2 is provisioned here",
        ),
        (
            "not confirmed on Python 3.13 (c)",
            "x::z failed: only Python 3.11.2 is provisioned here",
        ),
    ]


@pytest.mark.parametrize(
    ("kind", "message"),
    [("XPASS(strict)", ""), ("Failed", "[XPASS(strict)] was broken"), ("", "Unexpected success")],
)
def test_a_test_that_passes_where_it_must_fail_is_out_of_date(
    tmp_path: Path, kind: str, message: str
) -> None:
    status, reason, _ = _status(tmp_path, suite(failed(T, message, kind)))
    assert status == "stale_test"
    assert "the mark, not the code" in reason


def test_red_tests_that_the_report_does_not_name_are_told(tmp_path: Path) -> None:
    run, events = quiet_run()
    runner = ScriptedRunner([suite(failed(T), failed("x::z"))])
    reproduce(context_of(run, runner, FolderTree(tmp_path)), (Failure(T, "", ""),))
    assert any("x::z" in getattr(event, "message", "") for event in events)
