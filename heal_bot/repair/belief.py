"""How far-fetched a change may be and still be believed, by what vouches for it.

What passes a few tests by accident is common, and the right change is not always among those that
are tried. Failing tests vouch most, the calls that all tests make less, and a change that leaves
everything as it was that worked needs less of both.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

# The cost that is believed, by the number of failing tests.
_FAR = (3.25, 4.3, 5.5, 6.5)
# More for each time that tests make twice as many calls as two; and the most it comes to.
_PER_DOUBLING, _CALLED = 0.45, 1.5
# What a change costs that changes most of what worked, for each time that twice as many others
# repaired the failing tests and broke another one.
_ACCIDENT, _MOST = 0.2, 0.5
# More where nothing that worked is changed, less where no call could be compared.
_UNTOUCHED, _UNSEEN = 1.0, 0.5
# More where hardly a change passed the failing tests and little of what worked is changed: what is
# hard to pass is seldom passed by accident. That shows only where so many were tried.
_HARD, _FEW_ACCIDENTS, _LITTLE, _MANY = 0.5, 2, 0.3, 100
# So many calls have to be compared before one may say that nothing was changed; and tests have to
# make another call than the one that failed.
_ENOUGH, _ANOTHER = 10, 2


@dataclass(frozen=True, slots=True)
class Odds:
    """How easily the failing tests of a cluster are passed.

    `accidents` are the changes that made them pass and broke another one, of all that were `tried`.
    """

    tried: int
    accidents: int = 0

    def are_low(self) -> bool:
        """Whether enough changes were tried, and hardly one passed by accident."""
        return self.tried >= _MANY and self.accidents <= _FEW_ACCIDENTS


@dataclass(frozen=True, slots=True)
class Grounds:
    """What stands behind patches that behave alike.

    `costs` are theirs, the cheapest first; `changed` is the share of calls that worked and are
    changed, None where no call was compared; `recorded` counts the calls that tests make and
    `compared` those and the varied ones that ended; `penalty` is what the calls say against them.
    """

    costs: tuple[float, ...]
    changed: float | None
    recorded: int
    compared: int
    penalty: float = 0.0


def together(costs: Sequence[float]) -> float:
    """What changes weigh together, cheapest first: each further one says less."""
    return sum(math.exp(-cost) / n for n, cost in enumerate(costs, 1))


def is_believed(grounds: Grounds, failures: int, odds: Odds) -> bool:
    """Whether patches are likely enough for the number of tests that they repair."""
    cost = grounds.penalty - math.log(together(grounds.costs))
    if grounds.changed is not None and grounds.changed > _MOST:
        cost += _ACCIDENT * math.log2(1 + odds.accidents)
    return cost <= _FAR[min(failures, len(_FAR)) - 1] + _vouched(grounds, odds)


def _vouched(grounds: Grounds, odds: Odds) -> float:
    if grounds.changed is None:
        return -_UNSEEN
    doublings = math.log2(max(2, grounds.recorded) / 2)
    vouched = min(_CALLED, _PER_DOUBLING * doublings)
    if grounds.compared >= _ENOUGH and grounds.recorded >= _ANOTHER:
        vouched += _UNTOUCHED if grounds.changed == 0 else 0.0
        vouched += _HARD if grounds.changed <= _LITTLE and odds.are_low() else 0.0
    return vouched
