"""Plugins of pytest that its own words show to be missing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from heal_bot.core.model import CaseResult, Failure, Report, ReportedCase
from heal_bot.verification.missing_plugins import find_missing, find_named, find_stopping
from heal_bot.verification.non_code_causes import explain_environment
from tests.fakes import ENVIRONMENT, FolderTree, failed, passed, suite

MOCKER = "fixture 'mocker' not found"
ASYNC = "async def functions are not natively supported.\nYou need to install a suitable plugin"
SKIPPED = "Skipped: async def function and no async plugin installed (see warnings)"


REPORT = Report((ReportedCase("test_z", "test_z", "failed", message="assert 1 == 2"),))


def broken(test: str, message: str) -> CaseResult:
    """A test whose fixtures cannot be set up."""
    return CaseResult(test, "error", "setup", kind="FixtureLookupError", message=message)


@pytest.fixture
def tree(tmp_path: Path) -> FolderTree:
    return FolderTree.of(
        tmp_path,
        {
            "test_a.py": "import pytest\n@pytest.mark.anyio\nasync def test_it(): pass\n",
            "test_b.py": "async def test_it(): pass\n",
        },
    )


@pytest.mark.parametrize(
    ("text", "packages"),
    [
        ("x: error: unrecognized arguments: --cov=src --cov-report=xml", ("pytest-cov",)),
        ("error: unrecognized arguments: -n --reruns=2 --timeout=9",
         ("pytest-xdist", "pytest-rerunfailures", "pytest-timeout")),
        ("error: unrecognized arguments: -n4", ("pytest-xdist",)),
        ("error: unrecognized arguments: --no-such-thing --timer=3", ()),
        (MOCKER, ("pytest-mock",)),
        ("fixture 'benchmark' not found", ("pytest-benchmark",)),
        ("fixture 'stock' not found", ()),
        ("ERROR: Unknown config option: asyncio_mode", ("pytest-asyncio",)),
        ("'django_db' not found in `markers` configuration option", ("pytest-django",)),
        (ASYNC, ("pytest-asyncio",)),
        (SKIPPED, ("pytest-asyncio",)),
        ("ERROR: Missing required plugins: pytest-cov>=4, pytest-of-nobody", ("pytest-cov",)),
        ('ImportError: Error importing plugin "xdist": No module named \'xdist\'',
         ("pytest-xdist",)),
        ("ModuleNotFoundError: No module named 'pytest_mock'", ("pytest-mock",)),
        ("ModuleNotFoundError: No module named 'pytest_mock.plugin'", ()),
        ("No module named 'pytest_evil'", ()),
        ("assert 1 == 2", ()),
    ],
)  # fmt: skip
def test_what_pytest_says_names_the_package(text: str, packages: tuple[str, ...]) -> None:
    assert find_named(text) == packages


def test_the_mark_of_an_asynchronous_test_names_the_plugin_that_runs_it(tree) -> None:
    red = suite(failed("test_a.py::test_it", ASYNC), passed("test_b.py::test_other"))
    assert find_missing(REPORT, red, tree, ENVIRONMENT) == ("anyio",)
    idle = suite(CaseResult("test_b.py::test_it", "skipped", message=SKIPPED))
    assert find_missing(REPORT, idle, tree, ENVIRONMENT) == ("pytest-asyncio",)


def test_what_the_failing_run_lacked_as_well_is_not_missing_here(tree) -> None:
    red = suite(broken("test_b.py::test_it", MOCKER), failed("test_b.py::test_other", ASYNC))
    case = ReportedCase("test_b", "test_it", "error", message="failed on setup", text=MOCKER)
    assert find_missing(Report((case,)), red, tree, ENVIRONMENT) == ("pytest-asyncio",)


def test_files_and_suites_that_do_not_start_are_read_too(tree) -> None:
    lost = suite(ended="crashed", detail="pytest stopped with code 4: x: error: unrecognized"
                 " arguments: --cov=a")  # fmt: skip
    assert find_missing(REPORT, lost, tree, ENVIRONMENT) == ("pytest-cov",)
    half = replace(suite(), errors=(("test_a.py", "No module named 'pytest_asyncio'"),))
    assert find_missing(REPORT, half, tree, ENVIRONMENT) == ("pytest-asyncio",)


def test_without_a_report_only_what_pytest_does_not_start_without_was_there(tree) -> None:
    red = suite(broken("test_b.py::test_it", MOCKER), failed("test_b.py::test_other", ASYNC))
    silent = Report(())
    assert find_missing(silent, replace(red, unknown=("env",)), tree, ENVIRONMENT) == ()
    assert find_missing(silent, suite(ended="crashed", detail=f"{MOCKER} No module named 'xdist'"),
                   tree, ENVIRONMENT) == ()  # fmt: skip
    for text in (
        "error: unrecognized arguments: --timeout=3",
        "ERROR: Missing required plugins: pytest-timeout>=2",
        "ImportError: Error importing plugin \"pytest_timeout\": No module named 'pytest_timeout'",
    ):
        lost = suite(ended="crashed", detail=text)
        assert find_missing(silent, lost, tree, ENVIRONMENT) == ("pytest-timeout",)


def test_what_a_test_quotes_of_pytest_is_its_own_failure(tree) -> None:
    quoted = f"assert {MOCKER!r} in 'collected 1 item'"
    assert (
        find_missing(REPORT, suite(failed("test_b.py::test_it", quoted)), tree, ENVIRONMENT) == ()
    )
    asked = suite(failed("test_b.py::test_it", "No module named 'xdist'", "ModuleNotFoundError"))
    assert find_missing(REPORT, asked, tree, ENVIRONMENT) == ("pytest-xdist",)


@pytest.mark.parametrize(("reported", "packages"), [(0, ("pytest-env",)), (1, ())])
def test_an_unknown_key_counts_where_more_fails_than_is_reported(
    tree, reported: int, packages: tuple[str, ...]
) -> None:
    red = replace(suite(failed("test_b.py::test_it")), unknown=("env", "our_own"))
    cases = (ReportedCase("test_b", "test_it", "failed"),) * reported
    told = (*cases, ReportedCase("test_b", "test_other", "skipped"))
    assert find_missing(Report(told), red, tree, ENVIRONMENT) == packages
    assert find_missing(REPORT, replace(red, results=()), tree, ENVIRONMENT) == ()


def test_a_test_without_its_plugin_fails_for_its_environment(tree) -> None:
    seen = CaseResult("test_b.py::test_it", "error", "setup", message=MOCKER)
    said = explain_environment(seen, Failure(seen.test, "", ""), tree, ENVIRONMENT)
    assert said.startswith("pytest's plugin pytest-mock, which the test asks for, is missing")


@pytest.mark.parametrize(
    "path", ["src/pytest_mock/plugin.py", "pytest_mock.py", "pytest_mock/a.py"]
)
def test_what_the_repository_is_itself_is_not_missing(tmp_path: Path, path: str) -> None:
    tree = FolderTree.of(tmp_path, {path: "", "tests/respx/data.py": ""})
    red = broken("test_b.py::test_it", MOCKER)
    lost = failed("test_b.py::test_it", "No module named 'pytest_mock'", "ModuleNotFoundError")
    other = broken("test_b.py::test_other", "fixture 'respx_mock' not found")
    assert find_missing(REPORT, suite(red, lost, other), tree, ENVIRONMENT) == ("respx",)
    ended = "ERROR: Missing required plugins: pytest-mock"
    assert find_stopping(REPORT, ended, tree, ENVIRONMENT) == ()
    for seen in (red, lost):
        assert explain_environment(seen, Failure(seen.test, "", ""), tree, ENVIRONMENT) == ""


def test_what_is_installed_is_not_missing(tree, tmp_path: Path) -> None:
    env = replace(ENVIRONMENT, prefix=str(tmp_path / "env"))
    red = broken("test_b.py::test_it", MOCKER)
    assert find_missing(REPORT, suite(red), tree, env) == ("pytest-mock",)
    (tmp_path / "env/lib/python3.12/site-packages/pytest_mock-3.1.dist-info").mkdir(parents=True)
    assert find_missing(REPORT, suite(red), tree, env) == ()
    assert explain_environment(red, Failure(red.test, "", ""), tree, env) == ""
