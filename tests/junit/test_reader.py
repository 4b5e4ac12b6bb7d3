"""Reports in any state give a Report or one line that says what is wrong."""

from __future__ import annotations

import os
import socket
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from heal_bot.core.errors import UsageError
from heal_bot.core.events import Run
from heal_bot.core.model import Collection, Report
from heal_bot.junit import reader, reported_tests
from tests.junit.hostile_files import CASE, FAILURE, GOOD, HEAD, corpus

# Processor seconds: other work on the machine must not fail the test.
SECONDS = 2.0


def said(run: Run, root: Path, data: str | bytes, name: str = "report.xml") -> Report | str:
    """The report, or the one line that says why there is none."""
    try:
        return read(run, root, data, name)
    except UsageError as error:
        return str(error)


def read(run: Run, root: Path, text: str | bytes, name: str = "report.xml") -> Report:
    data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    (root / name).write_bytes(data)
    return reader.read_reports(run, root, [name])


@pytest.mark.long
def test_every_hostile_file_gives_a_result_or_one_line_in_time(
    tmp_path: Path, run: Run, hostile: dict[str, bytes]
) -> None:
    took = {}
    collection = Collection(("tests/test_a.py::test_b",))
    for name, data in hostile.items():
        begun = time.process_time()
        line = _resolved(run, tmp_path, name, data, collection)
        took[name] = time.process_time() - begun
        assert "\n" not in line, name
        assert "\x1b" not in line, name
        assert len(line) < 1000, name
    assert len(took) >= 60
    assert {name: seconds for name, seconds in took.items() if seconds > SECONDS} == {}


def _resolved(run: Run, root: Path, name: str, data: bytes, collection: Collection) -> str:
    try:
        report = read(run, root, data, name)
        resolved = reported_tests.resolve(
            run, report, collection, ["tests/test_a.py"], lambda p: b""
        )
    except UsageError as error:
        return str(error)
    return max((*report.skipped, *resolved.skipped, resolved.nothing), key=len)


@pytest.fixture(scope="module")
def hostile() -> dict[str, bytes]:
    return dict(corpus())


@pytest.mark.parametrize(
    "name",
    [
        "junk-prefix.xml", "space-prefix.xml", "junk-suffix.xml", "twice.xml", "escape.xml",
        "nul.xml", "reference-27.xml", "reference-surrogate.xml", "mislabelled.xml",
    ],
)  # fmt: skip
def test_what_can_be_repaired_is_read_whole_and_flagged(
    tmp_path: Path, run: Run, hostile: dict[str, bytes], name: str
) -> None:
    report = read(run, tmp_path, hostile[name])
    assert "repaired" in report.flags
    assert "partial" not in report.flags
    assert {(c.classname, c.name, c.outcome) for c in report.cases} == {
        ("tests.test_a", "test_b", "failed")
    }


@pytest.mark.parametrize(
    "name",
    [
        "bom.xml", "utf-16.xml", "utf-16-mislabelled.xml", "utf-16-bare.xml", "utf-32.xml",
        "latin-1.xml", "cp1252.xml", "unknown.xml", "transforming.xml", "gzip.xml", "zip.zip",
        "external-dtd.xml", "namespaced.xml", "root-case.xml", "nested-suites.xml", "comment.xml",
        "xinclude.xml", "bad-numbers.xml", "line-number.xml",
    ],
)  # fmt: skip
def test_odd_but_whole_documents_give_their_one_case(
    tmp_path: Path, run: Run, hostile: dict[str, bytes], name: str
) -> None:
    report = read(run, tmp_path, hostile[name])
    assert report.flags == ()
    (case,) = report.cases
    assert (case.classname, case.name, case.outcome) == ("tests.test_a", "test_b", "failed")
    assert case.text.startswith("tests/test_a.py:3: AssertionError")


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("empty.xml", "empty.xml is empty; give a JUnit"),
        ("prose.xml", "prose.xml is not well-formed"),
        ("html.xml", "html.xml is not a test report;"),
        ("other-root.xml", r"its root is <assemblies>"),
        ("laughs-text.xml", "declares entities"),
        ("laughs-attribute.xml", "declares entities"),
        ("quadratic.xml", "declares entities"),
        ("file-entity.xml", "declares entities"),
        ("net-entity.xml", "declares entities"),
        ("parameter-entity.xml", "declares entities"),
        ("default-attribute.xml", "declares entities"),
        ("deep.xml", "nests elements deeper"),
        ("deep-open.xml", "its root is <a>"),
        ("gzip-bomb.xml", "inflates from"),
        ("gzip-junk.xml.gz", "damaged gzip"),
        ("zip-bomb.zip", "zip-bomb.zip!b.xml inflates from"),
        ("zip-empty.zip", "without an .xml member"),
        ("zip-cut.zip", "damaged zip"),
        ("zip-damaged.zip", "damaged"),
        ("elf.xml", "is not well-formed"),
    ],
)
def test_what_gives_nothing_is_one_line_that_names_the_file(
    tmp_path: Path, run: Run, hostile: dict[str, bytes], name: str, why: str
) -> None:
    with pytest.raises(UsageError, match=why) as raised:
        read(run, tmp_path, hostile[name], name)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("name", ["attribute-11m.xml", "text-12m.xml", "message-long.xml"])
