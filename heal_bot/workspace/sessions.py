"""tox and nox: what they are as packages, and what a noxfile installs for its tests."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from heal_bot.source.guard import SourceRejected, parse

NOXFILE = "noxfile.py"
# tox makes environments of its own unless this plugin is there.
_PACKAGES = {"tox": ("tox", "tox-current-env"), "nox": ("nox",)}
_TESTING = re.compile(r"tests?\b|pytest|unit", re.I)
_MOST = 100


def programs(command: str) -> tuple[str, ...]:
    """The packages without which a test command cannot start."""
    words = frozenset(re.split(r"[^\w.-]+", command))
    return tuple(name for program, names in _PACKAGES.items() if program in words for name in names)


def installs(source: bytes) -> Iterator[list[str]]:
    """What the sessions of a noxfile that run tests install: words as `pip install` takes them.

    The file is read and never run, so that only words that are written out are known.
    """
    try:
        module = parse(source)
    except SourceRejected:
        return
    functions = [f for f in module.body if isinstance(f, ast.FunctionDef) and _is_tests(f)]
    calls = (n for f in functions for n in ast.walk(f) if isinstance(n, ast.Call))
    for call in list(calls)[:_MOST]:
        words = [
            arg.value
            for arg in call.args
            if isinstance(arg, ast.Constant) and isinstance(arg.value, str)
        ]
        match call.func:
            case ast.Attribute(attr="install"):
                yield words
            case ast.Attribute(attr="run" | "run_install") if {"pip", "install"} <= {*words}:
                yield words[words.index("install") + 1 :]


def _is_tests(function: ast.FunctionDef) -> bool:
    """Whether a function is a session, by its decorator, and one for tests, by its name."""
    marks = (ast.unparse(mark) for mark in function.decorator_list)
    return _TESTING.search(function.name.replace("_", " ")) is not None and any(
        "session" in mark for mark in marks
    )
