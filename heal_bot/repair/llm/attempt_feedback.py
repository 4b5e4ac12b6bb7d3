"""What attempts show, from their outcomes alone: how far they came, what the next run may know."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from heal_bot.core.model import Attempt

_MOST = 5
_OFTEN = 2
# All that one run tells the next: a name of this list and an identifier, never a free word.
_LASTING = {
    "unchanged": "Earlier runs changed {} more than once and no test's failure changed.",
    "breaks": "Earlier runs changed {} more than once and broke tests that pass.",
    "helped": "In an earlier run a change of {} fixed a part of the failing tests.",
    "unconfirmed": "In an earlier run a change of {} passed the search and not the cold run.",
}
_BY_VERDICT = {"unchanged": _OFTEN, "regression": _OFTEN, "improved": 1, "unconfirmed": 1}
_NAMES = {"regression": "breaks", "improved": "helped"}


def most_fixed(attempts: Sequence[Attempt]) -> int:
    """The most tests an attempt fixed without breaking another."""
    kept = (a.verdict for a in attempts if not a.verdict.newly_failing or not a.verdict.measured)
    return max((len(verdict.fixed) for verdict in kept), default=0)


def select_lasting(attempts: Sequence[Attempt], known: Sequence[str] = ()) -> tuple[str, ...]:
    """What the next run may know, as `name:identifier`; the newest five."""
    seen = Counter(
        (a.verdict.status, a.candidate.edits[0].target.qualname)
        for a in attempts
        if len(a.candidate.edits) == 1 and a.verdict.measured
    )
    found = [
        f"{_NAMES.get(status, status)}:{qualname}"
        for (status, qualname), count in seen.items()
        if count >= _BY_VERDICT.get(status, len(attempts) + 1)
    ]
    return tuple(dict.fromkeys((*reversed(found), *known)))[:_MOST]


def word_lesson(lesson: str) -> str:
    """The sentence of a lasting lesson; '' for a name that is not on the list."""
    name, _, identifier = lesson.partition(":")
    return _LASTING[name].format(identifier) if name in _LASTING and identifier else ""
