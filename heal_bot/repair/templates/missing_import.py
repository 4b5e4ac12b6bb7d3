"""Missing imports: `NameError: name 'deque' is not defined` gets `from collections import deque`.

A line that another module of the project has for the name comes before the standard library.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable, Iterator

from heal_bot.core.errors import HealBotError
from heal_bot.ports import Tree
from heal_bot.repair.templates.change_tiers import Tier
from heal_bot.repair.templates.failure_hints import FailureHints
from heal_bot.repair.templates.mutation_context import MutationContext
from heal_bot.repair.templates.text_edits import Mutation
from heal_bot.source import guard, pure_names

_FILES = 200
# Where a name is looked for: where two modules have it, the first is meant.
_HOMES = (
    "dataclasses", "collections", "itertools", "functools", "math", "bisect", "contextlib", "copy",
    "datetime", "decimal", "enum", "fractions", "heapq", "pathlib", "statistics", "string",
    "textwrap", "operator",
)  # fmt: skip


def lines(tree: Tree, path: str, evidence: FailureHints) -> tuple[tuple[str, str], ...]:
    """Names that the failures call undefined, each with a line that imports it, likely ones first.

    `path` is the module that lacks them.
    """
    found: dict[tuple[str, str], None] = {}
    for name in sorted(evidence.unbound()):
        found.update(dict.fromkeys((name, line) for line in _elsewhere(tree, path, name)))
        if name in sys.stdlib_module_names:
            found[name, f"import {name}"] = None
        if home := next((m for m in _HOMES if name in pure_names.list_exports(m)), ""):
            found[name, f"from {home} import {name}"] = None
    return tuple(found)


def _elsewhere(tree: Tree, path: str, name: str) -> Iterator[str]:
    """The absolute imports of a name in the project's other modules."""
    modules = [p for p in tree.paths() if p.endswith(".py") and p != path]
    for other in modules[:_FILES]:
        try:
            text = guard.check_text(tree.read(other))
            body = guard.parse(text).body if re.search(rf"\bimport\b.*\b{name}\b", text) else []
        except (KeyError, HealBotError):
            continue
        yield from _imported(body, name)


def _imported(body: Iterable[ast.stmt], name: str) -> Iterator[str]:
    for node in body:
        match node:
            case ast.Import(names=names) | ast.ImportFrom(names=names, level=0):
                for alias in names:
                    if (alias.asname or alias.name) == name:
                        where = f"from {node.module} " if isinstance(node, ast.ImportFrom) else ""
                        renamed = f" as {alias.asname}" if alias.asname else ""
                        yield f"{where}import {alias.name}{renamed}"


def imports(scope: MutationContext) -> Iterator[Mutation]:
    """The function stays, its module gets the import."""
    site = scope.site
    used = {n.id: n for n in reversed(site.nodes) if isinstance(n, ast.Name)}
    for name, line in scope.importable:
        if name in used and name not in {bound for bound, _, _ in scope.bindings}:
            why = f"`{line}` is missing"
            yield Mutation((), Tier.USUAL, site.line(used[name]), why, (line,))
