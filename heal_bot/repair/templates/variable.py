"""Variables: `return low` becomes `return high`.

Another name in scope costs 1.9 when its uses suggest the same kind of value, 2.3 when nothing is
known and 3.5 when they differ; 0.8 more where nothing else reads the old name. Also the target of
an assignment (2.6), and a name that becomes an attribute of the instance or a module constant
(2.2 to 3.6).
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from difflib import SequenceMatcher

from heal_bot.repair.templates.module_context import BUILTINS
from heal_bot.repair.templates.mutation_context import MutationContext
from heal_bot.repair.templates.text_edits import Mutation, Text


def swaps(scope: MutationContext) -> Iterator[Mutation]:
    """Every other visible name for every name that is read."""
    site = scope.site
    reads = Counter(n.id for n in site.each(ast.Name) if isinstance(n.ctx, ast.Load))
    for node in site.each(ast.Name):
        if isinstance(node.ctx, ast.Del):
            continue
        if node.id in BUILTINS | {"self", "cls"}:
            continue
        base = 1.9 if isinstance(node.ctx, ast.Load) else 2.6
        # A name that nothing reads any more is seldom what its author meant.
        base += 0.8 if reads[node.id] == 1 and isinstance(node.ctx, ast.Load) else 0.0
        for name in scope.visible(node):
            if name != node.id:
                extra = scope.clash(node.id, name) + (1.0 if site.is_called(node) else 0.0)
                yield site.put(node, Text(name), base + extra)


def attributes_for_names(scope: MutationContext) -> Iterator[Mutation]:
    """`limit` becomes `self.limit`; a local name becomes a module constant: 2.4 to 3.4."""
    site, receiver = scope.site, scope.receiver()
    for node in site.each(ast.Name):
        if isinstance(node.ctx, ast.Del):
            continue
        if node.id in BUILTINS | {"self", "cls"}:
            continue
        if receiver and not site.is_called(node):
            for name in scope.around.attributes:
                if name in scope.around.methods and name != node.id:
                    continue
                alike = _alike(name, node.id)
                yield site.put(node, Text(f"{receiver}.{name}"), 3.4 - 1.2 * alike)
        if isinstance(node.ctx, ast.Load):
            for name in scope.around.constants:
                if name != node.id:
                    yield site.put(node, Text(name), 3.6 - 0.8 * _alike(name, node.id))


def _alike(one: str, other: str) -> float:
    return SequenceMatcher(None, one.lower(), other.lower()).ratio()
