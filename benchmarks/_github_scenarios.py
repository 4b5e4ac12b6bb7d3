"""The scenarios by name: what each does once, twice, broken, killed, and beside another."""

from __future__ import annotations

import signal
from collections.abc import Callable
from typing import Any

from benchmarks._cases import read_cases
from benchmarks._github_odd import ODD
from benchmarks._github_player import Make, making, playing
from benchmarks._github_stage import Stage
from tests.github_server.server import Fault
from tests.github_server.world import BOT

Scenario = Callable[[Stage], None]
_TABLE = read_cases("github")
TRIGGERS = {name: making(steps) for name, steps in _TABLE["triggers"].items()}
red_comment, red_of_pull = TRIGGERS["a comment"], TRIGGERS["a red run of a pull request"]


def allowed(make: Make) -> Scenario:
    """It is healed and proposed; a second time without news nothing is written."""

    def play(stage: Stage) -> None:
        stage.inputs["pull-requests"] = "auto"
        event = make(stage)
        stage.act(event)
        assert (stage.status, stage.delivery) == ("partly_healed", "created"), stage.said
        assert len(stage.ours()) == 1
        stage.github.exchanges.clear()
        if "comment" in event[1] or "review" in event[1]:
            # The same event again is the same request: its own comment says the result.
            stage.act(event, attempt=2)
            assert stage.delivery == "unchanged", stage.said
            return
        stage.act(event)
        assert stage.delivery == "unchanged", stage.said
        assert stage.github.writes() == []

    return play


def _refused(reason: str) -> Scenario:
    def check(stage: Stage) -> None:
        assert stage.status in {"refused", "nothing_to_do"}, (stage.status, stage.said)
        assert not stage.healed
        assert reason in "".join(stage.said), stage.said
        assert not stage.ours()

    return check


def refused(make: Make, reason: str) -> Scenario:
    """Nothing is healed or proposed; whoever waits is answered once, however often it runs."""

    def play(stage: Stage) -> None:
        event = make(stage)
        for attempt in (1, 2):
            stage.act(event, attempt=attempt)
            _refused(reason)(stage)
        assert sum(c.user == BOT for c in stage.github.world.comments.values()) <= 1

    return play


def faulty(operation: str, fault: dict[str, Any]) -> Scenario:
    """One write is answered by an error; the run, or the next one, ends as if it had not been."""

    def play(stage: Stage) -> None:
        event = red_comment(stage)
        stage.github.faults.append(Fault(operation, **fault))
        stage.act(event)
        if not stage.ours():
            stage.act(event, attempt=2)
        assert len(stage.ours()) == 1, stage.said

    return play


def interrupted(number: int, when: str) -> Scenario:
    """SIGKILL when a request arrives or has taken effect; the next run makes up for it."""

    def play(stage: Stage) -> None:
        event = red_comment(stage)
        aim = stage.stop_at(number, when, signal.SIGKILL)
        process = stage.start(event)
        aim(process.pid)
        code = stage.end(process)
        assert code == -signal.SIGKILL, stage.said
        assert stage.end(stage.start(event, attempt=2)) == 0, stage.said
        assert len(stage.ours()) == 1
        assert sum("request" in c.body for c in stage.github.world.comments.values()
                   if c.user == BOT) == 1  # fmt: skip

    return play


def together(number: int, make: Make) -> Scenario:
    """Two runs at once: the first stands still at a request while the second runs to its end."""

    def play(stage: Stage) -> None:
        stage.inputs["pull-requests"] = "auto"
        event = make(stage)
        aim = stage.stop_at(number, "after", signal.SIGSTOP)
        first = stage.start(event)
        aim(first.pid)
        while len(stage.github.exchanges) <= number and first.poll() is None:
            signal.sigtimedwait([], 0.01)
        second = stage.start(event)
        codes = [stage.end(second)]
        if first.poll() is None:
            first.send_signal(signal.SIGCONT)
        codes.append(stage.end(first))
        assert codes == [0, 0], stage.said
        assert len(stage.ours()) == 1

    return play


def quick() -> dict[str, Scenario]:
    """The scenarios in one process each."""
    found = {f"{name}: allowed": allowed(make) for name, make in TRIGGERS.items()}
    for name, row in _TABLE["refusals"].items():
        found[f"{name}: refused"] = refused(making(row["steps"]), row["reason"])
    found |= {name: playing(steps) for name, steps in _TABLE["scenarios"].items()}
    found |= {scenario.__name__.replace("_", " "): scenario for scenario in ODD}
    for operation in _TABLE["writes"]:
        for name, fault in _TABLE["faults"].items():
            found[f"{operation}: {name}"] = faulty(operation, fault)
    return found


def killed(requests: int) -> dict[str, Scenario]:
    """SIGKILL at each of the requests of a comment's run, and two runs at once at each."""
    found: dict[str, Scenario] = {}
    for number in range(requests):
        found[f"killed before request {number + 1}"] = interrupted(number, "before")
        found[f"killed after the effect of request {number + 1}"] = interrupted(number, "after")
        found[f"two at once, met at request {number + 1}"] = together(number, red_comment)
    for number in range(1, requests - 3, 2):
        name = f"two red runs at once, met at request {number + 1}"
        found[name] = together(number, red_of_pull)
    return found
