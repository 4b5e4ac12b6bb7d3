"""self-heal-llm on one task, in its own environment: reads a job as JSON, writes what came of it.

`python -m benchmarks._peers_worker JOB RESULT`. Nothing of heal-bot is imported here. The library
is called as its users would call it, with all that it needs given by hand: the function, arguments
for the call it begins with, and each test as a callable. The command line gets the same answers.
"""

from __future__ import annotations

import copy
import importlib
import inspect
import json
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from benchmarks._plain import cases, run

Function = Callable[..., Any]
# The arguments are used for each call of the loop, so that they must stand several.
_CALLS = 3


class Scripted:
    """A proposer that gives these answers in order, the last one again and again."""

    def __init__(self, answers: list[str]) -> None:
        self.answers = answers
        self.prompts: list[str] = []

    def propose(self, system: str, user: str) -> str:
        """The next answer."""
        self.prompts.append(user)
        return self.answers[min(len(self.prompts), len(self.answers)) - 1]


class Place:
    """Where the function lives: in its module or class, and in the names that tests imported."""

    def __init__(self, module: ModuleType, qualname: str, namespace: dict[str, Any]) -> None:
        owner, _, self.name = qualname.rpartition(".")
        self.owner: Any = getattr(module, owner) if owner else module
        self.namespace = namespace
        self.original: Function = self.owner.__dict__[self.name]

    @contextmanager
    def holding(self, function: Function) -> Iterator[None]:
        """Another function in its place for as long as the context lasts."""
        names = [name for name, value in self.namespace.items() if value is self.original]
        self._put(function, names)
        try:
            yield
        finally:
            self._put(self.original, names)

    def _put(self, function: Function, names: list[str]) -> None:
        setattr(self.owner, self.name, function)
        self.namespace.update(dict.fromkeys(names, function))


def recorded(place: Place, calls: list[Function]) -> list[tuple[tuple[Any, ...], dict[str, Any]]]:
    """The arguments of the function in the tests, as they were when it was called."""
    found = []

    def spy(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - whatever the tests give
        found.append(copy.deepcopy((args, kwargs)))
        return place.original(*args, **kwargs)

    with place.holding(spy):
        for call in calls:
            run(call)
    return found


def stands(function: Function, given: tuple[tuple[Any, ...], dict[str, Any]]) -> bool:
    """Whether a function can be called with the same arguments again and again."""
    args, kwargs = copy.deepcopy(given)
    try:
        for _ in range(_CALLS):
            value = function(*args, **kwargs)
            if inspect.iscoroutine(value):
                value.close()
    except Exception:  # noqa: BLE001 - any failure says no
        return False
    return True


def library(job: dict[str, Any], proposer: Scripted) -> dict[str, Any]:
    """`RepairLoop.run` with its default of three calls."""
    from self_heal import RepairLoop, SafetyConfig

    sys.path.insert(0, job["repo"])
    module = importlib.import_module(f"tool.{job['name']}")
    tests: dict[str, Any] = {"__name__": "search"}
    exec(job["search"], tests)
    place = Place(module, job["target"], tests)
    calls = [call for _, call in cases(tests)]
    right: dict[str, Any] = {"__name__": "reference"}
    exec(job["reference"], right)
    owner, _, name = job["target"].rpartition(".")
    wanted = right[owner].__dict__[name] if owner else right[name]
    known = recorded(place, calls)
    args, kwargs = next((one for one in known if stands(wanted, one)), known[0])

    def checked(call: Function) -> Function:
        def test(function: Function) -> None:
            with place.holding(function):
                # pytest.raises ends with what no `except Exception` sees.
                if message := run(call):
                    raise AssertionError(message)

        return test

    safety = {
        "off": None,
        "moderate": SafetyConfig(level="moderate"),
        "strict": SafetyConfig(level="strict"),
        "subprocess": SafetyConfig(level="moderate", sandbox="subprocess"),
    }[job["safety"]]
    given = None if job["answers"] is None else proposer
    loop = RepairLoop(proposer=given, safety=safety)
    result = loop.run(place.original, args, kwargs, tests=[checked(call) for call in calls])
    sources = [attempt.proposed_source for attempt in result.attempts if attempt.proposed_source]
    last = result.attempts[-1].failure.message if result.attempts else ""
    return {
        "succeeded": result.succeeded,
        "source": sources[-1] if result.succeeded and sources else "",
        "problem": "" if result.succeeded else last,
    }


def command_line(job: dict[str, Any], proposer: Scripted) -> dict[str, Any]:
    """`self-heal heal FILE::FUNCTION --test ... --apply` on a flat project, as its README shows."""
    from self_heal import cli

    name, folder = job["name"], Path(job["repo"])
    module, tests = folder / f"{name}.py", folder / f"test_{name}.py"
    module.write_text((folder / "tool" / f"{name}.py").read_text())
    tests.write_text(job["search"].replace(f"from tool.{name} import", f"from {name} import"))
    sys.path.insert(0, str(folder))
    lines = [line for line in job["search"].splitlines() if line.startswith("def test_")]
    argv = ["heal", f"{module}::{job['target']}", "--apply"]
    for line in lines:
        argv += ["--test", f"{tests}::{line[4 : line.index('(')]}"]
    setattr(cli, "_make_proposer", lambda kind, model: proposer)  # noqa: B010 - mypy knows no cli
    code = cli.main(argv)
    return {"succeeded": code == 0, "module": module.read_text(), "problem": f"exit code {code}"}


def main(job_file: str, result_file: str) -> int:
    """Do the job; the result file is written also when the proposal ended badly."""
    warnings.simplefilter("ignore")
    job = json.loads(Path(job_file).read_text())
    proposer = Scripted(job["answers"] or [])
    way = {"library": library, "command line": command_line}[job["way"]]
    # What an import costs is measured apart.
    importlib.import_module("self_heal")
    began = time.monotonic()
    try:
        done = way(job, proposer)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - what ends it is the result
        done = {"succeeded": False, "problem": f"{type(error).__name__}: {error}"}
    seconds = round(time.monotonic() - began, 3)
    done |= {"calls": len(proposer.prompts), "prompts": proposer.prompts, "seconds": seconds}
    Path(result_file).write_text(json.dumps(done))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
