"""A pytest plugin and a replayer of recorded calls; runs in the measured project's environment.

As a plugin it writes the calls of the functions that `STREET_WANTED` names (JSON: path to names),
and the calls from tests that reach one of them, pickled, to `STREET_CALLS`. As a program it
repeats such calls, with arguments as they were and varied, and prints a mark of each answer.
It stands alone: standard library, Python 3.9 and newer.
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
import io
import itertools
import json
import os
import pickle
import random
import signal
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import FrameType
from typing import Any

_MOST = 300
_EACH = 40
_VARIED = 3
_DEEP = 5


class Recorder:
    """The calls of a run, by what the profiler of the interpreter tells."""

    def __init__(self, wanted: Mapping[str, list[str]], root: str) -> None:
        self.wanted = {str(Path(root, path)): set(names) for path, names in wanted.items()}
        self.root = root
        self.calls: list[dict[str, str]] = []
        self.counts: dict[tuple[str, str, str], int] = {}
        # Calls from tests that have not ended: frame, call, whether it reached what is wanted.
        self.open: list[list[Any]] = []

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            self.begin(frame)
        elif event == "return" and self.open and self.open[-1][0] is frame:
            _, call, reached = self.open.pop()
            if reached and call is not None:
                self.calls.append(call)

    def begin(self, frame: FrameType) -> None:
        """Note a call that is wanted, or that a test makes."""
        code = frame.f_code
        file = code.co_filename
        if not file.startswith(self.root) or code.co_name.startswith("<"):
            return
        names = self.wanted.get(file)
        if names is not None and _name(frame) in names:
            for entry in self.open:
                entry[2] = True
            if call := self.take(frame, "inner"):
                self.calls.append(call)
        elif not self.open and _is_called_by_test(frame):
            self.open.append([frame, self.take(frame, "entry"), False])

    def take(self, frame: FrameType, how: str) -> dict[str, str] | None:
        """A call with its arguments pickled; None where that cannot be, or enough are kept."""
        name = _name(frame)
        key = (frame.f_code.co_filename, name, how)
        if len(self.calls) >= _MOST or self.counts.get(key, 0) >= _EACH or "<locals>" in name:
            return None
        sys.setprofile(None)
        try:
            info = inspect.getargvalues(frame)
            values = [info.locals[n] for n in info.args if n in info.locals]
            more = list(info.locals.get(info.varargs, ())) if info.varargs else []
            code = frame.f_code
            only = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
            named = {n: info.locals[n] for n in only if n in info.locals}
            if info.keywords:
                named.update(info.locals.get(info.keywords, {}))
            data = pickle.dumps((values + more, named))
        except Exception:  # noqa: BLE001 (arguments of any project refuse in any way)
            return None
        finally:
            sys.setprofile(self)
        if len(data) > 200_000:
            return None
        self.counts[key] = self.counts.get(key, 0) + 1
        module = frame.f_globals.get("__name__", "")
        return {"how": how, "module": module, "name": name, "data": data.hex()}


def _name(frame: FrameType) -> str:
    code = frame.f_code
    if hasattr(code, "co_qualname"):
        return str(code.co_qualname)
    owner = frame.f_locals.get("self")
    return f"{type(owner).__name__}.{code.co_name}" if owner is not None else code.co_name


def _is_called_by_test(frame: FrameType) -> bool:
    """Whether a test calls what is no test."""
    caller = frame.f_back
    if caller is None or _is_test(frame.f_code.co_filename):
        return False
    return _is_test(caller.f_code.co_filename)


def _is_test(path: str) -> bool:
    name, parts = Path(path).name, Path(path).parts
    return (
        name.startswith("test") or name.endswith("_test.py") or bool({"tests", "test"} & {*parts})
    )


def pytest_runtest_call() -> None:
    """Watch what the test itself calls."""
    if RECORDER is not None:
        sys.setprofile(RECORDER)


def pytest_runtest_teardown() -> None:
    """What ends the test is not watched."""
    if RECORDER is not None:
        sys.setprofile(None)
        RECORDER.open.clear()


def pytest_sessionfinish() -> None:
    """Write what was seen."""
    if RECORDER is not None:
        Path(os.environ["STREET_CALLS"]).write_text(json.dumps(RECORDER.calls))


def _find(module: str, name: str) -> Callable[..., Any]:
    """A function by its module and qualified name, below decorators that keep it."""
    found: Any = importlib.import_module(module)
    for part in name.split("."):
        found = inspect.getattr_static(found, part)
        if isinstance(found, (staticmethod, classmethod)):
            found = found.__func__
        elif isinstance(found, property):
            found = found.fget
    unwrapped: Callable[..., Any] = inspect.unwrap(found)
    return unwrapped


def _varied(value: Any, rng: random.Random) -> Any:  # noqa: ANN401
    """Another value of the same kind."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return rng.choice((0, 1, -1, value + 1, value - 1, -value, value * 2))
    if isinstance(value, float):
        return rng.choice((0.0, -value, value * 2, value + 0.5))
    if isinstance(value, str):
        ways = ("", value[:-1], value[1:], value + " ", value.upper(), value[::-1], value * 2, "x")
        return rng.choice(ways)
    if isinstance(value, bytes):
        return rng.choice((b"", value[:-1], value[1:], value + b"x", value[::-1]))
    if isinstance(value, (list, tuple)):
        items = list(value)
        shapes = [items[:-1], items[::-1], items + items[:1], []]
        if items:
            at = rng.randrange(len(items))
            shapes.append([*items[:at], _varied(items[at], rng), *items[at + 1 :]])
        return type(value)(rng.choice(shapes)) if type(value) in (list, tuple) else value
    if type(value) is dict and value:
        key = rng.choice(list(value))
        changed = dict(value)
        if rng.random() < 0.5:
            del changed[key]
        else:
            changed[key] = _varied(value[key], rng)
        return changed
    return value


