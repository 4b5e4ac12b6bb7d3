"""Repairs our own tasks offline, with the whole of heal-bot, and judges each by hidden tests.

A task is fixed when it is called healed and the tests that heal-bot sees pass, correct when the
hidden ones pass too, wrong when they do not. What is no more than a suggestion is judged alike and
counted apart; where there is neither, heal-bot abstains.
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from benchmarks._cases import options_of
from benchmarks._healing import Healed, ours, suite_python
from benchmarks._taskfile import REPAIRS, own
from benchmarks._tasks import Task

_LONGEST = 19 * 60.0


def counted(tasks: Sequence[Task], results: Sequence[Healed]) -> dict[str, Any]:
    """The figures, also for each kind of repair."""
    kinds = {task.name: task.repair for task in tasks}
    by_repair = {
        repair.replace(" ", "_"): _counts([r for r in results if kinds[r.task] == repair])
        for repair in REPAIRS
    }
    return {
        **_counts(results),
        "median_seconds": statistics.median(r.seconds for r in results) if results else None,
        "candidates": sum(r.candidates for r in results),
        "by_repair": by_repair,
        "wrong_tasks": [r.task for r in results if r.fixed and not r.correct and not r.suggested],
    }


def _counts(results: Sequence[Healed]) -> dict[str, int]:
    healed = [r for r in results if not r.suggested]
    suggested = [r for r in results if r.suggested and r.fixed]
    return {
        "tasks": len(results),
        "fixed": sum(r.fixed for r in healed),
        "correct": sum(r.correct for r in healed),
        "wrong": sum(r.fixed and not r.correct for r in healed),
        "suggestion": len(suggested),
        "suggestion_correct": sum(r.correct for r in suggested),
        "abstained": sum(not r.fixed for r in results),
    }


def main(argv: list[str]) -> int:
    """Run the benchmark; the last line is one JSON object."""
    options = options_of("rules", __doc__).parse_args(argv)
    names = set(options.only.split(",")) if options.only else set()
    tasks = [task for task in own() if not names or task.name in names]
    python, began = suite_python(), time.monotonic()
    results: list[Healed] = []
    for task in tasks:
        if not options.full and time.monotonic() - began > _LONGEST:
            break
        results.append(ours(task, python))
        line = json.dumps(asdict(results[-1]))
        if options.out:
            with options.out.open("a", encoding="utf-8") as file:
                file.write(line + "\n")
        if not options.json:
            print(line, flush=True)
    summary = counted(tasks, results)
    summary["seconds"] = round(time.monotonic() - began, 1)
    summary["complete"] = len(results) == len(tasks) and not names
    print(json.dumps(summary))
    return 0
