"""How much less a change is to be believed, once it passes, than its cost says.

What a change adds can fit the failing tests by accident, what it takes away hardly: a sum with
`+ 1` after it passes a single assertion as well as the whole list does. A value that the test
expects, written into the code, passes that test whatever the code is for.
"""

from __future__ import annotations

from heal_bot.repair.rules.evidence import literals
from heal_bot.repair.rules.queue import Idea

_PER_CHARACTER = 0.06
_MOST = 12
_FITTED = 1.5
# Where a constant takes the place of another one, an expected value may well be the right one.
_CONSTANTS = {"number": 0.3, "text": 0.3, "boolean constant": 0.0, "f-string": 0.3, "pattern": 0.3}
_COMMON = (0, 1, -1, True, False, None, "")


def doubt(idea: Idea) -> float:
    """A number to add to the cost, negative for changes that only take away."""
    growth = sum(len(cut.text) - (cut.end - cut.start) for cut in idea.change.cuts)
    size = _PER_CHARACTER * max(-_MOST, min(_MOST, growth))
    fitted = _CONSTANTS.get(idea.family.name, _FITTED) if _is_fitted(idea) else 0.0
    return idea.family.doubt + size + fitted


def _is_fitted(idea: Idea) -> bool:
    """Whether a change writes a value that the tests show, and that the code did not have."""
    shown = [value for value in idea.scope.evidence.constants if value not in _COMMON]
    if not shown:
        return False
    known = {(type(value), value) for value in literals(idea.scope.site.source.decode())}
    new = [v for cut in idea.change.cuts for v in literals(cut.text) if (type(v), v) not in known]
    return any(type(value) is type(other) and value == other for value in new for other in shown)
