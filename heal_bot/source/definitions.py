"""What a file defines, by qualified name, and what its imports bind."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from heal_bot.source import functions, guard

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Module:
    """A file's definitions by qualified name, and what its imports bind."""

    nodes: dict[str, list[ast.stmt]] = field(default_factory=dict)
    imports: dict[str, tuple[ast.Import | ast.ImportFrom, ast.alias]] = field(default_factory=dict)
    stars: list[ast.ImportFrom] = field(default_factory=list)


@lru_cache(maxsize=128)
def read(text: str) -> Module:
    """The definitions and imports of a source; none of one that does not parse."""
    found = Module()
    try:
        _collect(guard.parse(text).body, "", found)
    except (guard.SourceRejected, RecursionError):
        return Module()
    return found


def _collect(body: Sequence[ast.AST], prefix: str, found: Module) -> None:
    local = prefix.endswith("<locals>.")
    for node in body:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                found.nodes.setdefault(f"{prefix}{name}", []).append(node)
                _collect(node.body, f"{prefix}{name}.<locals>.", found)
            case ast.ClassDef(name=name):
                found.nodes.setdefault(f"{prefix}{name}", []).append(node)
                _collect(node.body, f"{prefix}{name}.", found)
            case ast.Assign() | ast.AnnAssign() | ast.AugAssign() if not local:
                for name in _targets(node):
                    found.nodes.setdefault(f"{prefix}{name}", []).append(node)
            case ast.Import() | ast.ImportFrom():
                for alias in node.names:
                    if alias.name == "*" and isinstance(node, ast.ImportFrom):
                        found.stars.append(node)
                    else:
                        name = alias.asname or alias.name.partition(".")[0]
                        found.imports.setdefault(name, (node, alias))
            case _:
                _collect(functions.list_inner(node), prefix, found)


def _targets(node: ast.Assign | ast.AnnAssign | ast.AugAssign) -> list[str]:
    """The plain names that a statement binds."""
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    parts = [p for t in targets for p in (t.elts if isinstance(t, ast.Tuple | ast.List) else [t])]
    return [part.id for part in parts if isinstance(part, ast.Name)]


def find_assigned(node: Function) -> Iterator[tuple[str, ast.expr | None]]:
    """The names that a function binds, with the expression where it is as plain as that."""
    elsewhere: set[str] = set()
    plain: dict[ast.expr, ast.expr] = {}
    queue: list[ast.AST] = list(node.body)
    stores = []
    while queue:
        one = queue.pop(0)
        match one:
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                elsewhere.update(names)
            case ast.Assign(targets=[ast.Name() as target], value=value):
                plain[target] = value
            case ast.AnnAssign(target=ast.Name() as target, value=ast.expr() as value):
                plain[target] = value
            case ast.withitem(context_expr=value, optional_vars=ast.Name() as target):
                plain[target] = value
        if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store):
            stores.append(one)
        if not isinstance(one, Function | ast.ClassDef | ast.Lambda):
            queue += ast.iter_child_nodes(one)
    for store in stores:
        if store.id not in elsewhere:
            yield store.id, plain.get(store)
