"""A decorator for production code: an exception becomes a failing pytest test and a JUnit entry.

It runs in the user's process, so it imports the standard library alone and never raises an error
of its own. Off unless a folder is given:

    @capture(into="captured")
    def price(text): ...

Only arguments of exact built-in types that survive `ast.literal_eval` are written, because the
`__repr__` of any other object is code of its own choosing.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import hashlib
import inspect
import os
import re
import tempfile
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import ParamSpec, TypeVar
from xml.sax.saxutils import escape, quoteattr

P = ParamSpec("P")
R = TypeVar("R")

_PLAIN = (int, float, complex, bool, str, bytes, type(None))
_BOXES = (list, tuple, set, dict)
_MAX_LITERAL = 20_000
_MAX_DEPTH = 20
_MAX_FILES = 100
_XML_ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_SECRET = re.compile(
    r"(?i)pass(word|wd)?|secret|token|api_?key|credential|authorization|cookie|session"
)


def capture(
    *, into: str | os.PathLike[str] | None = None
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Write what makes the function raise as a test into the folder `into`; None: do nothing.

    At most one test per place and type of exception, at most 100 in all. Arguments whose name
    looks like a credential are written as '***', and the test says so. Exceptions pass on as
    they are. Arguments are written as they were when the exception left. Methods, coroutines and
    generators are left alone: an instance is no literal, and the others run after the call.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        later = inspect.iscoroutinefunction(function), inspect.isgeneratorfunction(function)
        plain = inspect.isfunction(function)
        if into is None or not plain or any(later):
            return function

        @functools.wraps(function)
        def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
            with _Watch(Path(into), function, args, kwargs):
                return function(*args, **kwargs)

        return wrapper

    return decorate


@dataclass
class _Watch:
    """Writes the exception that leaves its block, which passes on as it is."""

    folder: Path
    function: Callable[..., object]
    args: tuple[object, ...]
    kwargs: dict[str, object]

    def __enter__(self) -> None:
        return

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, Exception):
            with contextlib.suppress(OSError, ValueError, RecursionError, TypeError):
                _write(self.folder, self.function, self.args, self.kwargs, error)


def literal(value: object, depth: int = 0) -> str | None:
    """The value as Python source; None when it is not built of exact plain types alone."""
    if depth > _MAX_DEPTH:
        return None
    if type(value) in _PLAIN:
        text = repr(value)
    elif type(value) in _BOXES:
        text = _box(value, depth) or ""
    else:
        return None
    if not text or len(text) > _MAX_LITERAL:
        return None
    try:
        ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    return text


def _box(value: object, depth: int) -> str | None:
    """A list, tuple, set or dict of literals."""
    if isinstance(value, dict):
        pairs = [(literal(k, depth + 1), literal(v, depth + 1)) for k, v in value.items()]
        if any(k is None or v is None for k, v in pairs):
            return None
        return "{" + ", ".join(f"{k}: {v}" for k, v in pairs) + "}"
    assert isinstance(value, list | tuple | set)
    parts = [literal(part, depth + 1) for part in value]
    if any(part is None for part in parts) or (type(value) is set and not parts):
        return None
    body = ", ".join(part for part in parts if part is not None)
    if type(value) is tuple:
        return f"({body},)" if len(parts) == 1 else f"({body})"
    return f"[{body}]" if type(value) is list else f"{{{body}}}"


def _write(
    folder: Path,
    function: Callable[..., object],
    args: tuple[object, ...],
    kwargs: dict[str, object],
    error: Exception,
) -> None:
    """The test and its JUnit entry, written beside and renamed; nothing when it exists."""
    if "." in function.__qualname__:
        return
    bound = inspect.signature(function).bind(*args, **kwargs)
    written = _arguments(bound)
    if written is None:
        return
    call, hidden = written
    frames = traceback.extract_tb(error.__traceback__)
    place = f"{frames[-1].filename}:{frames[-1].lineno}:{type(error).__name__}"
    digest = hashlib.sha256(f"{function.__module__}.{function.__qualname__}:{place}".encode())
    name = f"test_captured_{function.__name__}_{digest.hexdigest()[:10]}"
    folder.mkdir(parents=True, exist_ok=True)
    if len(list(folder.glob("test_captured_*.py"))) >= _MAX_FILES:
        return
    target = folder / f"{name}.py"
    if target.exists():
        return
    _replace(target, _test(function, name, call, error, hidden))
    _replace(folder / f"{name}.xml", _report(folder, name, error))


def _arguments(bound: inspect.BoundArguments) -> tuple[str, bool] | None:
    """The call's arguments as source, and whether one was hidden; None when one is no literal."""
    parts, hidden = [], False
    for name, value in bound.arguments.items():
        kind = bound.signature.parameters[name].kind
        secret = bool(_SECRET.search(name))
        hidden = hidden or secret
        text = literal("***" if secret else value)
        if text is None:
            return None
        if kind is inspect.Parameter.VAR_POSITIONAL:
            parts.append(f"*{text}")
        elif kind is inspect.Parameter.VAR_KEYWORD:
            parts.append(f"**{text}")
        elif kind is inspect.Parameter.KEYWORD_ONLY:
            parts.append(f"{name}={text}")
        else:
            parts.append(text)
    return ", ".join(parts), hidden


def _test(
    function: Callable[..., object], name: str, call: str, error: Exception, hidden: bool
) -> str:
    """The text of the test: it fails as long as the call raises."""
    kind = type(error).__name__ if type(error).__name__.isidentifier() else "Exception"
    note = "    # an argument was hidden: its name looks like a credential\n" if hidden else ""
    return (
        f'"""Captured: {function.__name__} raised {kind}."""\n\n'
        f"from {function.__module__} import {function.__name__}\n\n\n"
        f"def {name}():\n{note}    {function.__name__}({call})\n"
    )


def _report(folder: Path, name: str, error: Exception) -> str:
    """A JUnit report with the one failing case."""

    def clean(text: str, limit: int) -> str:
        return _XML_ILLEGAL.sub("", text[:limit])

    # format_exception_only survives a __str__ that raises, str() does not.
    said = clean("".join(traceback.format_exception_only(error)).strip(), 500)
    text = clean("".join(traceback.format_tb(error.__traceback__)), 20_000)
    case = f"<testcase classname={quoteattr(f'{folder.name}.{name}')} name={quoteattr(name)}>"
    failure = f"<failure message={quoteattr(said)}>{escape(text)}{escape(said)}</failure>"
    suite = '<testsuite name="captured" tests="1" failures="1">'
    return f"{suite}{case}{failure}</testcase></testsuite>\n"


def _replace(path: Path, text: str) -> None:
    fd, beside = tempfile.mkstemp(dir=path.parent, prefix=".captured-")
    with os.fdopen(fd, "w", encoding="utf-8") as file:
        file.write(text)
    Path(beside).replace(path)
