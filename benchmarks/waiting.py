"""What people wait for and look at: help, plugin, a report, the smallest heal, the terminal.

Each pair of programs runs by turns, and the run of each that took the least processor time counts,
so that other work on the machine weighs on neither. The bytecode is compiled first, as an
installation does. pytest runs with our plugin or with none at all: what loading the others takes
varies by more than what ours adds. A heal and a plain run of its tests go by the clock, the least
of each: on idle cores alone. The report is that of 500 failing tests and 50 attempts, each with
2,000 characters of message. The lines of a pull request are those before its folds, at most, of
recorded outcomes with up to three causes and all that can be said beside them.
"""

from __future__ import annotations

import compileall
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks._cases import options_of
from benchmarks._timed import heal_tiny, show_runs, spent
from heal_bot.core.outcome import OutcomeRecord
from heal_bot.report.html import render_page
from heal_bot.report.pull_request_body import pull_request
from tests.github_server import records
from tests.report.recorded import measure_recorded

_ROOT = Path(__file__).parent.parent
_SDKS = ("anthropic", "google.genai", "openai", "github", "httpx", "genai_prices")
_FAILURES, _ATTEMPTS, _TEXT = 500, 50, "<x & y>\n" * 250


def least(programs: Sequence[Sequence[str]], turns: int, cwd: Path) -> list[float]:
    """Milliseconds of processor time that each program takes at least, run by turns."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("PYTEST", "PYTHON"))}
    env["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    best = [float("inf")] * len(programs)
    for _ in range(turns):
        for number, argv in enumerate(programs):
            before = spent()
            subprocess.run(argv, cwd=cwd, env=env, capture_output=True, check=False, timeout=60)
            best[number] = min(best[number], 1000 * (spent() - before))
    return best


def commands(turns: int, folder: Path) -> dict[str, Any]:
    """The help beside an empty Python, and pytest with and without the plugin."""
    python = [sys.executable, "-I"]
    nothing, usage = least(
        ([*python, "-c", "pass"], [*python, "-m", "heal_bot", "--help"]), turns, folder
    )
    (folder / "test_one.py").write_text("def test_one():\n    pass\n")
    pytest = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_one.py"]
    without, used = least((pytest, [*pytest, "-p", "heal_bot.pytest_plugin.plugin"]), turns, folder)
    return {
        "python_ms": round(nothing, 1),
        "help_ms": round(usage, 1),
        "help_ratio": round(usage / nothing, 2),
        "pytest_ms": round(without, 1),
        "plugin_ms": round(used - without, 1),
    }


def large() -> OutcomeRecord:
    """An outcome of many failures and attempts whose texts are long and full of markup."""
    data = records.data("1" * 40)
    failure, attempt = data["failures"][0], data["attempts"][0]
    tests = [f"tests/test_something_{n}.py::TestLong::test_{n}" for n in range(_FAILURES)]
    data["failures"] = [
        {**failure, "test": test, "message": _TEXT, "reason": _TEXT} for test in tests
    ]
    data["attempts"] = [
        {**attempt, "number": n, "diff": "+" + _TEXT, "still_failing": tests, "rationale": _TEXT}
        for n in range(1, _ATTEMPTS + 1)
    ]
    return records.record(data)


def report(turns: int) -> dict[str, Any]:
    """The page and the text of the pull request for many failures."""
    record, seconds = large(), float("inf")
    shown = body = ""
    for _ in range(turns):
        began = time.process_time()
        shown, (_, body) = render_page(record), pull_request(record)
        seconds = min(seconds, time.process_time() - began)
    return {
        "failures": _FAILURES,
        "report_seconds": round(seconds, 3),
        "report_mb": round(len(shown.encode()) / 1e6, 2),
        "pull_request_kb": round(len(body.encode()) / 1e3, 1),
        "pull_request_lines": max(measure_recorded()),
    }


def loaded() -> list[str]:
    """The SDKs that are in memory once the program's own modules are."""
    code = "import heal_bot.api, heal_bot.wiring, json, sys; print(json.dumps([*sys.modules]))"
    done = subprocess.run(
        [sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    return sorted(set(json.loads(done.stdout)) & set(_SDKS))


def main(argv: list[str]) -> int:
    """Measure all of it; the last line is one JSON object."""
    options = options_of("waiting", __doc__).parse_args(argv)
    turns = 60 if options.full else 15
    with contextlib.redirect_stdout(sys.stderr):
        compileall.compile_dir(_ROOT / "heal_bot", quiet=1)
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="waiting-") as name:
        found = {
            **commands(turns, Path(name)), **report(turns), "sdks": loaded(),
            **heal_tiny(turns // 5, Path(name)), "display": show_runs(),
        }  # fmt: skip
    if not options.json:
        for key, value in found.items():
            print(f"{key}: {value}")
    print(json.dumps({**found, "seconds": round(time.monotonic() - began, 1), "complete": True}))
    return 0
