"""Code that plainly does nothing: `if ready: pass`, a `pass` among statements, `if False:`.

Something is missing there. Where failing tests come by, a change elsewhere that makes them pass
does so by accident more often than not, and so does one that leaves a condition as constant as it
was: `if True:` to `if False:` takes out what stands below.
"""

from __future__ import annotations

import ast

from heal_bot.repair.templates.mutation_context import MutationContext
from heal_bot.repair.templates.priced_enumeration import Idea
from heal_bot.repair.templates.target_ast import TargetAst

# What the change of another place is to be believed less.
_ELSEWHERE = 2.0
# A gap counts where its line is at least so suspicious, against the most suspicious one.
_WARM = 0.5
_BLOCKS = ast.If | ast.For | ast.AsyncFor | ast.While | ast.With | ast.AsyncWith
_CONSTANT = {"True", "False", "None", "pass"}

Span = tuple[int, int]


def find_gaps(scope: MutationContext) -> tuple[Span, ...]:
    """The first byte and the byte after the last of each gap that failing tests come by."""
    site = scope.site
    found = [s for block in site.blocks() for s in block if _is_gap(site, s, block)]
    return tuple((site.start(s), site.end(s)) for s in found if _is_warm(site, s))


def elsewhere_cost(idea: Idea, holes: dict[int, tuple[Span, ...]]) -> float:
    """What a change costs that leaves all gaps as they are; `holes` has those of each scope."""
    if not any(holes.values()):
        return 0.0
    own = holes.get(id(idea.scope), ())
    cuts = idea.change.cuts
    fills = any(
        cut.start <= last and first <= cut.end and cut.text not in _CONSTANT
        for cut in cuts
        for first, last in own
    )
    return 0.0 if fills else _ELSEWHERE


def _is_gap(site: TargetAst, statement: ast.stmt, block: list[ast.stmt]) -> bool:
    """Not the `pass` of a function, a handler or a case, which is what is left out on purpose."""
    if isinstance(statement, ast.If):
        return isinstance(statement.test, ast.Constant)
    if not isinstance(statement, ast.Pass) or len(block) > 1:
        return isinstance(statement, ast.Pass)
    parent = site.places[statement].parent
    if isinstance(parent, ast.If) and parent.body is block and parent.orelse:
        return False
    return isinstance(parent, _BLOCKS)


def _is_warm(site: TargetAst, statement: ast.stmt) -> bool:
    if not site.heat:
        return False
    found = site.near(site.line(statement))
    return found is not None and found >= _WARM * max(site.heat.values())
