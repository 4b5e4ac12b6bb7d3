"""Changes of many families and suspects in one order, cheapest first, made only when asked for."""

from __future__ import annotations

import ast
import heapq
import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from heal_bot.repair.templates.change_tiers import Tier
from heal_bot.repair.templates.mutation_context import MutationContext
from heal_bot.repair.templates.template_costs import load_costs
from heal_bot.repair.templates.template_table import FAMILIES, Template
from heal_bot.repair.templates.text_edits import Mutation

# Costs are logarithmic: a line half as suspicious waits as long as one that costs 0.7 more.
_COLDEST = 2.0
_RANK = 0.35
# Of 461 right patches in the rows of `python -m benchmarks fit` the dearest costs 9.4.
_ROOF = 12.0


@dataclass(frozen=True, slots=True)
class Idea:
    """A change with the family it comes from, the suspect it is for, and what it costs there."""

    scope: MutationContext
    family: Template
    change: Mutation
    cost: float


def warmth_cost(heat: float, hottest: float) -> float:
    """What a line's suspicion adds to the cost of a change."""
    if hottest <= 0:
        return 0
    return min(_COLDEST, math.log(hottest / heat)) if heat > 0 else _COLDEST


def rank_cost(rank: int, score: float, best: float) -> float:
    """What a suspect's place and score add: the first adds nothing."""
    if rank == 0:
        return 0
    doubt = math.log(best / score) if 0 < score < best else 0
    return _RANK * (1 + math.log(1 + rank)) + min(1.5, doubt)


def order(
    scopes: list[tuple[MutationContext, float]],
    families: tuple[Template, ...] = FAMILIES,
    roof: float = _ROOF,
    skipped: Callable[[MutationContext, Template, Exception], None] = lambda *_: None,
) -> Iterator[Idea]:
    """All changes by cost plus the extra cost of their suspect and line, up to `roof`.

    What evades a name without a value, and leaves it there, is as much dearer as a rare change.
    A family is opened when its least cost comes up, so a search that ends early never pays for
    the dear families. One that a source is too odd for is left out there, and `skipped` is told.
    """
    costs = load_costs()
    heap: list[tuple[float, int, MutationContext, float, Template, Mutation | None]] = []
    count = 0
    for scope, extra in scopes:
        for family in families:
            least = costs.compute_cost(family.name, Tier.USUAL) + extra
            heap.append((least, count, scope, extra, family, None))
            count += 1
    heapq.heapify(heap)
    while heap:
        cost, _, scope, extra, family, ready = heapq.heappop(heap)
        if ready is not None:
            yield Idea(scope, family, ready, cost)
            continue
        unbound = scope.list_unbound()
        try:
            for change in family.changes(scope):
                heat = _heat(scope, change)
                if heat is None:
                    continue
                evades = bool(unbound) and _evades(scope, change, unbound)
                evasion = costs.steps[Tier.RARE if evades else Tier.USUAL]
                total = cost + costs.steps[change.tier] + heat + evasion
                if total <= roof:
                    heapq.heappush(heap, (total, count, scope, extra, family, change))
                    count += 1
        # What is made of a source is parsed and printed again: a long sum is too deep for that.
        except (SyntaxError, ValueError, RecursionError) as error:
            skipped(scope, family, error)


def _evades(scope: MutationContext, change: Mutation, unbound: Sequence[ast.Name]) -> bool:
    """Whether a change leaves names without a value as they are read, and gives them none."""
    names = "|".join({node.id for node in unbound})
    if change.imports or any(re.search(rf"\b(?:{names})\b", cut.text) for cut in change.cuts):
        return False
    spans = [(scope.site.start(node), scope.site.end(node)) for node in unbound]
    return not any(c.start < end and start < c.end for c in change.cuts for start, end in spans)


def _heat(scope: MutationContext, change: Mutation) -> float | None:
    """The extra cost of a change's line; None where no failing test came by."""
    heat = scope.site.heat
    if not heat:
        return 0
    found = scope.site.near(change.line)
    return None if found is None else warmth_cost(found, max(heat.values()))
