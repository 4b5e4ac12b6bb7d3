"""Records that no honest run writes are refused, wherever they deviate."""

from __future__ import annotations

import json
import os

import pytest

from heal_bot.core.errors import SandboxError
from heal_bot.core.model import Origin
from heal_bot.sandbox.job_spec import JobResult
from heal_bot.testrun import driver_protocol
from heal_bot.testrun.code_origin import Origins
from heal_bot.testrun.driver_protocol import Untrusted, parse
from heal_bot.testrun.pipe_ipc import Channel, Flooded
from heal_bot.testrun.record_reader import RecordReader, conclude, new_hearing

NAMES = ["test_a.py::a", "test_a.py::b"]


def _line(hearing: RecordReader, kind: str, **fields: object) -> bytes:
    return json.dumps({"n": hearing.nonce, "t": kind, **fields}).encode()


def _one(number: int, outcome: str = "passed") -> list[tuple[str, dict[str, object]]]:
    return [
        ("start", {"i": number}),
        ("phase", {"i": number, "w": "setup", "o": "passed", "s": 0.1}),
        ("phase", {"i": number, "w": "call", "o": outcome, "s": 0.1, "k": "E", "m": "no"}),
        ("phase", {"i": number, "w": "teardown", "o": "passed", "s": 0.1}),
        ("end", {"i": number}),
    ]


HEAD: list[tuple[str, dict[str, object]]] = [
    ("tests", {"v": NAMES}),
    ("collected", {"c": 2}),
]


def _heard(records: list[tuple[str, dict[str, object]]], canaries: int = 0) -> RecordReader:
    hearing = new_hearing(canaries, {"mode": "run"})
    for kind, fields in records:
        hearing.take(_line(hearing, kind, **fields))
    return hearing


def test_an_honest_run_is_believed() -> None:
    hearing = _heard([*HEAD, *_one(0), *_one(1, "failed"), ("finish", {"rc": 1})])
    assert conclude(JobResult("exited", 1), "", hearing) == ("finished", "")
    results = hearing.tests.results(Origins(NAMES))
    assert [(r.test, r.outcome, r.message) for r in results] == [
        (NAMES[0], "passed", ""), (NAMES[1], "failed", "no"),
    ]  # fmt: skip


def test_a_rerun_by_the_projects_own_marks_counts_with_its_last_attempt() -> None:
    again = [*_one(0, "rerun")[:3], *_one(0)[1:]]
    hearing = _heard([*HEAD, *again, *_one(1), ("finish", {"rc": 0})])
    assert [r.outcome for r in hearing.tests.results(Origins(NAMES))] == ["passed", "passed"]


@pytest.mark.parametrize(
    ("records", "reason"),
    [
        ([*_one(0)], "before the collection"),
        ([HEAD[0], ("collected", {"c": 3})], "add up"),
        ([*HEAD, ("tests", {"v": ["x"]})], "after the collection"),
        ([*HEAD, *_one(0), *_one(0)], "twice"),
        ([*HEAD, ("start", {"i": 2})], "index"),
        ([*HEAD, ("start", {"i": True})], "index"),
        ([*HEAD, ("start", {"i": 0}), ("start", {"i": 1})], "started before"),
        ([*HEAD, _one(0)[0], _one(0)[2]], "out of order"),
        ([*HEAD, *_one(0)[:2], _one(0)[3]], "without having been called"),
        ([*HEAD, *_one(0)[:4], _one(0)[3]], "out of order"),
        ([*HEAD, _one(0)[0], _one(1)[1]], "not running"),
        ([*HEAD, ("end", {"i": 0})], "not running"),
        ([*HEAD, ("phase", {"i": 0, "w": "call", "o": "great"})], "phase"),
        (
            [*HEAD, _one(0)[0], ("phase", {"i": 0, "w": "setup", "o": "passed", "s": "1"})],
            "duration",
        ),
        ([*HEAD, ("finish", {"rc": 0}), _one(0)[0]], "after the last"),
        ([*HEAD, ("finish", {"rc": 300})], "index"),
        ([*HEAD, ("pass", {})], "unknown type"),
        ([("tests", {"v": "abc"})], "list belongs"),
        ([("tests", {"v": [1]})], "text belongs"),
        ([("errors", {"v": [["a"]]})], "list of 1"),
    ],
)
def test_a_stream_out_of_order_is_refused(
    records: list[tuple[str, dict[str, object]]], reason: str
) -> None:
    with pytest.raises(Untrusted, match=reason):
        _heard(records)


