"""A loop that should end, or go on, when something was found: `break` after the last statement.

`break` or `continue` at the end of an `if` in a loop that does not end with a jump, 2.6.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from heal_bot.repair.templates.mutation_context import LOOPS, MutationContext
from heal_bot.repair.templates.statement_insertion import after
from heal_bot.repair.templates.text_edits import Mutation

_COST = 2.6
_JUMPS = ast.Break | ast.Continue | ast.Return | ast.Raise


def found(scope: MutationContext) -> Iterator[Mutation]:
    """A branch in a loop ends with a jump."""
    site = scope.site
    for node in site.each(ast.If):
        if isinstance(node.body[-1], _JUMPS):
            continue
        loop = next((a for a in scope.above(node) if isinstance(a, LOOPS)), None)
        if loop is None:
            continue
        # After the last statement of a round, to go on is what happens anyway.
        words = ("break",) if loop.body[-1] is node and not node.orelse else ("break", "continue")
        for word in words:
            yield from after(site, node.body[-1], (word,), _COST)
