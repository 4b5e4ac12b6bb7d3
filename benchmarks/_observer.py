"""A pytest plugin that writes results and executions as JSON; runs in the measured suite.

`OBSERVED` names the file to write, `TRACED` asks for executions, `ONLY` names a JSON list of the
tests to run. Executions while modules are imported stand under the empty name.
"""

from __future__ import annotations

import json
import os
import resource
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from _heal_failure import describe
from _heal_spectrum import Spectrum

ROOT = os.getcwd()  # noqa: PTH109 - the suite may replace pathlib
SEEN = Spectrum(ROOT) if os.environ["TRACED"] else None
ONLY = frozenset(json.loads(Path(o).read_text())) if (o := os.environ["ONLY"]) else None
# The first "test" is the import of everything.
TESTS: list[str] = [""]
RESULTS: dict[str, tuple[str, dict[str, Any] | None]] = {}
SPAN: list[float] = []

resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
if SEEN:
    SEEN.start()
    SEEN.begin("")
    SEEN.resume()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep the wanted tests; what was imported ends here."""
    if SEEN:
        SEEN.pause()
        SEEN.end(0)
    if ONLY is not None:
        items[:] = [item for item in items if item.nodeid in ONLY]
    SPAN.append(time.perf_counter())


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Executions between the first setup and the last teardown of the test."""
    TESTS.append(item.nodeid)
    if SEEN:
        SEEN.begin(item.nodeid)
    try:
        return (yield)
    finally:
        if SEEN:
            SEEN.end(len(TESTS) - 1)


def _observed() -> Generator[None, object, object]:
    if SEEN:
        SEEN.resume()
    try:
        return (yield)
    finally:
        if SEEN:
            SEEN.pause()


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_runtest_setup() -> Generator[None, object, object]:
    """As in the sandbox, the innermost part of a phase is observed."""
    return (yield from _observed())


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_runtest_call() -> Generator[None, object, object]:
    """The same for the test itself."""
    return (yield from _observed())


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_runtest_teardown() -> Generator[None, object, object]:
    """The same for what ends its fixtures."""
    return (yield from _observed())


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """The worst phase of a test decides."""
    report = yield
    known = RESULTS.get(item.nodeid)
    if report.failed:
        assert call.excinfo is not None
        RESULTS[item.nodeid] = ("failed", describe(call.excinfo.value, ROOT))
    elif known is None and (report.when == "call" or report.skipped):
        RESULTS[item.nodeid] = (report.outcome, None)
    return report


def pytest_sessionfinish() -> None:
    """Write what was seen; `seconds` is the time all tests took together."""
    data = {
        "seconds": time.perf_counter() - SPAN[0] if SPAN else 0.0,
        "results": {test: RESULTS.get(test, ("skipped", None)) for test in TESTS if test},
        "lines": list(SEEN.index) if SEEN else [],
        "hits": {TESTS[number]: bits for number, bits in SEEN.hits} if SEEN else {},
        "gaps": {kind: tests[:3] for kind, tests in SEEN.gaps.items()} if SEEN else {},
    }
    Path(os.environ["OBSERVED"]).write_text(json.dumps(data), encoding="utf-8")
