"""What may have been otherwise in the failing run, where its test is green here."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from heal_bot.core.model import Environment, Failure, Report, ReportedCase, Spectrum
from heal_bot.core.statuses import FailureStatus
from heal_bot.verification import environment_differences
from heal_bot.verification.baseline import reproduce
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

T = "tests/test_a.py::test_one"
OPTIONAL = "try:\n    import fastlib as json\nexcept Exception:\n    import json\nA = 1\n"


@pytest.fixture
def env(tmp_path: Path) -> Environment:
    FolderTree.of(tmp_path / "env/lib/python3.11/site-packages", {"fastlib/__init__.py": ""})
    return replace(ENVIRONMENT, prefix=str(tmp_path / "env"))


@pytest.mark.parametrize(
    ("code", "line", "named"),
    [
        ("def f(x):\n    return datetime.fromtimestamp(x)\n", 2, "shop.py:2 reads the local time"),
        ("def f(x):\n    return time.mktime(x)\n", 2, "set TZ=UTC"),
        ("def f(x):\n    return datetime.fromtimestamp(x, UTC)\n", 2, ""),
        # The test does not come to that line.
        ("def f(x):\n    return datetime.fromtimestamp(x)\n", 1, ""),
        (OPTIONAL, 5, "shop.py:2 does without fastlib"),
        (OPTIONAL.replace("fastlib", "otherlib"), 5, ""),
        ("import fastlib\n", 1, ""),
    ],
)
def test_the_time_zone_or_a_package_that_the_code_does_without_is_named(
    tmp_path: Path, env: Environment, code: str, line: int, named: str
) -> None:
    tree = FolderTree.of(tmp_path / "tree", {"shop.py": code})
    ran = replace(suite(passed(T)), spectrum=Spectrum((("shop.py", line),), {T: 1}))
    said = environment_differences.explain_differences(T, ran, tree, env)
    assert (named in said) if named else said == ""
    runner, (run, _) = ScriptedRunner([ran]), quiet_run()
    found = reproduce(context_of(run, runner, tree, env=env), (Failure(T, "AssertionError", ""),))
    assert found.reproduced[0].status == "not_reproduced"
    assert found.reproduced[0].failure.reason.endswith(said)


def _doubted(tmp_path: Path, report: Report, red: int, green: int) -> tuple[str, str]:
    """The status and the reason of a test that fails in the report and here, among others."""
    tree = FolderTree.of(tmp_path / "tree", {"libs/common/shared.py": ""})
    lost = [failed(f"tests/test_b.py::test_{n}", "No module named 'shared'", "ModuleNotFoundError")
            for n in range(red)]  # fmt: skip
    kept = [passed(f"tests/test_c.py::test_{n}") for n in range(green)]
    ran = suite(failed(T), *lost, *kept)
    run, _ = quiet_run()
    named = [f"{case.classname.replace('.', '/')}.py::{case.name}" for case in report.cases]
    failures = tuple(Failure(test, "", "") for test in dict.fromkeys([T, *named]))
    baseline = reproduce(context_of(run, ScriptedRunner([ran]), tree), failures)
    one, *_ = environment_differences.doubt_environment(report, baseline, tree).reproduced
    return one.status, one.failure.reason


def test_where_most_tests_that_the_job_passed_fail_here_the_environment_is_to_blame(
    tmp_path: Path,
) -> None:
    report = Report((ReportedCase("tests.test_a", "test_one", "failed"),), passed=12)
    status, reason = _doubted(tmp_path, report, red=8, green=4)
    assert status == "environment"
    assert reason == (
        "8 tests that the report does not name fail here too, 8 with ModuleNotFoundError: No module"
        " named 'shared': the job has something that this environment lacks; libs/common holds"
        " shared: set PYTHONPATH to it in the job that tests"
    )


@pytest.mark.parametrize(
    ("reported", "passing", "red", "green"),
    [
        # Most tests pass here as they do there.
        (1, 12, 4, 8),
        # What fails here failed there.
        (9, 4, 8, 3),
        # The report stopped at the first failure, or is one of a part of the tests.
        (1, 0, 8, 0),
        (1, 3, 8, 4),
    ],
)
def test_what_fails_here_alone_says_nothing_where_the_report_does_not_contradict_it(
    tmp_path: Path, reported: int, passing: int, red: int, green: int
) -> None:
    cases = tuple(ReportedCase("tests.test_b", f"test_{n}", "failed") for n in range(reported))
    status, _ = _doubted(tmp_path, Report(cases, passed=passing), red, green)
    assert status == "confirmed"


def test_a_report_that_stopped_at_a_failure_does_not_tell_what_else_fails(tmp_path: Path) -> None:
    case = ReportedCase("tests.test_a", "test_one", "failed")
    status, _ = _doubted(tmp_path, Report((case,), passed=12, stopped=(13,)), red=8, green=4)
    assert status == "confirmed"


def test_what_is_explained_already_stays_so(tmp_path: Path) -> None:
    tree = FolderTree.of(tmp_path, {"shop.py": ""})
    ran = suite(failed(T), failed("tests/test_b.py::test_b"))
    run, _ = quiet_run()
    seen = reproduce(context_of(run, ScriptedRunner([ran]), tree), (Failure(T, "", ""),))
    flaky = replace(seen, reproduced=(replace(seen.reproduced[0], status=FailureStatus.FLAKY),))
    assert environment_differences.doubt_environment(Report((), passed=9), flaky, tree) == flaky
