"""What the attempts so far show, from their outcomes alone; at most five sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from heal_bot.model import Attempt, Cluster

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


def lessons(cluster: Cluster, attempts: Sequence[Attempt]) -> tuple[str, ...]:
    """Sentences on what no attempt fixed, what several broke, what came closest."""
    return tuple(_found(cluster, attempts))[:_MOST]


def _found(cluster: Cluster, attempts: Sequence[Attempt]) -> Iterator[str]:
    judged = [
        a
        for a in attempts
        if a.candidate.edits and a.verdict.measured and a.verdict.status != "rejected"
    ]
    if not judged:
        return
    total = len(cluster.failures)
    clean = [a for a in judged if not a.verdict.newly_failing]
    best = max(clean, key=lambda a: len(a.verdict.fixed), default=None)
    if best is not None and best.verdict.fixed:
        yield (
            f"Attempt {best.number} came closest: it fixes {len(best.verdict.fixed)} of {total}"
            " tests and breaks none."
        )
    broken = Counter(f.test for a in judged for f in a.verdict.newly_failing)
    for test, count in broken.most_common(2):
        yield f"{count} of {len(judged)} attempts broke {test}, which passes without them."
    never = {f.test for f in cluster.failures} - {t for a in attempts for t in a.verdict.fixed}
    if len(judged) > 1 and 0 < len(never) < total:
        yield f"No attempt has fixed {', '.join(sorted(never)[:3])}."
    untouched = _unchanged(judged)
    if untouched:
        yield f"{untouched} attempts changed no test's failure at all: look for another cause."


def _unchanged(judged: Sequence[Attempt]) -> int:
    same = [a for a in judged if a.verdict.status == "unchanged"]
    return len(same) if len(same) > 1 else 0


def most_fixed(attempts: Sequence[Attempt]) -> int:
    """The most tests an attempt fixed without breaking another."""
    kept = (a.verdict for a in attempts if not a.verdict.newly_failing or not a.verdict.measured)
    return max((len(verdict.fixed) for verdict in kept), default=0)


def lasting(attempts: Sequence[Attempt], known: Sequence[str] = ()) -> tuple[str, ...]:
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


def worded(lesson: str) -> str:
    """The sentence of a lasting lesson; '' for a name that is not on the list."""
    name, _, identifier = lesson.partition(":")
    return _LASTING[name].format(identifier) if name in _LASTING and identifier else ""
