"""The log of a run: what is told, what is told once, and what only with -v."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from heal_bot.core.events import (
    AttemptJudged,
    ClusterStarted,
    Event,
    ModelSpoke,
    Noted,
    ProposalConfirmed,
    SearchProgressed,
    SuiteFinished,
    Underway,
)
from heal_bot.report import console
from heal_bot.report.console import EventLog


def suite(
    seconds: float = 2.0, ended: str = "finished", failed: int = 1, known: int = 0
) -> SuiteFinished:
    return SuiteFinished(
        stage="verify", purpose="failing tests again", passed=0, failed=failed, seconds=seconds,
        ended=ended, known=known,
    )  # fmt: skip


def attempt(number: int, verdict: str = "fixed", proposer: str = "rules") -> AttemptJudged:
    return AttemptJudged(
        number=number, cluster="c1", proposer=proposer, family="comparison", verdict=verdict,
        fixed=2, of=3, detail="1 passing test fails" if verdict == "regression" else "",
        change="slots.py: `<` becomes `<=` on line 3",
    )  # fmt: skip


def lines(*events: Event, verbose: bool = False) -> list[str]:
    log = EventLog(verbose)
    return [line for event in events if (line := log.line(event))]


def test_six_equal_reruns_are_one_line_however_long_each_took() -> None:
    runs = [suite(seconds) for seconds in (1.0, 2.0, 3.0)]
    assert lines(*runs) == ["failing tests again: 0 passed, 1 failed in 1.0 s"]
    assert len(lines(*runs, verbose=True)) == 3
    assert len(lines(*runs, suite(failed=0))) == 2


def test_a_log_says_what_is_under_way_after_a_minute_without_a_line() -> None:
    def running(at: float) -> Underway:
        return Underway(stage="sandbox", what="tests/test_a.py::test_a", number=3, of=82, at=at)

    shown = "  test 3 of 82: tests/test_a.py::test_a"
    begun = replace(suite(), at=100.0)
    assert lines(begun, running(130.0), running(159.0))[1:] == []
    assert lines(begun, *map(running, (161.0, 162.0, 222.0)))[1:] == [shown, shown]
    assert lines(begun, running(101.0), running(102.0), verbose=True)[1:] == [shown]
    assert lines(begun, running(101.0), running(162.0), verbose=True)[1:] == [shown, shown]


@pytest.mark.parametrize(
    ("failed", "known", "said"),
    [(0, 0, "0 failed in"), (2, 2, "2 failed as before in"), (2, 1, "2 failed in")],
)
def test_a_run_whose_failures_are_all_known_says_so(failed: int, known: int, said: str) -> None:
    assert said in console.render_line(suite(failed=failed, known=known))


@pytest.mark.parametrize(
    ("ended", "said"),
    [("timeout", "stopped at its time limit"), ("crashed", "the interpreter crashed"),
     ("untrusted", "could not be authenticated")],
)  # fmt: skip
def test_a_run_that_did_not_finish_says_how_it_ended(ended: str, said: str) -> None:
    assert said in console.render_line(suite(ended=ended))


def test_a_cause_has_its_number_and_its_likeliest_suspect() -> None:
    event = ClusterStarted(
        cluster="eded20d234", tests=4, suspects=("group_period", "x"), number=1, of=3
    )
    assert lines(event) == ["cause 1 of 3: `group_period`, 4 tests"]
    nobody = ClusterStarted(cluster="eded20d234", tests=1, suspects=(), number=3, of=3)
    assert lines(nobody) == ["cause 3 of 3: no suspect, 1 test"]


def test_an_attempt_says_what_it_changes_and_how_much_it_fixes() -> None:
    first = "  attempt 1 fixes 2 of 3: slots.py: `<` becomes `<=` on line 3"
    assert lines(attempt(1)) == [first]
    assert lines(attempt(4, "regression", "claude")) == [
        "  attempt 4 (claude): regression: 1 passing test fails (slots.py: `<` becomes `<=` on"
        " line 3)"
    ]


def test_of_the_rules_only_the_first_change_that_does_is_told() -> None:
    events = (attempt(1, "regression"), attempt(2), attempt(3))
    assert [line.split()[1] for line in lines(*events)] == ["2"]
    assert len(lines(*events, verbose=True)) == 3


def test_a_long_search_is_told_of_ever_more_rarely() -> None:
    steps = [
        SearchProgressed(cluster="c1", proposer="rules", tried=250 * n, best_fixed=0)
        for n in range(1, 9)
    ]
    assert [line.split()[1] for line in lines(*steps)] == ["250", "500", "1000", "2000"]
    assert len(lines(*steps, verbose=True)) == 8


@pytest.mark.parametrize(
    "event",
    [
        Noted(stage="locate", message="foreign tracer", level="detail"),
        ModelSpoke(kind="usage", provider="claude", model="m", usd=0.1),
        Underway(stage="sandbox", what="test_a.py::test", number=1, of=2),
    ],
)
def test_what_changes_nothing_is_told_only_on_request(event: Event) -> None:
    assert lines(event) == []
    assert len(lines(event, verbose=True)) == 1


@pytest.mark.parametrize(
    ("event", "line"),
    [
        (ProposalConfirmed(status="patch", fixed=4), "final check: passed, 4 failing tests fixed"),
        (ProposalConfirmed(status="unconfirmed", fixed=0, detail="it hangs"),
         "final check: unconfirmed: it hangs"),
        (Noted(stage="a", message="careful", level="warning"), "warning: careful"),
        (Noted(stage="a", message="##[error]x\n::error::y"), "# #[error]x ::error::y"),
    ],
)  # fmt: skip
def test_each_event_is_one_harmless_line(event: Event, line: str) -> None:
    assert lines(event) == [line]


def test_json_has_the_time_of_day() -> None:
    event = Noted(stage="a", message="##[x", at=61.5, seq=3)
    text = console.json_line(event, 86_400.0)
    assert "##[" not in text
    assert json.loads(text) == {
        "seq": 3, "stage": "a", "message": "##[x", "level": "info", "kind": "noted",
        "time": "1970-01-02T00:01:01.500Z",
    }  # fmt: skip
