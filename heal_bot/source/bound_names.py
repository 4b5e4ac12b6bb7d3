"""What code binds: names of its scopes, imports, definitions; and what it leaves free."""

from __future__ import annotations

import ast
import builtins
import re
import symtable
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from heal_bot.source import guard
from heal_bot.source.definitions import Function

# What a module has besides what Python has everywhere.
_GIVEN = frozenset(dir(builtins)) | {"__file__", "__path__", "__builtins__", "__class__"}
_STAR = re.compile(r"^[ \t]*from\b.*\bimport[ \t]*\*", re.MULTILINE)
Import = tuple[ast.Import | ast.ImportFrom, ast.alias]


def list_names(node: ast.AST) -> Iterator[str]:
    """The names that a node binds."""
    stored = isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)
    parts = ("name", "asname", "arg", "rest", *(("id",) if stored else ()))
    found = (getattr(node, part, None) for part in parts)
    yield from (name for name in found if isinstance(name, str))


def _tables(source: str) -> list[symtable.SymbolTable]:
    """The symbol tables of code, that of its top first; none where it cannot be read."""
    head = "if 1:\n" if source[:1] in {" ", "\t"} else ""
    try:
        tables = [symtable.symtable(f"{head}{source}", "<code>", "exec")]
    except (SyntaxError, ValueError, RecursionError):
        return []
    for table in tables:
        tables.extend(table.get_children())
    return tables


def find_locals(source: str) -> frozenset[str]:
    """The variables of functions that nobody outside knows by name: no parameters, no imports."""
    tables = (table for table in _tables(source) if table.get_type() == "function")
    symbols = [symbol for table in tables for symbol in table.get_symbols()]
    known = {one.get_name() for one in symbols if one.is_parameter() or one.is_imported()}
    return frozenset(one.get_name() for one in symbols if one.is_local()) - known


def find_symbols(source: str) -> frozenset[str]:
    """All names of code that are no attributes."""
    return frozenset(name for table in _tables(source) for name in table.get_identifiers())


def find_unbound(text: str) -> frozenset[str]:
    """The names of a file that are bound nowhere: none where it imports a `*`."""
    if _STAR.search(text):
        return frozenset()
    tables = _tables(text)
    symbols = [(table is tables[0], symbol) for table in tables for symbol in table.get_symbols()]
    bound = {
        symbol.get_name()
        for top, symbol in symbols
        if (top or symbol.is_declared_global()) and (symbol.is_assigned() or symbol.is_imported())
    }
    used = {symbol.get_name() for _, symbol in symbols if symbol.is_global()}
    return frozenset(used - bound - _GIVEN)


def find_globals(source: str) -> frozenset[str] | None:
    """The names that code takes from its module or from Python; None where nobody knows."""
    tables = _tables(source)
    if not tables:
        return None
    return frozenset(
        symbol.get_name()
        for table in tables
        for symbol in table.get_symbols()
        # The body of a class or a module looks further where a name is not bound yet.
        if symbol.is_global() or (table.get_type() != "function" and symbol.is_referenced())
    )


def list_imports(nodes: Iterable[ast.AST]) -> dict[str, list[Import]]:
    """The names that imports bind, with the imports."""
    found: dict[str, list[Import]] = {}
    for node in nodes:
        if isinstance(node, ast.Import | ast.ImportFrom):
            for alias in node.names:
                name = alias.asname or alias.name.partition(".")[0]
                found.setdefault(name, []).append((node, alias))
    return found


@lru_cache(maxsize=256)
def _nodes(text: str) -> tuple[ast.AST, ...]:
    try:
        return (*ast.walk(guard.parse_part(text)),)
    except guard.SourceRejected:
        return ()


@lru_cache(maxsize=256)
def imports_of(text: str) -> Mapping[str, Sequence[Import]]:
    """The names that imports bind anywhere in a file."""
    return list_imports(_nodes(text))


@lru_cache(maxsize=256)
def all_bound(text: str) -> frozenset[str]:
    """The names that a file binds in any of its scopes."""
    return frozenset(name for node in _nodes(text) for name in list_names(node))


@lru_cache(maxsize=256)
def mentioned(text: str) -> frozenset[str]:
    """The attributes that the code of a file reads, and what it defines."""
    return defined(text) | {n.attr for n in _nodes(text) if isinstance(n, ast.Attribute)}


@lru_cache(maxsize=256)
def defined(text: str) -> frozenset[str]:
    """What objects of a file may have: its functions, classes, parameters and attributes."""
    found: set[str] = set()
    for node in _nodes(text):
        if isinstance(node, Function | ast.ClassDef | ast.arg):
            found.update(list_names(node))
        elif isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
            found.add(node.attr)
        if isinstance(node, ast.ClassDef | ast.Module):
            found.update(n for part in node.body if isinstance(part, ast.Assign | ast.AnnAssign)
                         for one in ast.walk(part) for n in list_names(one))  # fmt: skip
    return frozenset(found)
