"""Small red projects through the action as it ships: the right status, one line, nothing lost.

Each starts the action as the runner does, with every input that `action.yml` names, against a
GitHub on the loopback: `benchmarks/_harm.py`. `--only NAME` runs those whose name begins so.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks._harm import Case, judge

_SECONDS = 19 * 60


def cases() -> tuple[Case, ...]:
    """The cases of all parts, each in a module of its own."""
    here = Path(__file__).parent
    parts = sorted(path.stem for path in here.glob("_harm_*.py"))
    found = [case for part in parts for case in import_module(f"benchmarks.{part}").CASES]
    names = [case.name for case in found]
    assert len(names) == len(set(names)), "two cases have one name"
    return tuple(found)


def main(argv: list[str]) -> int:
    """Run the cases until time is up; 1 where one of them ends wrongly."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks harm")
    parser.add_argument("--json", action="store_true", help="print the last line only")
    parser.add_argument("--only", default="", help="the cases whose name begins so")
    parser.add_argument("--full", action="store_true", help="without a limit of time")
    asked = parser.parse_args(argv)
    chosen = [case for case in cases() if case.name.startswith(asked.only)]
    begin, wrong, seconds = time.monotonic(), [], {}
    for case in chosen:
        if not asked.full and time.monotonic() - begin > _SECONDS:
            break
        started = time.monotonic()
        status, why = judge(case)
        seconds[case.name] = round(time.monotonic() - started, 1)
        if why:
            wrong.append({"case": case.name, "status": status, "why": why})
        if not asked.json:
            print(f"{case.name}: {status}, {seconds[case.name]} s {why}", file=sys.stderr)
    result: dict[str, Any] = {
        "benchmark": "harm", "cases": len(seconds), "wrong": wrong, "seconds": seconds,
        "complete": len(seconds) == len(chosen),
    }  # fmt: skip
    print(json.dumps(result))
    return 1 if wrong or not result["complete"] else 0
