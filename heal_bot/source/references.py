"""References in a tree, resolved: what a function refers to, and where it is called."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from heal_bot.core.model import Target
from heal_bot.ports import Tree
from heal_bot.source import functions, guard
from heal_bot.source.definitions import Function
from heal_bot.source.name_resolution import Names, NameScope, Symbol

CLASS = "class"


class _Use(NamedTuple):
    """A symbol that a line refers to, or calls."""

    symbol: Symbol
    line: int
    called: bool


class ResolvedCall(NamedTuple):
    """A line of code that calls a function, and the function around it (None: module code)."""

    path: str
    line: int
    text: str
    around: Target | None


@dataclass(frozen=True, slots=True)
class References:
    """Who refers to whom; `names` resolve what stands there."""

    names: Names

    @classmethod
    def of(cls, tree: Tree) -> References:
        """The references of a tree."""
        return cls(Names(tree))

    def uses(self, target: Target) -> tuple[Symbol, ...]:
        """What the code of a target refers to within the tree, in the order it stands there."""
        return tuple(dict.fromkeys(symbol for symbol, _ in self.mentions(target)))

    def mentions(self, target: Target) -> Iterator[tuple[Symbol, int]]:
        """What the code of a target refers to within the tree, with the line where it does."""
        for node in self.names.module(target.path).nodes.get(target.qualname, ()):
            if target.first_line <= node.lineno <= target.last_line:
                scope = self.names.around(target.path, target.qualname)
                for use in self._used(node, scope):
                    if use.symbol.qualname:
                        yield use.symbol, use.line

    def calls(self, target: Target) -> Iterator[ResolvedCall]:
        """The lines outside the tests that call or name a function, itself included."""
        owner, _, name = target.qualname.rpartition(".")
        wanted, made = {Symbol(target.path, target.qualname)}, Symbol(target.path, owner)
        words: tuple[str, ...] = (name,)
        if isinstance(self.names.first(made), ast.ClassDef):
            family = self.names.ancestors(made)
            wanted |= {Symbol(one.path, f"{one.qualname}.{name}") for one in family}
            if name in {"__init__", "__new__"}:
                words = (owner.rpartition(".")[2], "cls")
        for path in self.names.sources():
            if any(word in self.names.text(path) for word in words):
                for symbol, call, called in self._calls_in(path, words):
                    if symbol in wanted or (called and symbol == made and name not in words):
                        yield call

    def definitions(self, symbol: Symbol) -> tuple[Target, ...]:
        """The source of a symbol, a class as a target of kind `class`; none for a module."""
        path, qualname = symbol
        nodes = self.names.module(path).nodes.get(qualname, [])
        lines = functions.split_lines(self.names.text(path).removeprefix("\ufeff"))
        found: list[Target] = []
        for node in nodes:
            kind = "function" if isinstance(node, Function) else "assignment"
            kind = CLASS if isinstance(node, ast.ClassDef) else kind
            first = functions.first_line(node)
            last = node.end_lineno or node.lineno
            source = "".join(lines[first - 1 : last])
            found.append(Target(path, qualname, len(found), kind, first, last, source))
        return tuple(found)

    def targets(self, path: str) -> tuple[Target, ...]:
        """What a patch could change in a file; nothing where it cannot be read."""
        return tuple(entry.target for entry in self.entries(path))

    def entries(self, path: str) -> tuple[functions.IndexEntry, ...]:
        """The same with the names that assignments bind."""
        try:
            return functions.index_entries(path, self.names.text(path))
        except guard.SourceRejected:
            return ()

    def overridden(self, target: Target) -> Symbol | None:
        """The method of a base class that a method takes the place of."""
        owner, _, name = target.qualname.rpartition(".")
        for one in self.names.ancestors(Symbol(target.path, owner)):
            if found := self.names.member(one, name):
                return found
        return None

    def _calls_in(
        self, path: str, words: tuple[str, ...]
    ) -> Iterator[tuple[Symbol, ResolvedCall, bool]]:
        """What the functions and bindings of a file that hold one of the words refer to."""
        lines = functions.split_lines(self.names.text(path).removeprefix("\ufeff"))
        module = self.names.module(path)
        words += tuple(name for name, (_, alias) in module.imports.items() if alias.name in words)
        for qualname, nodes in module.nodes.items():
            for node in nodes if "<locals>" not in qualname else ():
                part = "".join(lines[node.lineno - 1 : node.end_lineno])
                if isinstance(node, ast.ClassDef) or not any(word in part for word in words):
                    continue
                scope = self.names.around(path, qualname)
                for symbol, line, called in dict.fromkeys(self._used(node, scope)):
                    around = functions.find_running(path, self.names.text(path), line)
                    yield symbol, ResolvedCall(path, line, lines[line - 1].strip(), around), called

    def _used(self, node: ast.AST, scope: NameScope) -> list[_Use]:
        """What is used in a statement; nothing in one that is nested too deeply to be followed."""
        try:
            return list(self._within(node, scope))
        except RecursionError:
            return []

    def _within(self, node: ast.AST, scope: NameScope, called: bool = False) -> Iterator[_Use]:
        """What is used in a statement in the order it runs, functions in it included.

        Annotations are left out: what runs is told by what is done with a value.
        """
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                inner = self.names.inside(node, f"{scope.prefix}{node.name}", scope)
                given = (value for _, value in functions.list_defaults(node.args))
                for part in (*node.decorator_list, *given):
                    yield from self._within(part, scope)
                parts: Iterable[ast.AST] = node.body
                scope = inner
            case ast.ClassDef():
                for outer in (*node.decorator_list, *node.bases, *node.keywords):
                    yield from self._within(outer, scope)
                name = f"{scope.prefix}{node.name}"
                scope = NameScope(scope.path, f"{name}.", Symbol(scope.path, name), scope.names)
                parts = node.body
            case ast.AnnAssign():
                parts = filter(None, [node.value])
            case _:
                parts = ast.iter_child_nodes(node)
        for inside in parts:
            is_function = isinstance(node, ast.Call) and inside is node.func
            yield from self._within(inside, scope, is_function)
        if isinstance(node, ast.Attribute) or (
            isinstance(node, ast.Name) and (called or node.id not in scope.names)
        ):
            value = self.names.value(node, scope, called=called)
            if isinstance(node.ctx, ast.Load) and value and value.how == "is":
                yield _Use(value.symbol, node.end_lineno or node.lineno, called)
