"""Tests found without running anything: path suffixes of the class name, checked in the AST."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence

from heal_bot.core.errors import HealBotError
from heal_bot.source import guard

_PARTS = 60


class Sources:
    """The Python files of a checkout by dotted name, and what each defines."""

    def __init__(self, paths: Sequence[str], read: Callable[[str], bytes]) -> None:
        self._read = read
        self._trees: dict[str, ast.Module | None] = {}
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
            classname, lambda path, inner: bool(inner) and self._scope(path, inner) is not None
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
        scope = self._scope(path, classes)
        if scope is None or not function.isidentifier():
            return False
        functions = (ast.FunctionDef, ast.AsyncFunctionDef)
        inherits = isinstance(scope, ast.ClassDef) and bool(scope.bases)
        return inherits or any(
            isinstance(n, functions) and n.name == function for n in _flat(scope.body)
        )

    def _scope(self, path: str, classes: Sequence[str]) -> ast.Module | ast.ClassDef | None:
        """The module, or the innermost of these nested classes; None where one is not there."""
        scope: ast.Module | ast.ClassDef | None = self.tree(path)
        for name in classes:
            inside = _flat(scope.body) if scope is not None else ()
            found = [n for n in inside if isinstance(n, ast.ClassDef) and n.name == name]
            scope = found[-1] if found else None
        return scope

    def tree(self, path: str) -> ast.Module | None:
        """The file's syntax tree, or None when it is not parsable within the caps."""
        if path not in self._trees:
            self._trees[path] = self._parse(path)
        return self._trees[path]

    def _parse(self, path: str) -> ast.Module | None:
        try:
            return guard.parse(self._read(path))
        except (KeyError, HealBotError):
            return None


def _flat(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements of a scope, those under `if`, `try` and `with` included."""
    for node in body:
        yield node
        for part in ("body", "orelse", "finalbody"):
            if isinstance(node, ast.If | ast.Try | ast.With):
                yield from _flat(getattr(node, part, []))


def _endings(path: str) -> Iterator[str]:
    """`a.b.test_x`, `b.test_x` and `test_x` for `a/b/test_x.py`."""
    parts = path.removesuffix(".py").split("/")[-_PARTS:]
    for start in range(len(parts)):
        yield ".".join(parts[start:])
