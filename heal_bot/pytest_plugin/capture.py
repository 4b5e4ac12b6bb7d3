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
import keyword
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
# Above this an int has more digits than Python prints by itself.
_MAX_BITS = 14_000
_MAX_DEPTH = 20
_MAX_FILES = 100
_FRAMES = 50
_HIDDEN = "'***'"
_XML_ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_SECRET = re.compile(
    r"(?i)pass(word|wd|phrase)?|secret|token|api_?key|credential|authorization|cookie|session"
)
_SECRET_VALUE = re.compile(
    r"\b(gh[pousr]_|github_pat_|glpat-|xox[abprs]-|npm_|pypi-|sk-|AKIA|AIza|eyJ)[\w.-]{12,}"
    r"|-----BEGIN |(?i:bearer )\S{12,}|://[^\s/:@]+:[^\s/@]+@"
)


def capture(
    *, into: str | os.PathLike[str] | None = None
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Write what makes the function raise as a test into the folder `into`; None: do nothing.

    At most one test per place and type of exception, at most 100 in all, each call at most 20,000
    characters. What is named or looks like a credential is written as '***', also inside of
    dicts; then the test says so and the message of the exception is left out. Exceptions pass on
    as they are. Arguments are written as they were when the exception left. Methods, coroutines
    and generators are left alone (an instance is no literal, the others run after the call), and
    so is what no test can import by its name.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        kinds = (inspect.iscoroutinefunction, inspect.isgeneratorfunction,
                 inspect.isasyncgenfunction)  # fmt: skip
        plain = inspect.isfunction(function)
        if into is None or not plain or any(kind(function) for kind in kinds):
            return function

        @functools.wraps(function)
        def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
            try:
                return function(*args, **kwargs)
            except Exception as error:
                # Whatever a hostile class or a full disk raises here must not hide the user's.
                with contextlib.suppress(Exception):
                    _write(Path(into), function, args, kwargs, error)
                raise

        return wrapper

    return decorate


@dataclass
class _Source:
    """Python source of values, within a number of characters; notes whether it hid any."""

    room: int = _MAX_LITERAL
    hidden: bool = False

    def of(self, value: object, name: object = "", depth: int = 0) -> str:
        """The value as a literal, '***' for a credential; ValueError for what is none."""
        if self._is_secret(value, name):
            self.hidden = True
            return self._spent(_HIDDEN)
        # Never `in`: it would ask the class of the value whether it equals a built-in one.
        if any(type(value) is kind for kind in _PLAIN):
            return self._spent(self._plain(value))
        if depth > _MAX_DEPTH or not any(type(value) is kind for kind in _BOXES):
            raise ValueError("not built of plain values alone")
        return self._box(value, depth)

    def _is_secret(self, value: object, name: object) -> bool:
        named = type(name) is str and bool(_SECRET.search(name))
        if type(value) is bytes:
            value = value[:_MAX_LITERAL].decode("latin-1")
        return named or (type(value) is str and bool(_SECRET_VALUE.search(value[:_MAX_LITERAL])))

    def _plain(self, value: object) -> str:
        if type(value) is int and value.bit_length() > _MAX_BITS:
            raise ValueError("a number of too many digits")
        if (type(value) is str or type(value) is bytes) and len(value) > self.room:
            raise ValueError("too long")
        return repr(value)

    def _box(self, value: object, depth: int) -> str:
        """A list, tuple, set or dict of literals."""
        if type(value) is dict:
            pairs = (
                f"{self.of(key, '', depth + 1)}: {self.of(part, key, depth + 1)}"
                for key, part in value.items()
            )
            self._spent("{}")
            return "{" + ", ".join(pairs) + "}"
        assert isinstance(value, list | tuple | set)
        if type(value) is set and not value:
            raise ValueError("an empty set has no literal")
        self._spent("()")
        body = ", ".join([self.of(part, "", depth + 1) for part in value])
        if type(value) is tuple:
            return f"({body},)" if len(value) == 1 else f"({body})"
        return f"[{body}]" if type(value) is list else f"{{{body}}}"

    def _spent(self, text: str) -> str:
        self.room -= len(text) + 2
        if self.room < 0:
            raise ValueError("too long")
        return text


def literal(value: object, source: _Source | None = None, name: str = "") -> str | None:
    """The value as Python source; None when it is not built of exact plain types alone."""
    try:
        text = (source or _Source()).of(value, name)
        ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    return text


def _write(
    folder: Path,
    function: Callable[..., object],
    args: tuple[object, ...],
    kwargs: dict[str, object],
    error: Exception,
) -> None:
    """The test and its JUnit entry, written beside and renamed; nothing when it exists."""
    name = function.__name__
    if not _is_importable(function):
        return
    bound = inspect.signature(function).bind(*args, **kwargs)
    written = _arguments(bound)
    if written is None:
        return
    call, hidden = written
    frame = traceback.extract_tb(error.__traceback__, limit=-1)[0]
    place = f"{frame.filename}:{frame.lineno}:{_kind(error)}"
    digest = hashlib.sha256(f"{function.__module__}.{name}:{place}".encode())
    name = f"test_captured_{name}_{digest.hexdigest()[:10]}"
    folder.mkdir(parents=True, exist_ok=True)
    if len(list(folder.glob("test_captured_*.py"))) >= _MAX_FILES:
        return
    target = folder / f"{name}.py"
    if target.exists():
        return
    _replace(target, _test(function, name, call, error, hidden))
    _replace(folder / f"{name}.xml", _report(folder, name, error, hidden))


def _is_importable(function: Callable[..., object]) -> bool:
    """Whether `from module import name` means the function, and is nothing but that."""
    name, module = function.__name__, function.__module__
    if type(name) is not str or type(module) is not str or module == "__main__":
        return False
    words = (name, *module.split("."))
    plain = all(word.isidentifier() and not keyword.iskeyword(word) for word in words)
    return plain and function.__qualname__ == name


def _kind(error: Exception) -> str:
    kind = type(error).__name__
    return kind if type(kind) is str and kind.isidentifier() else "Exception"


def _arguments(bound: inspect.BoundArguments) -> tuple[str, bool] | None:
    """The call's arguments as source, and whether one was hidden; None when one is no literal."""
    stars: dict[object, str] = {
        inspect.Parameter.VAR_POSITIONAL: "*",
        inspect.Parameter.VAR_KEYWORD: "**",
    }
    parts, source = [], _Source()
    for name, value in bound.arguments.items():
        kind = bound.signature.parameters[name].kind
        text = literal(value, source, "" if kind in stars else name)
        if text is None:
            return None
        before = f"{name}=" if kind is inspect.Parameter.KEYWORD_ONLY else stars.get(kind, "")
        parts.append(before + text)
    return ", ".join(parts), source.hidden


def _test(
    function: Callable[..., object], name: str, call: str, error: Exception, hidden: bool
) -> str:
    """The text of the test: it fails as long as the call raises."""
    kind = _kind(error)
    note = "    # a value was hidden: it is named or looks like a credential\n" if hidden else ""
    return (
        f'"""Captured: {function.__name__} raised {kind}."""\n\n'
        f"from {function.__module__} import {function.__name__}\n\n\n"
        f"def {name}():\n{note}    {function.__name__}({call})\n"
    )


def _report(folder: Path, name: str, error: Exception, hidden: bool) -> str:
    """A JUnit report with the one failing case; a hidden value may be part of the message."""

    def clean(text: str, limit: int) -> str:
        return _XML_ILLEGAL.sub("", text[:limit])

    # format_exception_only survives a __str__ that raises, str() does not.
    said = _kind(error) if hidden else "".join(traceback.format_exception_only(error)).strip()
    said = clean(_SECRET_VALUE.sub("***", said[:_MAX_LITERAL]), 500)
    text = clean("".join(traceback.format_tb(error.__traceback__, limit=-_FRAMES)), 20_000)
    case = f"<testcase classname={quoteattr(f'{folder.name}.{name}')} name={quoteattr(name)}>"
    failure = f"<failure message={quoteattr(said)}>{escape(text)}{escape(said)}</failure>"
    suite = '<testsuite name="captured" tests="1" failures="1">'
    return f"{suite}{case}{failure}</testcase></testsuite>\n"


def _replace(path: Path, text: str) -> None:
    fd, beside = tempfile.mkstemp(dir=path.parent, prefix=".captured-")
    with os.fdopen(fd, "w", encoding="utf-8") as file:
        file.write(text)
    Path(beside).replace(path)
