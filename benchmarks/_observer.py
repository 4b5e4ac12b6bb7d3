"""A pytest plugin that writes results and executions as JSON; runs in the measured suite."""

from __future__ import annotations

import json
import os
from collections.abc import Generator
from pathlib import Path

import pytest
from _heal_failure import describe
from _heal_spectrum import Spectrum

ROOT = os.getcwd()  # noqa: PTH109 - the suite may replace pathlib
SEEN = Spectrum(ROOT) if os.environ["TRACED"] else None
TESTS: list[str] = []
RESULTS: dict[str, tuple[str, dict | None]] = {}

if SEEN:
    SEEN.start()


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


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """The worst phase of a test decides."""
    report = yield
    known = RESULTS.get(item.nodeid)
    if report.failed:
        RESULTS[item.nodeid] = ("failed", describe(call.excinfo.value, ROOT))
    elif known is None and (report.when == "call" or report.skipped):
        RESULTS[item.nodeid] = (report.outcome, None)
    return report


def pytest_sessionfinish() -> None:
    """Write what was seen."""
    data = {
        "results": [(test, *RESULTS.get(test, ("skipped", None))) for test in TESTS],
        "lines": list(SEEN.index) if SEEN else [],
        "hits": [(TESTS[number], bits) for number, bits in SEEN.hits] if SEEN else [],
    }
    Path(os.environ["OBSERVED"]).write_text(json.dumps(data), encoding="utf-8")
