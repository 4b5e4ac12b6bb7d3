"""Where the code of a path belongs: the tests, the project, or a library."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import PurePosixPath

from heal_bot.core.model import Origin

_TEST_FOLDERS = {"test", "tests", "testing"}
_INSTALLED = {"site-packages", "dist-packages", ".venv", "venv", ".tox", ".nox", "node_modules"}


class Origins:
    """Tells the origin of a path relative to the checkout; `tests` are collected node ids."""

    def __init__(self, tests: Iterable[str] = ()) -> None:
        self._collected = frozenset(test.split("::")[0] for test in tests)

    def of(self, path: str) -> Origin:
        """Outside the checkout or installed: library; collected, conftest or so named: test."""
        if path in self._collected:
            return Origin.TEST
        return _by_name(path)


@lru_cache(maxsize=4096)
def _by_name(path: str) -> Origin:
    pure = PurePosixPath(path)
    if pure.is_absolute() or path.startswith("<") or _INSTALLED & set(pure.parts):
        return Origin.LIBRARY
    name = pure.name
    if name == "conftest.py" or fnmatchcase(name, "test_*.py") or fnmatchcase(name, "*_test.py"):
        return Origin.TEST
    return Origin.TEST if _TEST_FOLDERS & set(pure.parts[:-1]) else Origin.PROJECT
