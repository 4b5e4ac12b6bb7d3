"""What a driver's records say, taken one by one, and whether the whole of it can be believed."""

from __future__ import annotations

import random
import re
import secrets
from dataclasses import dataclass, field
from typing import Any

from heal_bot.core.errors import SandboxError
from heal_bot.core.model import OracleAnswers
from heal_bot.core.statuses import RunResult, SuiteEnd
from heal_bot.core.text import last_line, one_line
from heal_bot.sandbox.job_spec import JobResult
from heal_bot.testrun import driver_protocol
from heal_bot.testrun.coverage_spectrum import Collector
from heal_bot.testrun.driver_protocol import Untrusted

FIRST_CAP = 8 << 20
_CAP_PER_TEST = 20 << 10
_CAP_PER_BITMAP = 60 << 10
_CAP_MOST = 512 << 20
_STOPPED = {2, 3, 4}
_USAGE = 4
_SAID = 20_000
_CONFTEST = re.compile(r"^ImportError while loading conftest '([^'\n]{1,1000})'", re.MULTILINE)


@dataclass(slots=True)
class RecordReader:
    """What a run's records said so far."""

    nonce: str
    cap: int
    per_test: int
    tests: driver_protocol.Tests
    runs: bool
    spectrum: Collector = field(default_factory=Collector)
    errors: list[tuple[str, str]] = field(default_factory=list)
    unknown: tuple[str, ...] = ()
    unsteady: list[str] = field(default_factory=list)
    asked: OracleAnswers = field(default_factory=OracleAnswers)
    finished: int | None = None

    def take(self, line: bytes) -> None:
        """One record more; Untrusted where it cannot come from an honest run."""
        record = driver_protocol.parse(line, self.nonce)
        if self.finished is not None:
            raise Untrusted("a record after the last one")
        kind, value = record["t"], record.get("v")
        known = self.tests.take(record)
        if kind == "errors":
            self.errors += map(driver_protocol.expect_pair, driver_protocol.expect_rows(value))
        elif kind == "missing":
            lost = driver_protocol.expect_texts(value)
            self.errors += [(name, "not found: pytest collects no such test") for name in lost]
        elif kind == "unsteady":
            self.unsteady += driver_protocol.expect_texts(value)
        elif kind == "collected":
            self.cap = min(_CAP_MOST, FIRST_CAP + self.per_test * len(self.tests.names))
        elif kind == "asked":
            tests, others = (
                tuple(driver_protocol.expect_texts(record.get(name), 100))
                for name in ("tests", "others")
            )
            self.asked = OracleAnswers(tests, others)
        elif kind == "unknown":
            self.unknown = tuple(driver_protocol.expect_texts(value, 100))
        elif kind == "finish":
            self.finished = driver_protocol.expect_number(record.get("rc"), 256)
        elif not known and not self.spectrum.take(record, len(self.tests.names)):
            raise Untrusted("a record of an unknown type")

    def sealed(self, code: int) -> None:
        """Untrusted unless exit code, finish record, canaries and results say the same."""
        if self.finished != code:
            raise Untrusted(f"pytest ended with {self.finished}, its process with {code}")
        if self.tests.current is not None:
            raise Untrusted("the run finished inside a test")
        self.tests.check_canaries()
        failed = any(
            phase.outcome == RunResult.FAILED
            for at, phases in self.tests.done.items()
            if at < len(self.tests.names)
            for phase in phases
        )
        if failed and code == 0:
            raise Untrusted("a test failed, and pytest ended with 0")


def new_hearing(canaries: int, order: dict[str, Any]) -> RecordReader:
    """A hearing, its nonce and canaries put into the order; only we know which must pass."""
    rng = random.SystemRandom()
    expected = [True, False, *(rng.random() < 0.5 for _ in range(canaries - 2))][:canaries]
    rng.shuffle(expected)
    tests, nonce = driver_protocol.Tests(tuple(expected)), secrets.token_hex(16)
    order.update(nonce=nonce, canaries=tests.make_numbers())
    per_test = _CAP_PER_BITMAP if order.get("spectrum") else _CAP_PER_TEST
    return RecordReader(nonce, FIRST_CAP, per_test, tests, runs=order["mode"] == "run")


def conclude(ended: JobResult, problem: str, hearing: RecordReader) -> tuple[SuiteEnd, str]:
    """(ended, detail) of a SuiteRun."""
    if problem:
        return SuiteEnd.UNTRUSTED, problem
    if ended.how == "sandbox_error":
        raise SandboxError(f"the tests could not be run in the sandbox: {ended.detail}")
    place = hearing.tests.where()
    if ended.how == "timeout":
        return SuiteEnd.TIMEOUT, f"ended after {ended.seconds:.0f} s{place}"
    if ended.how not in {"exited", "signalled"}:
        return SuiteEnd.KILLED, f"{ended.detail or ended.how}{place}"
    if hearing.finished is None:
        how = f"exit code {ended.code}" if ended.how == "exited" else f"signal {-ended.code}"
        said = last_line(ended.output, "")
        return SuiteEnd.CRASHED, f"{how}{place}{': ' + said if said else ''}"
    said = last_line(ended.output, "")
    if hearing.finished in _STOPPED:
        why = _complaint(ended.output) or said
        return SuiteEnd.CRASHED, f"pytest stopped with code {hearing.finished}: {why}"
    if hearing.runs and (left := len(hearing.tests.names) - hearing.tests.finished()):
        return SuiteEnd.CRASHED, f"pytest ended with {left} tests not run: {said}"
    try:
        hearing.sealed(ended.code)
    except Untrusted as error:
        return SuiteEnd.UNTRUSTED, str(error)
    left_behind = f"{ended.survivors} processes were left behind" if ended.survivors else ""
    return SuiteEnd.FINISHED, left_behind


def find_unloaded(output: bytes, hearing: RecordReader, repo: str) -> tuple[tuple[str, str], ...]:
    """The conftest that pytest ended at before it collected anything, and what it said."""
    text = output.decode(errors="replace").replace(f"{repo}/", "")
    found = _CONFTEST.search(text)
    if found is None or hearing.finished != _USAGE or hearing.tests.names:
        return ()
    return ((found[1], text[found.start() :][:_SAID]),)


def _complaint(output: bytes) -> str:
    """The line in which pytest says what it will not take; usage and folders follow it."""
    lines = output.decode(errors="replace").splitlines()
    said = [line for line in lines if ": error: " in line]
    said += [line for line in lines if line.startswith("ERROR: ")]
    return one_line(said[0], 600) if said else ""