def test_what_is_far_too_long_is_clipped_not_refused(
    tmp_path: Path, run: Run, hostile: dict[str, bytes], name: str
) -> None:
    (case,) = read(run, tmp_path, hostile[name]).cases
    assert (case.classname, case.name, case.outcome) == ("tests.test_a", "test_b", "failed")
    assert len(case.message) <= 2000
    assert len(case.text) < 70_000


def test_a_name_of_any_length_is_clipped(
    tmp_path: Path, run: Run, hostile: dict[str, bytes]
) -> None:
    (case,) = read(run, tmp_path, hostile["name-11m.xml"]).cases
    assert 10_000 < len(case.name) < 20_000


def test_no_document_makes_the_reader_ask_the_network_or_the_disk(tmp_path: Path, run: Run) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.2)
        url = f"http://127.0.0.1:{server.getsockname()[1]}/e"
        (tmp_path / "secret").write_text("planted")
        for place in (url, f"file://{tmp_path}/secret"):
            for told in (
                f'<!DOCTYPE t SYSTEM "{place}">',
                f'<!DOCTYPE t [<!ENTITY e SYSTEM "{place}">]>',
                f'<!DOCTYPE t [<!ENTITY % e SYSTEM "{place}"> %e;]>',
            ):
                use = GOOD.replace("AssertionError", "&e;" if "ENTITY e" in told else "E")
                shown = said(run, tmp_path, told + use)
                assert "planted" not in str(shown)
        with pytest.raises(TimeoutError):
            server.accept()


@given(st.integers(60, len(GOOD.encode()) * 3), st.sampled_from([1, 3, 1000]))
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_a_cut_anywhere_keeps_the_complete_cases_and_the_open_failure(
    tmp_path: Path, run: Run, cut: int, wide: int
) -> None:
    case = CASE.format('<failure message="m">' + "t" * wide + "</failure>")
    named = [case.replace("test_b", f"test_{n}") for n in range(9)]
    whole = HEAD + "<testsuite>" + "".join(named) + "</testsuite>"
    part = whole[: min(cut, len(whole) - 1)]
    complete = part.count("</testcase>")
    opened = part.count("<failure")
    if not complete and 'message="m">' not in part:
        return
    report = read(run, tmp_path, part)
    assert "partial" in report.flags
    assert complete <= len(report.cases) <= opened
    if part.endswith("tt"):
        assert len(report.cases) == opened


def test_the_last_try_of_a_test_decides_and_every_suite_is_its_own(
    tmp_path: Path, run: Run
) -> None:
    retried = CASE.format("") * 2 + CASE.format(FAILURE)
    report = read(run, tmp_path, f"<testsuite>{retried}</testsuite>")
    assert [(c.outcome, c.attempts) for c in report.cases] == [("failed", 3)]
    assert "retried" in report.flags
    healed = CASE.format(FAILURE) + CASE.format("")
    report = read(run, tmp_path, f"<testsuite>{healed}</testsuite>")
    assert [(c.outcome, c.attempts) for c in report.cases] == [("passed", 2)]
    collected = Collection(("tests/test_a.py::test_b",))
    resolved = reported_tests.resolve(
        run, report, collection=collected, paths=[], read={}.__getitem__
    )
    assert resolved.nothing == "the report names no failure"
    assert "failed and then passed in report.xml" in resolved.skipped[0]
    twice = f"<testsuite>{CASE.format(FAILURE)}</testsuite><testsuite>{CASE.format('')}</testsuite>"
    report = read(run, tmp_path, f"<testsuites>{twice}</testsuites>")
    assert [(c.outcome, c.attempts) for c in report.cases] == [("failed", 1)]