def _mark(value: Any, depth: int = 0) -> str:  # noqa: ANN401
    """A text that is the same for the same value in another process."""
    if isinstance(value, (int, float, complex, str, bytes, bool, type(None))):
        return f"{type(value).__name__}:{value!r}"[:2_000]
    if depth > _DEEP:
        return type(value).__name__
    if isinstance(value, (list, tuple)):
        inner = ",".join(_mark(v, depth + 1) for v in value[:200])
        return f"{type(value).__name__}[{inner}]"
    if isinstance(value, (set, frozenset)):
        return f"{type(value).__name__}{{{','.join(sorted(_mark(v, depth + 1) for v in value))}}}"
    if isinstance(value, dict):
        inner = ",".join(f"{_mark(k, depth + 1)}={_mark(v, depth + 1)}" for k, v in value.items())
        return f"{type(value).__name__}({inner})"
    if inspect.isgenerator(value) or hasattr(value, "__next__"):
        return f"iter{_mark(list(itertools.islice(value, 100)), depth + 1)}"
    if isinstance(value, BaseException):
        return f"{type(value).__name__}({_mark(value.args, depth + 1)})"
    state = getattr(value, "__dict__", None)
    if isinstance(state, dict):
        return f"{type(value).__name__}{_mark(dict(sorted(state.items(), key=str)), depth + 1)}"
    return type(value).__name__


def _answer(
    function: Callable[..., Any], data: tuple[list[Any], dict[str, Any]]
) -> tuple[str, str]:
    """How a call ends: the mark of its value and of what it did to its arguments."""
    args, named = data
    try:
        value = function(*args, **named)
        if inspect.iscoroutine(value):
            import asyncio

            value = asyncio.run(value)
        return "value", _mark([value, args, named])
    except (KeyboardInterrupt, MemoryError):
        raise
    except BaseException as error:  # noqa: BLE001 (the answer is what it raises)
        return "raises", type(error).__name__


def _repeated(call: Mapping[str, str], number: int, varied: int) -> tuple[str, str]:
    """One recorded call once more; the error of the replay itself is 'skipped'."""
    try:
        function = _find(call["module"], call["name"])
        args, named = pickle.loads(bytes.fromhex(call["data"]))
        if varied:
            rng = random.Random(1_000 * number + varied)
            own = 1 if "." in call["name"] and len(args) > 1 else 0
            places: list[tuple[str, Any]] = [("a", n) for n in range(own, len(args))] + [
                ("n", key) for key in named
            ]
            if not places:
                return "skipped", ""
            kind, at = rng.choice(places)
            holder: Any = args if kind == "a" else named
            changed = _varied(holder[at], rng)
            if changed is holder[at]:
                return "skipped", ""
            holder[at] = changed
    except Exception as error:  # noqa: BLE001 (as above)
        return "skipped", repr(error)[:200]
    signal.setitimer(signal.ITIMER_REAL, 2)
    try:
        return _answer(function, (args, named))
    except (MemoryError, TimeoutError):
        return "skipped", "time"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _late(*_: object) -> None:
    raise TimeoutError


def main() -> None:
    """Repeat the calls of a file; one JSON list of [how, mark] on standard output."""
    calls = json.loads(Path(sys.argv[1]).read_text())
    sys.path.insert(0, str(Path.cwd()))
    signal.signal(signal.SIGALRM, _late)
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        rows = [
            _repeated(call, number, varied)
            for number, call in enumerate(calls)
            for varied in range(_VARIED + 1)
        ]
    with os.fdopen(1, "w") as file:
        file.write(json.dumps(rows))
    os._exit(0)


RECORDER: Recorder | None = None
if __name__ == "__main__":
    main()
elif "STREET_WANTED" in os.environ:
    RECORDER = Recorder(json.loads(os.environ["STREET_WANTED"]), str(Path.cwd()))
