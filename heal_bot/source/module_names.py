"""Modules by name and by file, and the names that one binds."""

from __future__ import annotations

import ast
import re
import sys
import sysconfig
from collections.abc import Collection
from pathlib import Path

from heal_bot.core.model import Removal
from heal_bot.ports import Tree
from heal_bot.source import guard

_NO_NAME = re.compile(
    r"cannot import name '(\w+)' from (?:partially initialized module )?'([\w.]+)'"
)
_NO_ATTRIBUTE = re.compile(r"module '([\w.]+)' has no attribute '(\w+)'")
_NO_MODULE = re.compile(r"No module named '([\w.]+)'")


def dotted_name(path: str, paths: Collection[str]) -> str:
    """The name a file is imported by: its folders as far up as they are packages."""
    parts = path.removesuffix(".py").split("/")
    first = len(parts) - 1
    while first and "/".join([*parts[:first], "__init__.py"]) in paths:
        first -= 1
    found = parts[first:]
    return ".".join(found[:-1] if found[-1] == "__init__" and len(found) > 1 else found)


def file_of(name: str, paths: Collection[str]) -> str:
    """The file of a module by its dotted name; '' where the tree has none."""
    end = name.replace(".", "/")
    ends = (f"/{end}.py", f"/{end}/__init__.py")
    found = [path for path in paths if f"/{path}".endswith(ends)]
    return next((path for path in found if dotted_name(path, paths) == name), "")


def absolute_name(node: ast.ImportFrom, path: str, paths: Collection[str]) -> str:
    """The dotted name of the module that a statement of a file imports from."""
    if not node.level:
        return node.module or ""
    package = dotted_name(path, paths).split(".")
    drop = node.level - path.endswith("/__init__.py")
    return ".".join([*package[: len(package) - drop], *filter(None, [node.module])])


def list_standard(module: str) -> frozenset[str]:
    """The names of a module of the standard library, by its source; it is not imported."""
    if module.partition(".")[0] not in sys.stdlib_module_names:
        return frozenset()
    base = Path(sysconfig.get_path("stdlib"), *module.split("."))
    found = [path for path in (base.with_suffix(".py"), base / "__init__.py") if path.is_file()]
    return find_bound(found[0].read_bytes()) if found else frozenset()


def find_bound(text: str | bytes) -> frozenset[str]:
    """The names that a module binds at its top level; none for what does not parse."""
    try:
        tree = guard.parse(text)
    except guard.SourceRejected:
        return frozenset()
    return frozenset(_bound(tree.body))


def _bound(body: list[ast.stmt]) -> set[str]:
    found: set[str] = set()
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            found |= {(a.asname or a.name).partition(".")[0] for a in node.names}
        else:
            names = (n for n in ast.walk(node) if isinstance(n, ast.Name))
            found |= {n.id for n in names if isinstance(n.ctx, ast.Store)}
            for part in ("body", "orelse", "finalbody", "handlers"):
                found |= _bound([n for n in getattr(node, part, ()) if isinstance(n, ast.stmt)])
    return found


def find_missing(message: str) -> tuple[str, str]:
    """The module of the project that lacks a name, and the name; '' for a module that is not there.

    Two empty texts where the message is of another kind.
    """
    if found := _NO_NAME.search(message):
        return found[2], found[1]
    if found := _NO_ATTRIBUTE.search(message):
        return found[1], found[2]
    found = _NO_MODULE.search(message)
    return (found[1], "") if found else ("", "")


def find_removal(message: str, tree: Tree) -> Removal | None:
    """The commit that took away what a failed import asks for, where history tells."""
    module, name = find_missing(message)
    path = file_of(module, tree.paths()) if module else ""
    if name and path:
        found = tree.removal(path, name)
        return found if found and name in find_bound(found.before) else None
    if module and not name and not path:
        end = module.replace(".", "/")
        return tree.removal(f"{end}.py", "") or tree.removal(f"{end}/__init__.py", "")
    return None