def test_surefire_retries_count_as_tries(tmp_path: Path, run: Run) -> None:
    tried = CASE.format(FAILURE + "<rerunFailure>x<stackTrace>y</stackTrace></rerunFailure>")
    flaky = CASE.format("<flakyFailure>x</flakyFailure>")
    report = read(run, tmp_path, f"<testsuite>{tried}{flaky.replace('_b', '_c')}</testsuite>")
    assert [(c.name, c.attempts) for c in report.cases] == [("test_b", 2)]


def test_an_error_or_failure_beats_a_skip_and_output_is_no_result(tmp_path: Path, run: Run) -> None:
    both = CASE.format(f"<skipped/>{FAILURE}")
    shown = CASE.format("<system-out><failure>no</failure></system-out>").replace("_b", "_c")
    report = read(run, tmp_path, f"<testsuite>{both}{shown}</testsuite>")
    assert [(c.name, c.outcome) for c in report.cases] == [("test_b", "failed")]
    assert report.passed == 1


@pytest.mark.parametrize("text", ["a &amp; b", "&amp;amp;", "&#38;lt;", "&lt;x&gt;", "&amp;#38;"])
def test_attributes_read_as_any_xml_parser_reads_them(tmp_path: Path, run: Run, text: str) -> None:
    from xml.etree import ElementTree

    expected = ElementTree.fromstring(f'<a n="{text}"/>').get("n")
    (case,) = read(run, tmp_path, GOOD.replace("test_b", text)).cases
    assert case.name == expected


def test_long_text_keeps_its_head_and_tail(tmp_path: Path, run: Run) -> None:
    body = "head" + "-" * 300_000 + "tail"
    (case,) = read(run, tmp_path, GOOD.replace("tests/test_a.py:3: AssertionError", body)).cases
    assert case.text.startswith("head-")
    assert case.text.endswith("-tail")
    assert len(case.text) < 70_000
    assert "characters cut" in case.text


@pytest.mark.long
def test_many_failures_are_capped_and_said_so(tmp_path: Path, run: Run) -> None:
    cases = "".join(CASE.replace("_b", f"_{n}").format(FAILURE) for n in range(20_100))
    report = read(run, tmp_path, f"<testsuite>{cases}</testsuite>")
    assert len(report.cases) == 20_000
    assert "capped" in report.flags


def test_an_interrupted_run_is_partial_and_names_no_test(tmp_path: Path, run: Run) -> None:
    report = read(run, tmp_path, f"<testsuite>{CASE.format(FAILURE)}<testcase/></testsuite>")
    assert {"partial", "interrupted"} <= set(report.flags)
    assert len(report.cases) == 1


def test_an_empty_report_is_never_green(tmp_path: Path, run: Run) -> None:
    report = read(run, tmp_path, "<testsuites/>")
    assert report.flags == ("empty",)
    assert report.skipped == ("report.xml holds no test case",)


def test_a_report_older_than_its_run_is_stale(tmp_path: Path, run: Run) -> None:
    (tmp_path / "report.xml").write_text(GOOD)
    os.utime(tmp_path / "report.xml", (1_000_000, 1_000_000))
    report = reader.read_reports(run, tmp_path, ["report.xml"], not_before=time.time() - 3600)
    assert report.flags == ("stale",)
    assert report.skipped == ("report.xml was written before the commit that it is for was made",)


