"""A program that shows the events of a run and its closing lines, as `heal-bot heal` does."""

from __future__ import annotations

import sys
import time

from heal_bot.cli.console_output import choose_sink, print_closing
from heal_bot.core.events import (
    AttemptJudged,
    ClusterStarted,
    Event,
    ModelSpoke,
    Noted,
    Planned,
    ProposalConfirmed,
    SearchProgressed,
    SuiteFinished,
    Underway,
)
from heal_bot.core.outcome import OutcomeRecord
from heal_bot.report.closing_lines import render_closing
from heal_bot.report.console import EventLog
from tests.github_server import records

LONG = f"tests/test_long.py::test_{'x' * 400}"
RIGHT_TO_LEFT = (
    "tests/test_names.py::test_[\u05e9\u05dc\u05d5\u05dd-\u0645\u0631\u062d\u0628\u0627]"
)
WIDE = "tests/test_names.py::test_[\u65e5\u672c\u8a9e]"
STOPPING = "heal-bot: stopping with what is verified"
PARAMETERS = 5_000


def _suite(purpose: str, passed: int, failed: int) -> SuiteFinished:
    return SuiteFinished(
        stage="verify", purpose=purpose, passed=passed, failed=failed, seconds=7.8, ended="finished"
    )


EVENTS: tuple[Event, ...] = (
    Underway(stage="sandbox", what=LONG, number=3, of=82),
    _suite("baseline", 73, 9),
    *[_suite("failing tests again", 0, 9)] * 6,
    Planned(suite_seconds=7.8, confirmations=2, minutes_left=19.9),
    Noted(stage="locate", message="hot functions sampled", level="detail"),
    Noted(stage="workspace", message=f"a warning about {RIGHT_TO_LEFT}", level="warning"),
    ClusterStarted(cluster="a1", tests=4, suspects=("group_period",), number=1, of=3),
    *(SearchProgressed(cluster="a1", proposer="rules", tried=n, best_fixed=0) for n in (500, 1000)),
    AttemptJudged(number=1, cluster="a1", proposer="rules", family="comparison", verdict="fixed",
                  fixed=4, detail="", of=4, change="slots.py: `<` becomes `<=` on line 3"),
    ClusterStarted(cluster="b2", tests=1, suspects=(), number=2, of=3),
    Underway(stage="repair", what=WIDE, number=77),
    ModelSpoke(kind="request", provider="claude", model="a-model"),
    AttemptJudged(number=2, cluster="b2", proposer="claude", family="edit", verdict="regression",
                  fixed=1, detail=f"breaks {LONG}", of=1, change="slots.py: rounds up"),
    _suite("final check 1 of 2", 82, 0),
    ProposalConfirmed(status="patch", fixed=4),
)  # fmt: skip


def record() -> OutcomeRecord:
    """An outcome with very many failures, of names that are hard to draw."""
    data = records.data("1" * 40)
    first, second = data["failures"]
    many = [f"tests/test_m.py::test_split[{n}]" for n in range(PARAMETERS)]
    data["failures"] = [
        *({**first, "test": test} for test in (*many, LONG, RIGHT_TO_LEFT, WIDE)),
        *({**second, "test": f"tests/test_m.py::test_split[{n}-7]"} for n in range(7)),
    ]
    data["patch"]["diff"] = data["patch"]["diff"].replace("\n", "\r\n")
    return records.record(data)


def lines(*, redrawn: bool = True) -> list[str]:
    """What is to be seen of it, in order; a line that is redrawn says how far a search is."""
    log = EventLog()
    left_out = SearchProgressed if redrawn else ()
    told = [log.line(event) for event in EVENTS if not isinstance(event, left_out)]
    return [*filter(None, told), *render_closing(record(), "out")]


def main() -> None:
    """Show all events, slowly enough that the status line is drawn between them."""
    with choose_sink(20, 1.0, quiet=False, as_json=False) as sink:
        for event in EVENTS:
            sink(event)
            time.sleep(0.06)
        if "--interrupted" in sys.argv:
            sys.stderr.write(f"{STOPPING}\n")
            time.sleep(0.3)
    print_closing(record(), "out")


if __name__ == "__main__":
    main()
