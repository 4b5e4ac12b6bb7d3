"""Tests found without running anything: path suffixes of the class name, checked in the AST."""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Callable, Iterator, Sequence

from heal_bot.core.errors import HealBotError
from heal_bot.source import definitions, guard

_PARTS = 60


class Sources:
    """The Python files of a checkout by dotted name, and what each defines."""

    def __init__(self, paths: Sequence[str], read: Callable[[str], bytes]) -> None:
        self._read = read
        self._nodes: dict[str, dict[str, list[ast.stmt]]] = {}
        self._by_dotted: dict[str, list[str]] = {}
        for path in paths:
            if path.endswith(".py"):
                for dotted in _endings(path):
                    self._by_dotted.setdefault(dotted, []).append(path)

    def modules(self, dotted: str) -> tuple[str, ...]:
        """The files a dotted module name may mean: the longest fit, several when they tie."""
        parts = dotted.split(".")[-_PARTS:]
        for start in range(len(parts)):
            key = ".".join(parts[start:])
            if found := self._by_dotted.get(key) or self._by_dotted.get(f"{key}.__init__"):
                whole = [p for p in found if p.removesuffix(".py").replace("/", ".") == key]
                return tuple(whole or found)
        return ()

    def find(self, classname: str, name: str) -> tuple[str, ...]:
        """Node ids that (classname, name) may mean: the longest module name that holds the test."""
        function = name.partition("[")[0]
        found = self._places(classname, lambda path, inner: self.defines(path, inner, function))
        return tuple(f"{place}::{name}" for place in found)

    def classes(self, classname: str) -> tuple[str, ...]:
        """Ids of the class of this dotted name: in the longest module name that holds it."""
        return self._places(
            classname,
            lambda path, inner: any(isinstance(n, ast.ClassDef) for n in self._named(path, inner)),
        )

    def _places(self, dotted: str, holds: Callable[[str, Sequence[str]], bool]) -> tuple[str, ...]:
        """Files with the classes inside, by a dotted name: of the longest module name that fits."""
        parts = dotted.split(".")
        for end in range(len(parts), 0, -1):
            paths = self.modules(".".join(parts[:end]))
            found = tuple("::".join((p, *parts[end:])) for p in paths if holds(p, parts[end:]))
            if found:
                return found
        return ()

    def defines(self, path: str, classes: Sequence[str], function: str) -> bool:
        """Whether the file has these nested classes and the function, or a base that may."""
        inherits = any(isinstance(n, ast.ClassDef) and n.bases for n in self._named(path, classes))
        named = self._named(path, (*classes, function))
        found = inherits or any(isinstance(n, definitions.Function) for n in named)
        return found and function.isidentifier()

    def _named(self, path: str, names: Sequence[str]) -> Sequence[ast.stmt]:
        """What the file defines by these nested names, outside of functions."""
        if path not in self._nodes:
            self._nodes[path] = {}
            with contextlib.suppress(KeyError, HealBotError):
                text = guard.check_text(self._read(path))
                self._nodes[path] = definitions.read(text).nodes
        return () if "<locals>" in names else self._nodes[path].get(".".join(names), ())


def _endings(path: str) -> Iterator[str]:
    """`a.b.test_x`, `b.test_x` and `test_x` for `a/b/test_x.py`."""
    parts = path.removesuffix(".py").split("/")[-_PARTS:]
    for start in range(len(parts)):
        yield ".".join(parts[start:])
