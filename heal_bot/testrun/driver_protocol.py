"""The records of the driver, read strictly: one order of events is believed and no other."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from heal_bot.core.errors import HealBotError
from heal_bot.core.model import CaseResult, Frame
from heal_bot.core.statuses import GREEN, RunResult
from heal_bot.core.text import clip
from heal_bot.testrun.code_origin import Origins

MAX_LINE = 1 << 20
MAX_TESTS = 200_000
MAX_FRAMES = 120
MAX_TEXT = 9000
_PHASES = ("setup", "call", "teardown")
_OUTCOMES: set[str] = {*RunResult, "rerun"} - {RunResult.ERROR}


class Untrusted(HealBotError):
    """The records are not what an honest run writes; the message says where."""


@dataclass(frozen=True, slots=True)
class Phase:
    """How one phase of one test ended."""

    when: str
    outcome: str
    seconds: float
    kind: str = ""
    message: str = ""
    frames: tuple[tuple[str, int, str], ...] = ()
    sub: bool = False


def parse(line: bytes, nonce: str) -> dict[str, Any]:
    """One record as a dict with `t` a string; Untrusted when it is none or has another nonce."""
    if len(line) > MAX_LINE:
        raise Untrusted(f"a record of {len(line)} bytes")
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise Untrusted(f"a record that is no JSON: {clip(repr(line), 80)}") from error
    if not isinstance(record, dict) or record.get("n") != nonce:
        raise Untrusted("a record without the nonce of this run")
    if not isinstance(record.get("t"), str):
        raise Untrusted("a record without a type")
    return record


def expect_text(value: object, limit: int = MAX_TEXT) -> str:
    """The value as a string within the limit; Untrusted for other types."""
    if not isinstance(value, str):
        raise Untrusted(f"{type(value).__name__} where a text belongs")
    return clip(value, limit)


def expect_number(value: object, below: int) -> int:
    """The value as an index in 0..below; Untrusted otherwise."""
    if type(value) is not int or not 0 <= value < below:
        raise Untrusted(f"the index {clip(repr(value), 40)} where one below {below} belongs")
    return value


def expect_rows(value: object) -> list[Any]:
    """The value as a list; Untrusted otherwise."""
    if not isinstance(value, list):
        raise Untrusted(f"{type(value).__name__} where a list belongs")
    return value


def expect_parts(value: object, count: int) -> list[Any]:
    """The value as a list of so many; Untrusted otherwise."""
    found = expect_rows(value)
    if len(found) != count:
        raise Untrusted(f"a list of {len(found)} where one of {count} belongs")
    return found


def expect_texts(value: object, limit: int = MAX_TEXT) -> list[str]:
    """The value as a list of strings within the limit; Untrusted otherwise."""
    return [expect_text(one, limit) for one in expect_rows(value)]


def expect_pair(value: object) -> tuple[str, str]:
    """The value as two texts; Untrusted otherwise."""
    first, second = expect_parts(value, 2)
    return expect_text(first), expect_text(second)


def expect_phase(record: Mapping[str, Any]) -> Phase:
    """The phase a record tells of."""
    when, outcome = record.get("w"), record.get("o")
    if when not in _PHASES or outcome not in _OUTCOMES:
        raise Untrusted(f"the phase {clip(repr((when, outcome)), 60)}")
    seconds = record.get("s", 0.0)
    if type(seconds) not in (int, float) or not 0 <= seconds < 1e6:
        raise Untrusted("a duration that is none")
    frames = []
    for entry in expect_rows(record.get("f", []))[:MAX_FRAMES]:
        path, line, name = expect_parts(entry, 3)
        place = expect_text(path, 500), expect_number(line, 1 << 31), expect_text(name, 300)
        frames.append(place)
    return Phase(
        when,
        outcome,
        float(seconds),
        expect_text(record.get("k", ""), 200),
        expect_text(record.get("m", "")),
        tuple(frames),
        record.get("sub") is True,
    )


def combine_phases(test: str, phases: Sequence[Phase], origins: Origins) -> CaseResult:
    """The outcome of a test from its phases: the first that failed decides, then skips."""
    seconds = sum(entry.seconds for entry in phases if not entry.sub)
    deciding = next((entry for entry in phases if entry.outcome == RunResult.FAILED), None)
    if deciding is not None:
        outcome = RunResult.FAILED if deciding.when == "call" else RunResult.ERROR
    else:
        other = (e for e in phases if e.outcome != RunResult.PASSED and not e.sub)
        deciding = next(other, phases[0])
        outcome = RunResult(deciding.outcome)
    frames = tuple(
        Frame(path, line, name, origins.of(path)) for path, line, name in deciding.frames
    )
    skipped = sum(entry.sub and entry.outcome == RunResult.SKIPPED for entry in phases)
    if outcome in GREEN - {RunResult.XFAILED}:
        return CaseResult(test, outcome, "call", seconds, skipped=skipped)
    return CaseResult(
        test, outcome, deciding.when, seconds, deciding.kind, deciding.message, frames, skipped
    )


@dataclass(slots=True)
class Tests:
    """The running state of a suite's records: which test is where, and what came out.

    `canaries` are what the client expects of the tests it added behind the collected ones.
    """

    canaries: tuple[bool, ...]
    names: list[str] = field(default_factory=list)
    collected: bool = False
    done: dict[int, list[Phase]] = field(default_factory=dict)
    stopped: set[int] = field(default_factory=set)
    current: int | None = None
    phases: list[Phase] = field(default_factory=list)

    def take(self, record: Mapping[str, Any]) -> bool:
        """A record of tests or their phases; False for one of something else."""
        match record["t"]:
            case "start":
                self.start(record.get("i"))
            case "phase":
                self.phase(record.get("i"), expect_phase(record))
            case "end":
                self.end(record.get("i"))
            case "tests":
                self.add(expect_rows(record.get("v")))
            case "collected":
                self.close(record.get("c"))
            case _:
                return False
        return True

    def add(self, names: Sequence[object]) -> None:
        """More collected node ids; none may follow once the collection ended."""
        if self.collected or len(self.names) + len(names) > MAX_TESTS:
            raise Untrusted("node ids after the collection ended, or too many")
        self.names += [expect_text(name) for name in names]

    def close(self, count: object) -> None:
        """The collection ended with `count` tests."""
        if self.collected or count != len(self.names):
            raise Untrusted("a collection that does not add up")
        self.collected = True

    def start(self, index: object) -> None:
        """A test begins; each only once, one at a time."""
        if not self.collected or self.current is not None:
            raise Untrusted("a test started before the collection or the test before it ended")
        at = expect_number(index, len(self.names) + len(self.canaries))
        if at in self.done or at in self.stopped:
            raise Untrusted(f"{self.name(at)} started twice")
        self.current, self.phases = at, []

    def phase(self, index: object, entry: Phase) -> None:
        """A phase of the running test; a rerun (by the project's own marks) begins it anew."""
        if self.current is None or index != self.current:
            raise Untrusted("a phase of a test that is not running")
        if entry.outcome == "rerun":
            self.phases = []
            return
        before = [p.when for p in self.phases if not p.sub]
        passed_setup = before == ["setup"] and self.phases[0].outcome == RunResult.PASSED
        legal = {
            "setup": not before,
            "call": passed_setup,
            "teardown": bool(before) and before[-1] != "teardown",
        }
        if not legal[entry.when]:
            raise Untrusted(f"{entry.when} of {self.name(self.current)} out of order")
        if entry.when == "teardown" and passed_setup and "call" not in before:
            raise Untrusted(f"{self.name(self.current)} ended without having been called")
        self.phases.append(entry)

    def end(self, index: object) -> None:
        """The running test ended; without its teardown it was interrupted and has no result."""
        if self.current is None or index != self.current:
            raise Untrusted("the end of a test that is not running")
        if self.phases and self.phases[-1].when == "teardown":
            self.done[self.current] = self.phases
        else:
            self.stopped.add(self.current)
        self.current = None

    def where(self) -> str:
        """Which test runs, for a message; nothing between two."""
        return f" in {self.name(self.current)}" if self.current is not None else ""

    def finished(self) -> int:
        """How many collected tests have a result."""
        return sum(1 for at in self.done if at < len(self.names))

    def name(self, index: int) -> str:
        """The node id, or `canary` for the client's own tests."""
        return self.names[index] if index < len(self.names) else "canary"

    def make_numbers(self) -> list[list[int]]:
        """Two factors and a product for each canary, the right one where it must pass."""
        rng, made = random.SystemRandom(), []
        for passes in self.canaries:
            left, right = rng.randrange(3, 1000), rng.randrange(3, 1000)
            made.append([left, right, left * right + (0 if passes else rng.randrange(1, 9))])
        return made

    def check_canaries(self) -> None:
        """Untrusted unless every canary ran and came out as expected."""
        for at, expected in enumerate(self.canaries, len(self.names)):
            phases = self.done.get(at)
            if phases is None:
                raise Untrusted("a canary test did not run")
            call = next((p.outcome for p in phases if p.when == "call"), "")
            if call != (RunResult.PASSED if expected else RunResult.FAILED):
                raise Untrusted("a canary test has another result than it must have")

    def results(self, origins: Origins) -> tuple[CaseResult, ...]:
        """The finished tests in the order of the collection, canaries left out."""
        return tuple(
            combine_phases(self.names[at], phases, origins)
            for at, phases in sorted(self.done.items())
            if at < len(self.names)
        )