@pytest.mark.parametrize(
    ("stamp", "stale"),
    [
        ("2026-01-01T12:00:00+00:00", True),
        ("2026-01-02T14:00:00+02:00", False),
        ("2026-01-02T13:59:59+02:00", True),
        ("2026-01-01T23:59:59", True),
        ("2026-01-02T00:00:01", False),
        ("9999-12-31T23:59:59", False),
        ("yesterday", False),
        # Clocks that nobody set: a suite that failed before it began, a machine's first second.
        ("0001-01-01T00:00:00", False),
        ("1970-01-01T00:00:00Z", False),
    ],
)
def test_the_time_in_a_report_outlives_its_copies(
    tmp_path: Path, run: Run, stamp: str, stale: bool
) -> None:
    (tmp_path / "report.xml").write_text(
        GOOD.replace("<testsuite ", f'<testsuite timestamp="{stamp}" ')
    )
    noon = datetime(2026, 1, 2, 12, tzinfo=UTC).timestamp()
    report = reader.read_reports(run, tmp_path, ["report.xml"], not_before=noon)
    assert report.flags == (("stale",) if stale else ())


def test_the_newest_time_that_can_be_meant_is_the_reports(tmp_path: Path, run: Run) -> None:
    suites = "".join(
        f"<testsuite timestamp='{stamp}'>{CASE.format(FAILURE)}</testsuite>"
        for stamp in ("2026-01-01T00:00:00Z", "2025-01-01T00:00:00Z", "0001-01-01T00:00:00", "")
    )
    (tmp_path / "report.xml").write_text(f"<testsuites>{suites}</testsuites>")
    first, second = (datetime(2026, 1, day, tzinfo=UTC).timestamp() for day in (1, 2))
    report = reader.read_reports(run, tmp_path, ["report.xml"], not_before=first)
    assert (report.flags, report.hints.started) == ((), first)
    stale = reader.read_reports(run, tmp_path, ["report.xml"], not_before=second)
    # What ran before the commit was made says nothing of the packages that its run had.
    assert (stale.flags, stale.hints.started) == (("stale",), 0.0)


@pytest.mark.parametrize(
    ("text", "remark"),
    [
        ('<testsuite failures="80">{}</testsuite>', "tells of 80 failures and shows 0 of them"),
        (
            '<testsuites failures="1" errors="1"><testsuite failures="2"/>{}</testsuites>',
            "tells of 2 failures and shows 0 of them",
        ),
        ('<testsuites errors="1"/>', "tells of 1 failure and shows 0 of them"),
        (
            '<testsuite errors="1">{}<error message="no module x">trace</error></testsuite>',
            "holds a suite that failed as a whole: no module x",
        ),
        ('<testsuite><failure type="Boom"/>{}</testsuite>', "that failed as a whole: Boom"),
        (
            f'<testsuite errors="1" failures="2">{CASE.format(FAILURE)}</testsuite>',
            "tells of 3 failures and shows 1 of them",
        ),
    ],
)
def test_what_failed_without_a_case_is_told_and_never_green(
    tmp_path: Path, run: Run, text: str, remark: str
) -> None:
    report = read(run, tmp_path, text.replace("{}", CASE.format("")))
    assert "partial" in report.flags
    assert any(remark in told for told in report.skipped)
    assert not reported_tests.is_green(report)


@pytest.mark.parametrize(
    "text",
    [
        f'<testsuite failures="1">{CASE.format(FAILURE)}</testsuite>',
        f'<testsuites failures="1"><testsuite failures="1"/>{CASE.format(FAILURE)}</testsuites>',
        f'<testsuite failures="0">{CASE.format(FAILURE * 3)}</testsuite>',
        f'<testsuite failures="2">{CASE.format(FAILURE * 2)}</testsuite>',
        f'<testsuite failures="many" errors="">{CASE.format("")}</testsuite>',
    ],
)
def test_counts_that_cases_account_for_say_nothing(tmp_path: Path, run: Run, text: str) -> None:
    report = read(run, tmp_path, text)
    assert (report.flags, report.skipped) == ((), ())


def test_one_broken_report_among_good_ones_is_data(tmp_path: Path, run: Run) -> None:
    (tmp_path / "bad.xml").write_text("<html/>")
    report = read(run, tmp_path, GOOD, "good.xml")
    report = reader.read_reports(run, tmp_path, ["*.xml"])
    assert len(report.cases) == 1
    assert "partial" in report.flags
    assert report.skipped == ("bad.xml is not a test report (its root is <html>)",)


