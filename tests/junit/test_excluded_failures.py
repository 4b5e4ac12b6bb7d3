"""Findings of linters and legs that may fail: named in a red report, and left alone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from heal_bot.core.model import HealRequest, Leg, Report, ReportedCase, RunHints
from heal_bot.junit.excluded_failures import explain_doctests, name_tool, set_aside
from tests.fakes import SHA, FolderTree

PLAIN = Leg("r.xml")
PUSH = HealRequest("octo/shop", SHA, trigger="step:push", job="test")
MATRIX = """on: push
jobs:
  test:
    runs-on: ubuntu-latest
    continue-on-error: ${{ matrix.experimental == true }}
    strategy:
      matrix:
        python-version: ["3.12", "3.13"]
        experimental: [false]
        include:
          - {python-version: "3.15-dev", experimental: true, os: ubuntu-latest}
          - {python-version: "3.13", experimental: true, name: lowest}
  fuzz:
    continue-on-error: true
  lint:
    continue-on-error: false
"""


def red(classname: str, name: str, message: str = "", kind: str = "", leg: Leg = PLAIN,
        text: str = "") -> ReportedCase:  # fmt: skip
    return ReportedCase(classname, name, "failed", kind=kind, message=message, leg=leg, text=text)


@pytest.mark.parametrize(
    ("case", "named"),
    [
        (red("src.shop", "ruff"), "ruff"),
        (red("src.shop.ruff", "format"), "ruff"),
        (red("shop", "mypy"), "mypy"),
        (red("", "mypy-status"), "mypy"),
        (red("mypy", "mypy-py3_12-linux"), "mypy"),
        (red("shop", "flake-8"), "flake8"),
        (red("shop", "PYLINT"), "pylint"),
        (red("shop", "BLACK"), "black"),
        (red("shop.py", "org.ruff.F401"), "ruff"),
        (red("flake8", "shop.py", "shop.py:1:80: E501 line too long"), "flake8"),
        (red("shop", "x", "shop.py:1:80: E501 line too long"), "lint"),
        (red("tests.test_ruff", "test_ruff"), ""),
        (red("mypy.test.testtypes", "test_join"), ""),
        (red("checks", "black", text="    def black():\n>       assert 0"), ""),
        (red("tests.test_a", "test_status", "assert 1 == 2", "AssertionError"), ""),
    ],
)
def test_a_finding_of_a_tool_is_told_from_a_test(case: ReportedCase, named: str) -> None:
    assert name_tool(case) == named


def test_a_test_beside_findings_is_kept(tmp_path: Path) -> None:
    report = Report((red("shop", "ruff"), red("tests.test_a", "test_one"), red("shop", "mypy")))
    left = set_aside(PUSH, report, FolderTree.of(tmp_path, {"a.py": ""}), tmp_path)
    assert [case.name for case in left.report.cases] == ["test_one"]
    assert "ruff (1 finding, shop" in left.reason
    assert "ruff check --fix" in left.reason


def test_findings_alone_are_explained_by_the_first_and_what_cures_it(tmp_path: Path) -> None:
    said = "shop.py:1:8: F401 `os` imported but unused\n 1 | import os"
    report = Report((red("", "ruff-status", "1 error"), red("shop", "ruff", said)))
    left = set_aside(PUSH, report, FolderTree.of(tmp_path, {"a.py": ""}), tmp_path)
    assert left.status == "explained"
    assert "shop.py:1:8: F401 `os` imported but unused" in left.reason
    assert "\n" not in left.reason


def leg(name: str, python: str = "", text: str = "") -> ReportedCase:
    return red("tests.test_a", "test_one", leg=Leg(name, python), text=text)


@pytest.mark.parametrize(
    ("case", "told"),
    [
        (leg("junit-3.15", "3.15"), "3.15-dev, ubuntu-latest: continue-on-error"),
        (leg("junit-3.13-lowest", "3.13"), "3.13, lowest: continue-on-error"),
        (leg("junit-fuzz"), "job fuzz: continue-on-error"),
        (leg("junit-3.16-dev"), "3.16-dev"),
        (leg("junit-pypy3.11-nightly"), "pypy3.11-nightly"),
        (leg("r.xml", text="/opt/hostedtoolcache/Python/3.16.0-alpha.2/x64/lib"), "3.16.0-alpha"),
        (leg("junit-3.13", "3.13"), ""),
        (leg("junit-ubuntu-latest-3.12", "3.12"), ""),
        (leg("junit-lint"), ""),
        (leg("junit-nightly-3.12-a1b2c3", "3.12"), ""),
    ],
)
def test_a_leg_that_may_fail_is_left_alone_unless_a_person_asks(
    tmp_path: Path, case: ReportedCase, told: str
) -> None:
    tree = FolderTree.of(tmp_path, {".github/workflows/ci.yml": MATRIX})
    report = Report((case,))
    left = set_aside(PUSH, report, tree, tmp_path)
    assert (left.report.cases == ()) is bool(told)
    assert (f"({told})" in left.reason) if told else left.reason == ""
    for asked in (replace(PUSH, trigger="comment"), replace(PUSH, only=("tests/test_a.py",))):
        assert set_aside(asked, report, tree, tmp_path).report == report


@pytest.mark.parametrize(
    ("job", "python", "venv", "told"),
    [
        ("fuzz", "", "", "job fuzz"),
        ("test", "3.15.0", "", "3.15-dev"),
        ("test", "", "version_info = 3.15.0a2\n", "3.15.0a2"),
        ("test", "3.13.1", "version_info = 3.13.1\n", ""),
        ("lint", "", "", ""),
    ],
)
def test_inside_the_failing_job_its_id_and_its_python_tell(
    tmp_path: Path, job: str, python: str, venv: str, told: str
) -> None:
    tree = FolderTree.of(tmp_path / "tree", {".github/workflows/ci.yml": MATRIX})
    FolderTree.of(tmp_path, {".venv/pyvenv.cfg": venv} if venv else {})
    report = Report((leg("r.xml"),), hints=RunHints(python))
    left = set_aside(replace(PUSH, job=job), report, tree, tmp_path)
    assert (left.report.cases == ()) is bool(told)
    assert told in left.reason


def test_a_value_of_the_matrix_that_may_fail_is_known_by_the_python_alone(tmp_path: Path) -> None:
    may = "continue-on-error: \"${{ matrix.py == '3.9' }}\""
    job = f"{{strategy: {{matrix: {{py: ['3.9', '3.11']}}}}, {may}}}"
    tree = FolderTree.of(tmp_path / "tree", {".github/workflows/ci.yml": f"jobs: {{a: {job}}}"})
    report = Report((leg("r.xml"),))
    for python, told in (("3.9.21", "3.9: continue-on-error"), ("3.11.9", "")):
        left = set_aside(replace(PUSH, python=python), report, tree, tmp_path)
        assert (left.report.cases == ()) is bool(told)
        assert told in left.reason


def test_what_setup_python_left_in_the_failing_job_tells_as_well(tmp_path: Path) -> None:
    tree = FolderTree.of(tmp_path / "tree", {".github/workflows/ci.yml": MATRIX})
    report = Report((leg("r.xml"),))
    for python, told in (
        ("3.15.0", "3.15-dev"),
        ("3.16.0-alpha.2", "3.16.0-alpha"),
        ("3.12.1", ""),
    ):
        left = set_aside(replace(PUSH, python=python), report, tree, tmp_path)
        assert (left.report.cases == ()) is bool(told)
        assert told in left.reason


@pytest.mark.parametrize(
    "text",
    [
        "jobs: [",
        "jobs: 3",
        "- a",
        "jobs: {a: {continue-on-error: ${{ matrix.x }}}}",
        "jobs: {a: {strategy: {matrix: x}, continue-on-error: 'matrix.x'}}",
        "x: !!bool foo\njobs: {}",
        "x: !!int ''\njobs: {}",
        "x: !!timestamp foo\njobs: {}",
        "a: &a [x, x]\nb: &b [*a, *a]\njobs: {t: {strategy: {matrix: {os: [*b]}}}}",
    ],
)
def test_a_workflow_of_another_form_allows_nothing(tmp_path: Path, text: str) -> None:
    tree = FolderTree.of(tmp_path, {".github/workflows/ci.yml": text})
    assert set_aside(PUSH, Report((leg("r.xml"),)), tree, tmp_path).reason == ""


@pytest.mark.parametrize(
    ("condition", "name", "left"),
    [
        ("matrix.os == 'windows-latest'", "junit-windows-latest-3.11", True),
        ("matrix.os == 'windows-latest' && matrix.python == '3.13'", "windows-latest-3.11", False),
        (
            "github.event_name == 'schedule' && matrix.os == 'windows-latest'",
            "windows-latest",
            False,
        ),
        ("!(matrix.os == 'ubuntu-latest')", "ubuntu-latest-3.11", False),
        ("matrix.os != 'ubuntu-latest'", "ubuntu-latest-3.11", False),
    ],
)
def test_a_condition_that_says_more_than_one_value_of_the_matrix_allows_nothing(
    tmp_path: Path, condition: str, name: str, left: bool
) -> None:
    text = f"jobs:\n  test:\n    continue-on-error: ${{{{ {condition} }}}}\n"
    tree = FolderTree.of(tmp_path, {".github/workflows/ci.yml": text})
    aside = set_aside(PUSH, Report((leg(name),)), tree, tmp_path)
    assert (aside.report.cases == ()) is left


@pytest.mark.parametrize(
    ("want", "got", "alike"),
    [("2.5", "np.float64(2.5)", True), ("{'a'}", '{"a"}', True), ("[1, 2]", "[2, 1]", False),
     ("4", "3", False), ("2", "2.0", False), ("'Ann Lee'", "'AnnLee'", False), ("'1'", "1", False)],
)  # fmt: skip
def test_a_report_of_doctests_that_are_only_written_otherwise_tells_that_alone(
    want: str, got: str, alike: bool
) -> None:
    said = f"003 >>> f()\nExpected:\n    {want}\nGot:\n    {got}\n\n/x/a.py:4: DocTestFailure"
    shown = red("a", "a.f", said, "DocTestFailure", text=said)
    assert bool(explain_doctests(Report((shown,)))) is alike
    assert explain_doctests(Report((shown, red("tests.test_a", "test_one", "assert 1 == 2")))) == ""
    assert explain_doctests(Report(())) == ""
