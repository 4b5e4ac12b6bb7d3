"""Runs plain test functions against a module in this process, for checks and for judges.

Knows parametrised functions, but no fixtures: pytest costs half a second, a task has fifty runs.
"""

from __future__ import annotations

import signal
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

from benchmarks._taskfile import PACKAGE, read

_SECONDS = 3.0

Case = tuple[str, Callable[[], object]]


class TookTooLongError(BaseException):
    """Ends a test from a signal; no handler of the code under test should catch it."""


def cases(namespace: dict[str, Any]) -> Iterator[Case]:
    """The test functions of a namespace, one per set of arguments."""
    for name, function in list(namespace.items()):
        if not name.startswith("test_") or not callable(function):
            continue
        marks = [m for m in getattr(function, "pytestmark", ()) if m.name == "parametrize"]
        if not marks:
            yield name, function
            continue
        (mark,) = marks
        names, rows = mark.args
        single = isinstance(names, str) and "," not in names
        for number, row in enumerate(rows):
            yield f"{name}[{number}]", _called(function, (row,) if single else tuple(row))


def _called(function: Callable[..., object], row: tuple[Any, ...]) -> Callable[[], object]:
    return lambda: function(*row)


@contextmanager
def loaded(name: str, source: str) -> Iterator[ModuleType]:
    """The source as module `tool.NAME` for as long as the context lasts."""
    full = f"{PACKAGE}.{name}"
    package, module = ModuleType(PACKAGE), ModuleType(full)
    package.__path__ = []
    sys.modules[PACKAGE], sys.modules[full] = package, module
    setattr(package, name, module)
    try:
        exec(compile(source, f"{name}.py", "exec"), module.__dict__)
        yield module
    finally:
        del sys.modules[PACKAGE], sys.modules[full]


def failures(name: str, source: str, tests: str) -> dict[str, str]:
    """What failed, by test: the tests of `tests` run against the source of module `tool.NAME`."""
    found: dict[str, str] = {}
    # A coroutine that nobody awaits is what some of the tasks are about.
    with loaded(name, source), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        namespace: dict[str, Any] = {"__name__": f"test_{name}"}
        exec(compile(tests, f"test_{name}.py", "exec"), namespace)
        for case, call in cases(namespace):
            if message := run(call):
                found[case] = message
    return found


def run(call: Callable[[], object], seconds: float = _SECONDS) -> str:
    """Why a test failed; '' when it passed."""
    before = signal.signal(signal.SIGALRM, _ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        call()
    except (Exception, SystemExit, TookTooLongError) as error:  # noqa: BLE001 - any failure is one
        return f"{type(error).__name__}: {error}"
    except BaseException as error:  # pytest.fail and pytest.raises end with one of these
        if type(error).__name__ != "Failed":
            raise
        return f"Failed: {error}"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    return ""


def _ring(number: int, frame: FrameType | None) -> None:
    raise TookTooLongError("the test took too long")


def main(task: str, patched: str, *parts: str) -> int:
    """Judge a patched module by the hidden tests of a task file: 0 when all of them pass.

    With `search` and `hidden` as parts, the bits of the result say which of them failed.
    """
    known, source = read(Path(task)), Path(patched).read_text(encoding="utf-8")
    tests = {"hidden": known.hidden, "search": known.search}
    asked = parts or ("hidden",)
    return sum(
        bool(failures(known.name, source, tests[part])) << bit for bit, part in enumerate(asked)
    )


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