def test_members_of_an_archive_are_legs_by_name(
    tmp_path: Path, run: Run, hostile: dict[str, bytes]
) -> None:
    report = read(run, tmp_path, hostile["zip-slip.zip"], "a.zip")
    legs = sorted(c.leg.name for c in report.cases)
    assert legs == ["a.zip!../../../tmp/slip.xml", "a.zip!/abs.xml"]
    assert not Path("/tmp/slip.xml").exists()


def test_the_interpreter_and_plugins_come_from_the_report(tmp_path: Path, run: Run) -> None:
    told = '<properties><property name="python" value="CPython 3.12.4"/></properties>'
    text = GOOD.replace('"pytest">', f'"pytest">{told}').replace(
        "tests/test_a.py:3", "[gw0] linux -- Python 3.11.7 /x/python\ntests/test_a.py:3"
    )
    hints = read(run, tmp_path, text).hints
    assert (hints.python, hints.plugins) == ("3.12.4", ("pytest-xdist",))


def test_the_interpreter_is_the_one_on_which_most_cases_fail(tmp_path: Path, run: Run) -> None:
    told = '<properties><property name="python" value="3.{}.1"/></properties>'
    for minor, failing in ((10, 0), (12, 2), (11, 1)):
        cases = [CASE.replace("_b", f"_{n}").format(FAILURE * (n < failing)) for n in range(3)]
        suite = f"<testsuite>{told.format(minor)}{''.join(cases)}</testsuite>"
        (tmp_path / f"py3.{minor}.xml").write_text(suite)
    (tmp_path / "windows-py3.9.xml").write_text(GOOD * 3)
    assert reader.read_reports(run, tmp_path, ["*.xml"]).hints.python == "3.12"
    assert reader.read_reports(run, tmp_path, ["py3.12.xml"]).hints.python == "3.12.1"


def test_a_run_whose_time_is_over_stops_reading(tmp_path: Path) -> None:
    (tmp_path / "report.xml").write_text(HEAD + "<testsuite>" + CASE.format(FAILURE) * 20_000)
    report = reader.read_reports(Run(sink=lambda e: None, deadline=0), tmp_path, ["report.xml"])
    assert "partial" in report.flags
    assert "time is over" in report.skipped[0]


SNIPPETS = st.sampled_from(
    [
        "<testsuite>", "</testsuite>", "<testcase name='a'>", "<testcase/>", "</testcase>",
        "<failure>", "<failure message='&#27;'/>", "</failure>", "<!--", "-->", "<![CDATA[", "]]>",
        "<?xml version='1.0'?>", "<!DOCTYPE a>", "<!DOCTYPE a [", "]>", "&amp;", "&x;", "&#0;",
        "\x00", "\x1b", "\ud800", "x.py:1: E", "\n", "<", ">", "&", "<skipped/>", "<rerunFailure/>",
    ]
)  # fmt: skip


@given(st.lists(SNIPPETS | st.text(max_size=20), max_size=40))
@example(["<testcase name='a'>", "<failure>", "\x1b", "</failure>"])
@settings(
    max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_any_mixture_of_pieces_gives_a_report_or_one_line(
    tmp_path: Path, run: Run, pieces: list[str]
) -> None:
    report = said(run, tmp_path, "".join(pieces))
    if isinstance(report, str):
        assert "\n" not in report
    else:
        assert all(c.outcome in {"failed", "error", "skipped"} for c in report.cases)


@given(st.binary(max_size=300))
@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_any_bytes_after_any_magic_give_a_report_or_one_line(
    tmp_path: Path, run: Run, data: bytes
) -> None:
    for magic in (b"", b"\x1f\x8b\x08", b"PK\x03\x04", b"\xff\xfe", b"<testsuite>"):
        report = said(run, tmp_path, magic + data)
        assert not isinstance(report, str) or "\n" not in report


def test_the_modules_of_all_cases_are_known_by_file_or_class(tmp_path: Path, run: Run) -> None:
    cases = (
        '<testcase classname="tests.test_a.TestA" name="test_1"/>'
        '<testcase classname="" name="test_2" file="unit/test_b.py"/>'
    )
    hints = read(run, tmp_path, f"<testsuite>{cases}</testsuite>").hints
    assert hints.modules == {"tests.test_a.TestA", "unit/test_b.py"}
