"""Plays the whole action against a loopback GitHub, scenario by scenario, and checks invariants.

Each scenario has a repository of its own behind a server that judges every request by GitHub's
own description. Healing gives a prepared record; all else is the real program. After each: at
most one pull request, branch and comment per request and failure, no human commit lost, nothing
forced, nothing foreign unescaped, the token in no log. Then repositories live through days, and
each run is held to what is due.
"""

from __future__ import annotations

import contextlib
import json
import re
import sys
import time
import traceback
from dataclasses import dataclass, field

from benchmarks._cases import options_of, read_cases
from benchmarks._github_life import TOKENS, Count, living
from benchmarks._github_player import perform
from benchmarks._github_scenarios import TRIGGERS, Scenario, killed, quick
from benchmarks._github_stage import TOKEN, Stage, staged
from tests.report.tame import assert_tame


@dataclass
class Tally:
    """What the scenarios showed."""

    scenarios: int = 0
    passed: int = 0
    violations: int = 0
    duplicates: int = 0
    lost: int = 0
    full: int = 0
    noop: int = 0
    failed: list[str] = field(default_factory=list)

    def play(self, name: str, scenario: Scenario) -> None:
        """One scenario on a stage of its own, then the invariants."""
        self.scenarios += 1
        started = time.monotonic()
        problem = ""
        with staged() as stage:
            try:
                scenario(stage)
                _check(stage)
            except Exception:  # noqa: BLE001 - whatever a scenario raises is its result
                problem = traceback.format_exc(limit=-2)
            violations, duplicates = stage.github.violations, stage.duplicates()
            self.violations += len(violations)
            self.duplicates += duplicates
            self.lost += stage.lost()
        if violations:
            problem += f"\nviolations: {violations[:3]}"
        if duplicates:
            problem += f"\nduplicates: {duplicates}"
        self.passed += not problem
        if problem:
            self.failed.append(name)
            print(f"FAILED {name}\n{problem}", flush=True)
        else:
            print(f"{time.monotonic() - started:5.1f} s  {name}", flush=True)


def _check(stage: Stage) -> None:
    """What must hold after every scenario."""
    assert stage.lost() == 0, "a human commit is lost"
    forced = [e for e in stage.github.exchanges if isinstance(e.body, dict) and e.body.get("force")]
    assert not forced, "a reference was forced"
    files = [path.read_text() for path in stage.folder.glob("*") if path.is_file()]
    shown = "".join(stage.said + files + stage.bodies())
    assert TOKEN not in shown, "the token is in a log"
    for body in stage.bodies():
        _tame(body, stage.github.url)


def _tame(body: str, url: str) -> None:
    """Our own links are no foreign markup; everything else in the body is held to the rule."""
    linked = re.sub(rf"\[[\w ]+\]\({re.escape(url)}[^()\s]*\)", "LINK", body)
    assert_tame(linked.replace(url, "URL"))


def _measure() -> tuple[int, int]:
    """The most requests that a full run and a run without news take, over all triggers."""
    full = noop = 0
    for make in TRIGGERS.values():
        with staged() as stage:
            event = make(stage)
            stage.act(event)
            full = max(full, stage.requests)
            if "comment" not in event[1] and "review" not in event[1]:
                stage.act(event)
                noop = max(noop, stage.requests)
    return full, noop


def live_all(only: str = "") -> Count:
    """Every story with each kind of token; what they showed together."""
    count = Count()
    stories = {name: told for name, told in read_cases("lives").items() if only in name}
    for token in TOKENS:
        for name, steps in stories.items():
            started, before = time.monotonic(), len(count.wrong)
            try:
                with living(token, count, name) as life:
                    perform(life, steps)
            except Exception:  # noqa: BLE001 - whatever a story raises is its result
                count.wrong.append(f"{name} ({token.name}): {traceback.format_exc(limit=-2)}")
            for told in count.wrong[before:]:
                print(f"WRONG {told}", flush=True)
            print(f"{time.monotonic() - started:5.1f} s  life: {name} ({token.name})", flush=True)
    for told in count.unwanted:
        print(f"UNWANTED {told}", flush=True)
    return count


def main(argv: list[str]) -> int:
    """Play everything; 1 when a scenario failed."""
    options = options_of("github").parse_args(argv)
    tally = Tally()
    with contextlib.redirect_stdout(sys.stderr):
        tally.full, tally.noop = _measure()
        for name, scenario in {**quick(), **killed(tally.full)}.items():
            if options.only in name:
                tally.play(name, scenario)
        life = live_all(options.only)
    for name in tally.failed if not options.json else ():
        print(f"failed: {name}")
    figures = {
        "scenarios": tally.scenarios, "passed": tally.passed, "violations": tally.violations,
        "duplicates": tally.duplicates, "lost": tally.lost, "requests_full": tally.full,
        "requests_noop": tally.noop, "life": life.figures(), "complete": not options.only,
    }  # fmt: skip
    print(json.dumps(figures))
    return 0 if tally.passed == tally.scenarios and not life.wrong else 1
