"""Variables: `return low` becomes `return high`.

Another name in scope is usual when its uses suggest the same kind of value, less so where nothing
else reads the old name. Also the target of an assignment, and a name that becomes an attribute of
the instance or a module constant.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator

from heal_bot.repair.templates.change_tiers import Tier, combine_tiers, is_spelled_alike
from heal_bot.repair.templates.module_context import BUILTINS
from heal_bot.repair.templates.mutation_context import MutationContext
from heal_bot.repair.templates.target_ast import TargetAst
from heal_bot.repair.templates.text_edits import Mutation, Text


def _names(site: TargetAst) -> Iterator[ast.Name]:
    kept = BUILTINS | {"self", "cls"}
    for node in site.each(ast.Name):
        if not isinstance(node.ctx, ast.Del) and node.id not in kept:
            yield node


def swaps(scope: MutationContext) -> Iterator[Mutation]:
    """Every other visible name for every name that is read."""
    site = scope.site
    reads = Counter(n.id for n in site.each(ast.Name) if isinstance(n.ctx, ast.Load))
    for node in _names(site):
        # A name that nothing reads any more is seldom what its author meant.
        usual = isinstance(node.ctx, ast.Load) and reads[node.id] > 1
        place = Tier.USUAL if usual else Tier.SELDOM
        role = Tier.SELDOM if site.is_called(node) else Tier.USUAL
        for name in scope.visible(node):
            if name != node.id:
                tier = combine_tiers(place, role, scope.clash(node.id, name))
                yield site.put(node, Text(name), tier)


def attributes_for_names(scope: MutationContext) -> Iterator[Mutation]:
    """`limit` becomes `self.limit`; a local name becomes a module constant."""
    site, receiver = scope.site, scope.receiver()
    for node in _names(site):
        if receiver and not site.is_called(node):
            for name in sorted(scope.around.attributes, key=node.id.__ne__):
                if name not in scope.around.methods or name == node.id:
                    yield site.put(node, Text(f"{receiver}.{name}"), _spelled(name, node.id))
        for name in scope.around.constants if isinstance(node.ctx, ast.Load) else ():
            if name != node.id:
                tier = combine_tiers(Tier.SELDOM, _spelled(name, node.id))
                yield site.put(node, Text(name), tier)


def _spelled(one: str, other: str) -> Tier:
    return Tier.USUAL if is_spelled_alike(one, other) else Tier.SELDOM
