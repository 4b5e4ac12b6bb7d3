"""What a fork server is asked about one candidate, and how its answer is heard."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from heal_bot.core.model import Calls, CaseResult
from heal_bot.testrun import driver_protocol
from heal_bot.testrun.call_traces import CallRecords
from heal_bot.testrun.code_origin import Origins
from heal_bot.testrun.driver_protocol import Untrusted

# What one candidate may take for all of its calls.
CALL_SECONDS = 4.0
# What may come of a candidate of a prefilter.
_CAME = frozenset({"failed", "late", "open"})


@dataclass(frozen=True, slots=True)
class JudgeRequest:
    """What one fork shall do.

    `first` are tried, `rest` and `guards` only when one of those passes (or with `all_tests`).
    `files` (path to text) makes it a fresh collection, else `edits` are swapped in. `limit` is
    for `first`, `longer` for what follows; seconds. With `candidates` (edits, the first of which
    passes) nothing is judged: each is called on the arguments of the tests' calls, `width` of
    them at a time. With `prefilter` the tests are called plainly after each of the candidates,
    `limit` is for all of them and `prefilter` for one; `known` is where the first tests fail:
    exception, path, line.
    """

    first: tuple[str, ...]
    rest: tuple[str, ...] = ()
    guards: tuple[str, ...] = ()
    edits: tuple[dict[str, Any], ...] = ()
    files: Mapping[str, str] | None = None
    limit: float = 1.0
    longer: float = 10.0
    all_tests: bool = False
    candidates: tuple[tuple[dict[str, Any], ...], ...] = ()
    seed: int = 0
    width: int = 1
    prefilter: float = 0.0
    known: Mapping[str, tuple[str, str, int]] = field(default_factory=dict)

    def wire(self, nonce: str, canaries: Sequence[Sequence[int]]) -> dict[str, Any]:
        """The order as the fork server reads it."""
        kind = "swap" if self.files is None else "fresh"
        if self.candidates:
            kind = "prefilter" if self.prefilter else "calls"
        told = {name: getattr(self, name) for name in self.__slots__}
        own = {"nonce": nonce, "kind": kind, "canaries": canaries}
        return {**told, **own, "each": self.prefilter or CALL_SECONDS}


@dataclass(frozen=True, slots=True)
class JudgeResponse:
    """What came of an order.

    how: judged | unsound | rejected | timeout | crashed | untrusted | lost; `results` are those
    that were complete, by node id; `errors` are collection errors of a fresh collection.
    """

    how: str
    detail: str = ""
    results: Mapping[str, CaseResult] = field(default_factory=dict)
    errors: Mapping[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    calls: Calls = field(default_factory=Calls)
    prefiltered: tuple[str, ...] = ()


@dataclass(slots=True)
class OrderHearing:
    """An order under way and what was said of it."""

    order: JudgeRequest
    nonce: str
    tests: driver_protocol.Tests
    latest: float = 0.0
    errors: dict[str, str] = field(default_factory=dict)
    said: str = ""
    detail: str = ""
    garbled: str = ""
    calls: CallRecords = field(default_factory=CallRecords)
    prefiltered: tuple[str, ...] = ()

    def take(self, record: Mapping[str, Any]) -> None:
        kind, value = record["t"], record.get("v")
        if self.tests.take(record):
            return
        if kind in {"judged", "unsound", "rejected"} and not self.said:
            self.said, self.detail = kind, driver_protocol.expect_text(record.get("m", ""), 400)
        elif kind in {"calls", "observed"}:
            self.calls.take(record, 1 + len(self.order.candidates))
        elif kind == "sieved":
            self._prefilter(driver_protocol.expect_texts(value, 10))
        elif kind == "errors":
            rows = driver_protocol.expect_rows(value)
            self.errors.update(map(driver_protocol.expect_pair, rows))
        elif kind == "missing":
            lost = driver_protocol.expect_texts(value)
            self.errors.update((name, "not collected any more") for name in lost)
        elif kind not in {"stopped", "unsteady"}:
            raise Untrusted("a record of an unknown type")

    def _prefilter(self, told: list[str]) -> None:
        """What came of each candidate of a batch, told once."""
        wrong = len(told) != len(self.order.candidates) or not _CAME.issuperset(told)
        if self.prefiltered or wrong:
            raise Untrusted("not what a prefilter tells")
        self.prefiltered = tuple(told)

    def answer(self, record: Mapping[str, Any]) -> JudgeResponse:
        """The answer once the fork server says that the child is gone."""
        seconds = record.get("s")
        took = float(seconds) if isinstance(seconds, (int, float)) else 0.0
        results = {r.test: r for r in self.tests.results(Origins(self.tests.names))}
        how, detail = self.said, self.detail
        if record.get("how") == "timeout":
            how, detail = "timeout", f"ended after {took:.2f} s{self.tests.where()}"
        elif self.garbled:
            how, detail = "untrusted", self.garbled
        elif record.get("st") != 0 or not how:
            how, detail = "crashed", f"the test process ended early{self.tests.where()}"
        elif how == "judged" and any(at >= len(self.tests.names) for at in self.tests.done):
            try:
                self.tests.check_canaries()
            except Untrusted as error:
                how, detail = "untrusted", str(error)
        found = self.calls.calls(1 + len(self.order.candidates))
        return JudgeResponse(how, detail, results, self.errors, took, found, self.prefiltered)
