from __future__ import annotations

import pytest

from heal_bot.core.events import (
    ClusterStarted,
    Event,
    ModelSpoke,
    Planned,
    ProposalConfirmed,
    Run,
    SearchProgressed,
    SuiteFinished,
    Underway,
)
from heal_bot.report import console
from heal_bot.report.progress import Progress


def _after(*events: Event, until: float = 1_200.0) -> Progress:
    progress = Progress(until, max_usd=1.0)
    for event in events:
        progress.take(event)
    return progress


FIRST = ClusterStarted(cluster="c1", tests=2, suspects=("total",), number=1, of=2, at=10.0)
SECOND = ClusterStarted(cluster="c2", tests=2, suspects=("tax",), number=2, of=2, at=100.0)


def _tried(cluster: str, tried: int, at: float) -> SearchProgressed:
    return SearchProgressed(cluster=cluster, proposer="rules", tried=tried, best_fixed=0, at=at)


def test_at_first_only_the_budget_is_known() -> None:
    assert _after().line(0.0) == "running the tests · 20:00 left"


def test_the_plan_says_how_long_there_is() -> None:
    plan = Planned(suite_seconds=3, confirmations=2, minutes_left=5, at=60.0)
    assert _after(plan).line(61.0).endswith(" · 4:59 left")


def test_candidates_are_summed_over_causes_and_their_rate_is_that_of_the_last() -> None:
    events = (FIRST, _tried("c1", 500, 20.0), SECOND, _tried("c2", 250, 101.0))
    line = _after(*events).line(200.0)
    assert line == "cause 2 of 2: `tax` · 750 candidates (250/s) · 16:40 left"


@pytest.mark.parametrize(
    ("width", "line"),
    [(60, "cause 2 of 2: `tax` · 750 candidates (250/s) · 16:40 left"),
     (40, "cause 2 of 2: `tax` · 16:40 left"), (16, "16:40 left")],
)  # fmt: skip
def test_a_narrow_terminal_loses_the_counts_and_keeps_the_time(width: int, line: str) -> None:
    events = (FIRST, _tried("c1", 500, 20.0), SECOND, _tried("c2", 250, 101.0))
    assert _after(*events).line(200.0, width)[-len(line) :] == line


def test_the_final_check_is_named_while_its_tests_run() -> None:
    progress = _after(
        FIRST,
        Underway(stage="verify", what="final check", number=1, of=2),
        Underway(stage="sandbox", what="test_a.py::test_b", number=1, of=2),
    )
    assert progress.line(60.0) == "final check · 19:00 left"
    assert progress.running == "  test 1 of 2: test_a.py::test_b"


def test_money_is_told_once_some_is_spent() -> None:
    spoke = ModelSpoke(kind="usage", provider="claude", model="m", usd=0.25)
    assert _after(spoke, spoke).line(0.0).endswith(" · 20:00, $0.50 left")


def test_what_is_confirmed_counts_and_the_deadline_never_turns_negative() -> None:
    suite = SuiteFinished(
        stage="verify", purpose="baseline", passed=3, failed=1, seconds=1, ended="finished"
    )
    confirmed = ProposalConfirmed(status="patch", fixed=3)
    assert _after(suite, confirmed).line(9e9) == "after baseline · 3 fixed · 0:00 left"


def test_foreign_text_stays_one_harmless_line() -> None:
    spoke = ModelSpoke(kind="request", provider="\x1b[2J::error::x", model="a\nb", detail="##[x")
    line = _after(spoke).line(0.0)
    assert not set(line) & set("\x1b\n")
    assert not line.startswith("::")
    assert "##[" not in line


def test_what_is_under_way_is_kept_for_who_watches_and_is_no_line_of_the_log() -> None:
    test = Underway(stage="sandbox", what="test_a.py::test_x\x1b[2J", number=3, of=40)
    progress = _after(test)
    assert progress.running == "  test 3 of 40: test_a.py::test_x"
    assert console.render_line(test) == ""


def test_a_stage_shows_what_it_does_at_most_once_a_second() -> None:
    now, heard = [0.0], []
    run = Run(heard.append, clock=lambda: now[0])
    for seconds, what in ((0.0, "a"), (0.5, "b"), (0.5, "c"), (1.0, "d")):
        now[0] = seconds
        run.show("sandbox", what, 1)
    run.show("repair", "e", 2)
    assert [event.what for event in heard] == ["a", "d", "e"]
