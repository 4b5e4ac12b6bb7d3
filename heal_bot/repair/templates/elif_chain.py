"""The branches of an `if` with `elif`: the one that a wider one hides moves before it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from heal_bot.repair.templates.change_tiers import Tier
from heal_bot.repair.templates.mutation_context import MutationContext
from heal_bot.repair.templates.target_ast import TargetAst
from heal_bot.repair.templates.text_edits import FEW, Mutation, TextEdit


def orders(scope: MutationContext) -> Iterator[Mutation]:
    """A branch comes before an earlier one."""
    site = scope.site
    for node in site.each(ast.If):
        if site.source.startswith(b"elif", site.start(node)):
            continue
        branches = _branches(site, node)
        spans = [span for test, body in branches for span in (test, body)]
        texts = [site.source[begin:end].decode() for begin, end in spans]
        if not all(text.endswith("\n") for text in texts[1::2]):
            continue
        for at in range(1, len(branches)):
            for to in range(at):
                order = [*range(to), at, *range(to, at), *range(at + 1, len(branches))]
                moved = [text for n in order for text in texts[2 * n : 2 * n + 2]]
                pairs = zip(spans, texts, moved, strict=True)
                cuts = tuple(TextEdit(*span, new) for span, old, new in pairs if old != new)
                line = site.line(node)
                why = f"`{texts[2 * at]}` is asked before `{texts[2 * to]}` on line {line}"
                yield Mutation(cuts, Tier.USUAL, line, why)


def _branches(site: TargetAst, node: ast.If) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """The spans of the condition and of the lines of each branch; none where one is not plain."""
    found: list[tuple[tuple[int, int], tuple[int, int]]] = []
    current: ast.stmt = node
    while isinstance(current, ast.If) and len(found) < FEW:
        first, last = site.whole(current.body[0]), site.whole(current.body[-1])
        if first is None or last is None or "\n" in site.segment(current.test):
            return []
        test = (site.start(current.test), site.end(current.test))
        found.append((test, (first[0], last[1])))
        below = current.orelse[0] if len(current.orelse) == 1 else None
        if not isinstance(below, ast.If) or not site.source.startswith(b"elif", site.start(below)):
            break
        current = below
    return found