@pytest.mark.parametrize(
    "line",
    [b"", b"x", b"[]", b"{}", b'{"n":"other","t":"start"}', b'{"n":"n"}', b'{"n":"n","t":1}',
     b"[" * 100_000, b'{"n":"n","t":"x","i":' + b"9" * 5000 + b"}", b"x" * (1 << 21)],
    ids=range(10),
)  # fmt: skip
def test_a_line_that_is_no_record_is_refused(line: bytes) -> None:
    with pytest.raises(Untrusted):
        parse(line, "n")


@pytest.mark.parametrize(
    ("records", "ended", "expected", "detail"),
    [
        ([*HEAD, *_one(0), *_one(1, "failed"), ("finish", {"rc": 0})], JobResult("exited", 0),
         "untrusted", "ended with 0"),
        ([*HEAD, *_one(0), *_one(1), ("finish", {"rc": 0})], JobResult("exited", 1), "untrusted",
         "its process with 1"),
        ([*HEAD, *_one(0), ("finish", {"rc": 0})], JobResult("exited", 0), "crashed",
         "1 tests not"),
        ([*HEAD, *_one(0), *_one(1)[:2]], JobResult("exited", 0), "crashed", "in test_a.py::b"),
        ([*HEAD, *_one(0)], JobResult("signalled", -11), "crashed", "signal 11"),
        ([*HEAD, *_one(0)], JobResult("memory", -9, "too much"), "killed", "too much"),
        ([*HEAD, _one(0)[0]], JobResult("timeout", -9, seconds=5), "timeout",
         "5 s in test_a.py::a"),
        ([], JobResult("exited", 4, output=b"usage\nERROR: no option\n"), "crashed", "no option"),
    ],
)  # fmt: skip
def test_an_end_that_does_not_agree_is_no_finished_run(
    records: list[tuple[str, dict[str, object]]], ended: JobResult, expected: str, detail: str
) -> None:
    how, said = conclude(ended, "", _heard(records))
    assert (how, detail in said) == (expected, True), said


def test_canaries_must_run_and_come_out_as_expected() -> None:
    whole = [*HEAD, *_one(0), *_one(1), ("finish", {"rc": 0})]
    assert conclude(JobResult("exited", 0), "", _heard(whole, 8))[0] == "untrusted"
    hearing = _heard(whole[:-1], 8)
    expected = hearing.tests.canaries
    assert {True, False} <= set(expected)
    for number, passes in enumerate(expected, 2):
        for kind, fields in _one(number, "passed" if passes else "failed"):
            hearing.take(_line(hearing, kind, **fields))
    hearing.take(_line(hearing, "finish", rc=0))
    assert conclude(JobResult("exited", 0), "", hearing) == ("finished", "")


def test_a_failing_sandbox_is_never_a_result() -> None:
    with pytest.raises(SandboxError, match="no landlock"):
        conclude(JobResult("sandbox_error", 126, "no landlock"), "", _heard([]))


def test_a_test_without_its_teardown_has_no_result() -> None:
    tests = driver_protocol.Tests((), list(NAMES), collected=True)
    tests.start(0)
    tests.end(0)
    assert (tests.results(Origins(NAMES)), tests.stopped) == ((), {0})


@pytest.fixture
def channel() -> Channel:
    return Channel(cap=1000, longest=100)


@pytest.mark.parametrize(
    ("data", "complaint"), [(b"x" * 101, "a record of more"), (b"x\n" * 501, "more than 0 KiB")]
)
def test_a_flood_of_records_ends_the_channel(channel: Channel, data: bytes, complaint: str) -> None:
    os.write(channel.theirs[0], data)
    with pytest.raises(Flooded, match=complaint):
        channel.pump(1)
    channel.close()


def test_the_channel_gives_whole_lines_and_sees_its_end(channel: Channel) -> None:
    os.write(channel.theirs[0], b"one\ntwo\nthr")
    assert channel.pump(1) == [b"one", b"two"]
    os.write(channel.theirs[0], b"ee\n")
    assert channel.pump(1) == [b"three"]
    channel.started()
    assert (channel.pump(1), channel.ended) == ([], True)
    channel.close()


@pytest.mark.parametrize(
    ("path", "origin"),
    [
        ("pkg/core.py", Origin.PROJECT),
        ("pkg/test_core.py", Origin.TEST),
        ("tests/helper.py", Origin.TEST),
        ("conftest.py", Origin.TEST),
        ("checks/odd.py", Origin.TEST),
        ("/usr/lib/python3/json.py", Origin.LIBRARY),
        (".venv/lib/site-packages/x.py", Origin.LIBRARY),
        ("<string>", Origin.LIBRARY),
        ("src/testing_tools.py", Origin.PROJECT),
    ],
)
def test_the_origin_of_a_path(path: str, origin: Origin) -> None:
    assert Origins(["checks/odd.py::test_x"]).of(path) is origin
