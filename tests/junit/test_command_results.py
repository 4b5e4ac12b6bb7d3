"""The tests of a command, by what it wrote and how it ended."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from heal_bot.core.model import COMMAND, COVERAGE, NO_ENVIRONMENT, CaseResult
from heal_bot.junit import command_results
from heal_bot.ports import Observed
from tests.fakes import FolderTree, quiet_run

FILES = {
    "shop.py": "def total(a):\n    return sum(a[1:])\n",
    "test_shop.py": "def test_a(): pass\ndef test_b(): pass\n",
    "checks.py": "class Totals:\n    def check(self): pass\n",
    "old.xml": '<testsuite><testcase classname="test_shop" name="test_old"/></testsuite>',
}
KNOWN = ("test_shop.py::test_a", "test_shop.py::test_b")
FAILED = "<failure message='AssertionError: 0 != 6'>shop.py:2: AssertionError</failure>"
TRACEBACK = """\
..F
======================================================================
FAIL: test_total (checks.Totals)
----------------------------------------------------------------------
Traceback (most recent call last):
  File "/slot/repo/checks.py", line 2, in check
    total([1])
  File "/slot/repo/shop.py", line 2, in total
    return sum(a[1:])
ValueError: no price

----------------------------------------------------------------------
Ran 3 tests in 0.001s
"""


def case(classname: str, name: str, inner: str = "") -> str:
    return f'<testcase classname="{classname}" name="{name}">{inner}</testcase>'


def told(
    folder: Path, reports: dict[str, str], code: int, output: str = ""
) -> dict[str, CaseResult]:
    """The results of a run that left these reports."""
    run, _ = quiet_run()
    tree = FolderTree.of(folder / "tree", FILES)
    since = time.time() + 1
    for path in tree.paths():
        os.utime(tree.root / path, (since - 60, since - 60))
    for name, text in reports.items():
        path = tree.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"<testsuite>{text}</testsuite>")
    kept = FolderTree(tree.root)
    object.__setattr__(kept, "paths", lambda: tuple(sorted(FILES)))
    done = Observed("exited", code, output)
    return {
        r.test: r for r in command_results.read_results(run, kept, tree.root, since, KNOWN, done)
    }


def test_cases_are_joined_with_pytests_ids_or_the_sources_or_keep_their_names(
    tmp_path: Path,
) -> None:
    reports = {
        "out/junit.xml": case("test_shop", "test_a", FAILED) + case("test_shop", "test_b"),
        "more.xml": case("checks.Totals", "check") + case("elsewhere.Suite", "one"),
    }
    found = told(tmp_path, reports, 1)
    assert {test: result.outcome for test, result in found.items()} == {
        "test_shop.py::test_a": "failed", "test_shop.py::test_b": "passed",
        "checks.py::Totals::check": "passed", "elsewhere.Suite::one": "passed",
        COMMAND: "passed",
    }  # fmt: skip
    red = found["test_shop.py::test_a"]
    assert (red.kind, red.frames[-1].path, red.frames[-1].line) == ("AssertionError", "shop.py", 2)


def test_a_committed_report_does_not_count(tmp_path: Path) -> None:
    assert set(told(tmp_path, {}, 0)) == {COMMAND}


def test_an_exit_code_that_no_case_explains_is_a_red_test(tmp_path: Path) -> None:
    found = told(tmp_path, {"j.xml": case("test_shop", "test_a")}, 2, "coverage is 80 %, not 90")
    assert found["test_shop.py::test_a"].outcome == "passed"
    assert found[COMMAND].outcome == "failed"
    assert found[COMMAND].message == "coverage is 80 %, not 90"


@pytest.mark.parametrize(
    ("output", "message"),
    [
        ("+ pytest --cov-fail-under=90\nFAIL Required test coverage of 90% not reached. Total "
         "coverage: 81.20%\n", "Required test coverage of 90% not reached. Total coverage: 81.20%"),
        ("$ coverage report --fail-under=90\nCoverage failure: total of 81 is less than "
         "fail-under=90\n", "Coverage failure: total of 81 is less than fail-under=90"),
    ],
)  # fmt: skip
def test_an_exit_code_for_coverage_is_told_from_the_option_that_asks_for_it(
    tmp_path: Path, output: str, message: str
) -> None:
    red = told(tmp_path, {"j.xml": case("test_shop", "test_a")}, 1, output)[COMMAND]
    assert (red.kind, red.message) == (COVERAGE, message)
    echoed = told(tmp_path, {}, 1, output.splitlines()[0] + "\nlint: 3 errors\n")[COMMAND]
    assert (echoed.kind, echoed.message) == ("exit 1", "lint: 3 errors")


def test_of_several_legs_the_worst_counts_and_of_several_tries_the_last(tmp_path: Path) -> None:
    reports = {
        "py311.xml": case("test_shop", "test_a"),
        "py312.xml": case("test_shop", "test_a", FAILED),
        "tries.xml": case("test_shop", "test_b", FAILED) + case("test_shop", "test_b"),
    }
    found = told(tmp_path, reports, 1)
    assert found["test_shop.py::test_a"].outcome == "failed"
    assert found["test_shop.py::test_b"].outcome == "passed"


def test_without_a_report_the_first_traceback_is_the_evidence(tmp_path: Path) -> None:
    red = told(tmp_path, {}, 1, TRACEBACK)[COMMAND]
    assert (red.outcome, red.kind, red.message) == ("failed", "ValueError", "ValueError: no price")
    assert [(frame.path, frame.line) for frame in red.frames] == [("checks.py", 2), ("shop.py", 2)]


@pytest.mark.parametrize("code", [126, 127])
def test_a_command_that_does_not_start_says_so(tmp_path: Path, code: int) -> None:
    red = told(tmp_path, {}, code, "/bin/sh: 1: tox: not found\n")[COMMAND]
    assert (red.kind, red.message) == (f"exit {code}", "/bin/sh: 1: tox: not found")


@pytest.mark.parametrize(
    ("output", "kind"),
    [
        ("ERROR: No matching distribution found for pytest\npy: FAIL\n", NO_ENVIRONMENT),
        ("nox > Command /x/python -m virtualenv /y failed with exit code 1:\n", NO_ENVIRONMENT),
        ("hint: they were unavailable because the network was disabled.\n", NO_ENVIRONMENT),
        ('Traceback (most recent call last):\n  File "/v/site-packages/virtualenv/run.py", line 3, '
         "in make\n    exists()\nPermissionError: [Errno 13] no\n", NO_ENVIRONMENT),
        (TRACEBACK + "ERROR: No matching distribution found for pytest\n", "ValueError"),
        ("3 failed, 1 passed\n", "exit 1"),
    ],
)  # fmt: skip
def test_a_command_that_could_make_no_environment_is_told_from_one_that_fails(
    tmp_path: Path, output: str, kind: str
) -> None:
    assert told(tmp_path, {}, 1, output)[COMMAND].kind == kind
