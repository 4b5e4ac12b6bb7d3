"""Proves our own tasks: red, repaired by the reference, and not by what only looks like a repair.

Run as a program it prints what is wrong with them as one JSON list.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from benchmarks._plain import failures
from benchmarks._taskfile import own
from benchmarks._tasks import Task


def problems(task: Task) -> Iterator[str]:
    """What is wrong with a task, in sentences."""
    red = failures(task.name, task.module, task.search)
    if not red:
        yield f"{task.name}: no search test fails"
    if not failures(task.name, task.module, task.hidden):
        yield f"{task.name}: no hidden test fails"
    for part, tests in (("search", task.search), ("hidden", task.hidden)):
        for test, message in failures(task.name, task.reference, tests).items():
            yield f"{task.name}: the reference fails {part} {test}: {message}"
    if len(task.wrong) < 2:
        yield f"{task.name}: fewer than two wrong repairs"
    for wrong in task.wrong:
        for test, message in failures(task.name, wrong.source, task.search).items():
            yield f"{task.name}: {wrong.why!r} fails {test}: {message}"
        if not failures(task.name, wrong.source, task.hidden):
            yield f"{task.name}: {wrong.why!r} passes all hidden tests"


if __name__ == "__main__":
    print(json.dumps([problem for task in own() for problem in problems(task)]))
