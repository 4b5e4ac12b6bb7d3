"""tox and nox: what they are as packages, and what a noxfile installs for its tests."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from heal_bot.source.guard import SourceRejected, parse

NOXFILE = "noxfile.py"
# tox makes environments of its own unless this plugin is there.
_PACKAGES = {"tox": ("tox", "tox-current-env"), "nox": ("nox",)}
_TESTING = re.compile(r"\b(tests?|pytest|unit)\b", re.I)
_RUNS = frozenset({"run", "run_always", "run_install"})
_MOST = 100


def find_programs(command: str) -> tuple[str, ...]:
    """The packages without which a test command cannot start."""
    words = frozenset(re.split(r"[^\w.-]+", command))
    return tuple(name for program, names in _PACKAGES.items() if program in words for name in names)


def find_installs(source: bytes) -> Iterator[list[str]]:
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
        words = _plain(call.args)
        match call.func:
            case ast.Attribute(attr="install"):
                yield words
            case ast.Attribute(attr=name) if name in _RUNS and {"pip", "install"} <= {*words}:
                yield words[words.index("install") + 1 :]


def _plain(arguments: list[ast.expr]) -> list[str]:
    """The words that are written out; an option whose value is not goes with it."""
    words: list[str] = []
    for argument in arguments:
        if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
            words.append(argument.value)
        elif words and words[-1].startswith("-"):
            words.pop()
    return words


def _is_tests(function: ast.FunctionDef) -> bool:
    """Whether a function is a session, by its decorator, and one for tests, by its name."""
    marks = (node for mark in function.decorator_list for node in ast.walk(mark))
    return _TESTING.search(function.name.replace("_", " ")) is not None and any(
        getattr(node, "attr", getattr(node, "id", "")) == "session" for node in marks
    )
