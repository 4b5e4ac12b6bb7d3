"""Reports that pytest really wrote, resolved to exactly the tests that failed."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from heal_bot.core.events import Run
from heal_bot.core.model import Collection, Report, ReportedCase, RunHints
from heal_bot.junit import reported_tests
from tests.junit.suites import BELOW, ZOO

if TYPE_CHECKING:
    from tests.junit.conftest import Project, Recorded


@pytest.fixture(scope="module")
def zoo(new_project: Callable[[str], Project]) -> tuple[Project, dict[str, Recorded]]:
    made = new_project("zoo")
    made.write(**ZOO)
    options = ("--doctest-modules", "--doctest-glob=*.txt", "--ignore=tests/base.py")
    seen = {
        family: made.pytest("-o", f"junit_family={family}", *options, report=f"{family}.xml")
        for family in ("xunit1", "xunit2")
    }
    return made, seen


@pytest.mark.parametrize("family", ["xunit1", "xunit2"])
def test_a_report_resolves_to_exactly_the_tests_that_failed(
    zoo: tuple[Project, dict[str, Recorded]], family: str
) -> None:
    made, seen = zoo
    resolved = made.resolve(seen[family].collected, f"{family}.xml")
    assert {f.test for f in resolved.failures} == seen[family].truth
    assert len(resolved.failures) == len(seen[family].truth)
    assert len(seen[family].truth) > 30
    assert resolved.skipped == ()


def test_kinds_reasons_and_frames_come_from_the_report(
    zoo: tuple[Project, dict[str, Recorded]],
) -> None:
    made, seen = zoo
    resolved = made.resolve(seen["xunit2"].collected, "xunit2.xml")
    by_name = {f.test.removeprefix("tests/test_zoo.py::"): f for f in resolved.failures}
    kinds = {name: f.kind for name, f in by_name.items()}
    assert kinds["test_plain"] == "AssertionError"
    assert kinds["TestOuter::TestInner::test_nested"] == "ValueError"
    assert kinds["test_setup"] == "RuntimeError"
    assert kinds["test_group"] == "ExceptionGroup"
    assert kinds["test_strict"] == "XPASS(strict)"
    assert kinds["tests/test_broken.py"] == "ModuleNotFoundError"
    assert kinds["tests/test_syntax.py"] == "SyntaxError"
    assert "mark" in by_name["test_strict"].reason
    assert by_name["test_setup"].reason == "fails in setup"
    assert by_name["test_both"].message.startswith("AssertionError: in the call")
    assert "where -1 = add(1, 2)" in by_name["test_plain"].message
    nested = by_name["TestOuter::TestInner::test_nested"].frames
    assert [f.path for f in nested] == ["shop/core.py", "shop/core.py"]
    assert nested[-1].line == 18


@pytest.mark.parametrize("family", ["xunit1", "xunit2"])
def test_a_prefix_and_a_root_in_a_subfolder_still_join(project: Project, family: str) -> None:
    project.write(**BELOW)
    seen = project.pytest("--junit-prefix=linux.py311", "-o", f"junit_family={family}", cwd="sub")
    assert seen.failed == {"tests/test_x.py::TestX::test_i", "tests/test_x.py::test_y"}
    collected = (
        "sub/tests/test_x.py::TestX::test_i",
        "sub/tests/test_x.py::test_y",
        "other/tests/test_z.py::test_y",
    )
    resolved = project.resolve(collected)
    assert {f.test for f in resolved.failures} == set(collected[:2])
    assert {f.test for f in project.resolve(()).failures} == set(collected[:2])
    last = {f.test: f.frames[-1].path for f in resolved.failures}
    assert last[collected[0]] == "sub/tests/base.py"


def test_two_files_of_one_dotted_name_are_told_apart_by_file_or_reported(
    project: Project,
) -> None:
    project.write(
        **{
            "test_k.py": "class TestQ:\n    def test_z(self):\n        assert 0\n",
            "test_k/TestQ.py": "def test_z():\n    assert 0\n",
            "pytest.ini": "[pytest]\npython_files = *.py\n",
        }
    )
    both = {"test_k.py::TestQ::test_z", "test_k/TestQ.py::test_z"}
    collected = project.pytest("-o", "junit_family=xunit1").collected
    assert {f.test for f in project.resolve(collected).failures} == both
    project.pytest("-o", "junit_family=xunit2", report="two.xml")
    nothing = project.resolve(collected, "two.xml").nothing
    assert "fits more than one test: test_k.py::TestQ::test_z, " in nothing


@pytest.mark.parametrize("first", ["test_k.py", "test_k/TestQ.py"])
def test_a_failure_is_no_retry_of_another_test_with_its_dotted_name(
    project: Project, first: str
) -> None:
    project.write(
        **{
            "test_k.py": "class TestQ:\n    def test_z(self):\n        assert 0\n",
            "test_k/TestQ.py": "def test_z():\n    pass\n",
            "test_other.py": "def test_o():\n    assert 0\n\ndef test_p():\n    pass\n",
            "pytest.ini": "[pytest]\npython_files = *.py\n",
        }
    )
    second = {"test_k.py": "test_k/TestQ.py", "test_k/TestQ.py": "test_k.py"}[first]
    seen = project.pytest("-o", "junit_family=xunit2", first, second, "test_other.py")
    assert "test_k.py::TestQ::test_z" in seen.failed
    resolved = project.resolve(seen.collected)
    assert [f.test for f in resolved.failures] == ["test_other.py::test_o"]
    (remark,) = resolved.skipped
    assert "fits more than one test: test_k.py::TestQ::test_z, test_k/TestQ.py::test_z" in remark


def test_without_a_collection_the_source_decides(
    zoo: tuple[Project, dict[str, Recorded]],
) -> None:
    made, seen = zoo
    resolved = made.resolve((), "xunit2.xml")
    doctests = {t for t in seen["xunit2"].truth if "readme.txt" in t or "shop" in t}
    assert {f.test for f in resolved.failures} == seen["xunit2"].truth - doctests
    assert all("doctest" in remark for remark in resolved.skipped)


@pytest.mark.parametrize(
    ("classname", "name", "guess"),
    [
        ("tests.test_m", "test_one", ("tests/test_m.py::test_one",)),
        ("tests.test_m.TestA", "test_two[1-2]", ("tests/test_m.py::TestA::test_two[1-2]",)),
        ("tests.test_m", "test_gone", ()),
        ("", "tests.test_m", ()),
        # unittest's subtests belong to their test, those of a base class too.
        ("tests.test_m.TestU", "test_three (i=1)", ("tests/test_m.py::TestU::test_three",)),
        (
            "tests.test_m.TestU",
            "test_three [a.b] (i='c.d')",
            ("tests/test_m.py::TestU::test_three",),
        ),
        ("tests.test_m.TestU", "test_base (i=1)", ("tests/test_m.py::TestU::test_base",)),
        ("tests.test_m.TestU", "a sentence", ()),
        ("", "setUpClass (tests.test_m.TestU)", ("tests/test_m.py::TestU",)),
        ("tests.test_m.TestU", "tearDownClass (tests.test_m.TestU)", ("tests/test_m.py::TestU",)),
        ("", "setUpClass (tests.test_m.TestGone)", ()),
    ],
)
def test_what_a_report_means_is_guessed_before_anything_runs(
    classname: str, name: str, guess: tuple[str, ...]
) -> None:
    source = (
        b"def test_one(): ...\nclass TestA:\n    def test_two(self): ...\n"
        b"class TestU(Base):\n    def test_three(self): ...\n"
    )
    report = Report((ReportedCase(classname, name, "failed"),))
    files = {"tests/test_m.py": source}
    found = reported_tests.guess_failures(report, tuple(files), files.__getitem__)
    assert tuple(failure.test for failure in found) == guess


LOADED = ReportedCase(
    "pkg.calc.C", "m", "failed", "pkg/calc.py",
    message='Failed doctest test for pkg.calc.C.m   File "/r/pkg/calc.py", line 1, in m',
)  # fmt: skip
SAID = "Traceback (most recent call last):\nAssertionError: Failed doctest test for a.txt\n  File"
TEXT = ReportedCase("doctest", "a_txt", "failed", message="Expected:", text=SAID)


@pytest.mark.parametrize(
    ("case", "collected", "found"),
    [
        (LOADED, "pkg/calc.py::pkg.calc.C.m", "pkg/calc.py::pkg.calc.C.m"),
        (LOADED, "src/pkg/calc.py::pkg.calc.C.m", "src/pkg/calc.py::pkg.calc.C.m"),
        (TEXT, "docs/a.txt::a.txt", "docs/a.txt::a.txt"),
        # As a command calls it, whose report shows it under its own name.
        (LOADED, "pkg.calc.C::m", "pkg.calc.C::m"),
        (LOADED, "pkg/test_calc.py::test_m", ""),
        (TEXT, "pkg/test_calc.py::test_m", ""),
        (LOADED, "", ""),
    ],
)
def test_a_doctest_that_unittest_loads_is_pytests_or_nobodys(
    run: Run, case: ReportedCase, collected: str, found: str
) -> None:
    files = {"pkg/calc.py": b"class C(B):\n    def m(self): ...\n", "a.txt": b""}
    collection = Collection((collected,) if collected else ())
    resolved = reported_tests.resolve(
        run, Report((case,)), collection, tuple(files), files.__getitem__
    )
    assert [f.test for f in resolved.failures] == ([found] if found else [])
    assert bool(resolved.nothing) is not bool(found)
    if not found:
        assert "unittest's load_tests" in resolved.nothing


def test_a_report_that_stops_at_its_first_failure_is_said_to_be_short(project: Project) -> None:
    project.write(
        **{"test_s.py": "def test_a(): pass\ndef test_b(): assert 0\ndef test_c(): assert 0\n"}
    )
    seen = project.pytest("-x")
    resolved = project.resolve(seen.collected)
    assert [f.test for f in resolved.failures] == ["test_s.py::test_b"]
    assert resolved.skipped == (
        "the report may have stopped early: it ends with a failure and names 2 of 3"
        " collected tests",
    )


def test_a_report_of_files_that_cannot_be_collected_is_not_said_to_be_short(
    project: Project,
) -> None:
    project.write(
        **{"test_s.py": "import gone\ndef test_a(): pass\n", "test_t.py": "def test_b(): 1\n"}
    )
    seen = project.pytest()
    resolved = project.resolve((*seen.collected, "test_s.py::test_a", "test_t.py::test_b"))
    assert [f.test for f in resolved.failures] == ["test_s.py"]
    assert resolved.skipped == ()


FAILED = ReportedCase("tests.test_a", "test_b", "failed")


@pytest.mark.parametrize(
    ("case", "reason"),
    [
        (FAILED, "tests.test_a::test_b: the checkout has no such test; check"),
        (replace(FAILED, name="test_p[3]"), "no parameter set of this name .* 2 others"),
        (replace(FAILED, classname="tests.test_p", name="test_q"), "tests/test_p.py is here but"),
        (replace(FAILED, classname="m._mk.<locals>.Inner"), "made inside a function"),
        (replace(FAILED, name="::error::x\n@everyone"), "tests.test_a::::error::x @everyone: the"),
    ],
)
def test_a_test_that_is_not_here_is_named_with_the_reason(
    run: Run, case: ReportedCase, reason: str
) -> None:
    collection = Collection(("tests/test_a.py::test_p[1]", "tests/test_a.py::test_p[2]"))
    paths, sources = ["tests/test_p.py"], {"tests/test_p.py": b"def test_p(): pass\n"}
    resolved = reported_tests.resolve(run, Report((case,)), collection, paths, sources.__getitem__)
    assert resolved.failures == ()
    assert re.search(reason, resolved.nothing)
    assert "\n" not in resolved.nothing


@pytest.mark.parametrize(
    ("modules", "whole"),
    [
        ({"tests.test_a.TestA"}, True),
        ({"tests.test_a.TestA.TestB", "gone"}, True),
        ({""}, True),
        ({"other.test_x", "y/z.py"}, False),
        ({"tests.test_x"}, False),
    ],
)
def test_an_old_report_has_the_suite_run_unless_it_is_of_another_project(
    run: Run, modules: set[str], whole: bool
) -> None:
    collection = Collection(("tests/test_a.py::test_p",))
    hints = RunHints(modules=frozenset(modules))
    report = Report((replace(FAILED, classname="gone.test_g"),), flags=("stale",), hints=hints)
    paths = ["tests/__init__.py", "tests/test_a.py"]
    resolved = reported_tests.resolve(run, report, collection, paths, lambda path: b"")
    assert resolved.whole is whole
    assert ("belong together" in resolved.nothing) is not whole


@pytest.mark.parametrize(
    ("case", "runner"),
    [
        (ReportedCase("", "//pkg:core_test", "error"), "Bazel"),
        (
            ReportedCase("a.B", "c", "failed", text="\tat org.a.B.c(B.java:12)"),
            "a Java test runner",
        ),
        (ReportedCase("s", "adds", "failed", text="at x (/r/a.test.ts:3:9)"), "a JavaScript"),
        (ReportedCase("p", "TestX", "failed", text="x_test.go:3: no"), "go test"),
    ],
)
def test_a_foreign_report_leaves_nothing_to_do(run: Run, case: ReportedCase, runner: str) -> None:
    collection = Collection(("tests/test_a.py::test_p",))
    resolved = reported_tests.resolve(run, Report((case,)), collection, [], {}.__getitem__)
    assert resolved.failures == ()
    assert runner in resolved.nothing


def test_legs_are_named_and_failures_of_other_systems_alone_say_so(project: Project) -> None:
    project.write(
        **{"test_s.py": "def test_a(): assert 0\ndef test_b(): assert 0\ndef test_c(): pass\n"}
    )
    seen = project.pytest(report="results-ubuntu-py3.12.xml")
    project.pytest("-k", "test_a", report="results-windows-py3.11.xml")
    project.pytest("-k", "test_b", report="results-macos-py3.11.xml")
    whole = project.resolve(seen.collected, "results-*.xml")
    assert [f.reason for f in whole.failures] == [
        "reported by 2 legs: results-macos-py3.11.xml [python 3.11, macos],"
        " results-ubuntu-py3.12.xml [python 3.12, linux]",
        "reported by 2 legs: results-ubuntu-py3.12.xml [python 3.12, linux],"
        " results-windows-py3.11.xml [python 3.11, windows]",
    ]
    alone = project.resolve(seen.collected, "results-windows*.xml")
    assert [f.reason for f in alone.failures] == [
        "reported only on windows, by results-windows-py3.11.xml [python 3.11, windows]"
    ]


DOCTEST = ReportedCase("shop.money", "shop.money.total", "failed",
                       text="src/shop/money.py:4: DocTestFailure")  # fmt: skip


@pytest.mark.parametrize(
    ("case", "files"),
    [
        (DOCTEST, ("src/shop/money.py",)),
        (replace(DOCTEST, classname="docs.usage.rst", name="usage.rst"), ("docs/usage.rst",)),
        (replace(DOCTEST, classname="docs.tour.md", name="tour.md"), ("docs/tour.md",)),
        (replace(DOCTEST, classname="shop.gone", name="shop.gone.total"), ()),
        (replace(DOCTEST, text="assert 1 == 2"), ()),
        (replace(DOCTEST, outcome="passed"), ()),
    ],
)
def test_the_files_of_examples_that_are_red_are_told(
    case: ReportedCase, files: tuple[str, ...]
) -> None:
    paths = [
        "docs/tour.md",
        "docs/usage.rst",
        "src/shop/__init__.py",
        "src/shop/money.py",
        "tests/test_a.py",
    ]
    assert reported_tests.find_doctests(Report((case,)), paths) == files
