"""What the attempts so far show, from their outcomes alone; at most five sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from heal_bot.model import Attempt, Cluster

_MOST = 5


def lessons(cluster: Cluster, attempts: Sequence[Attempt]) -> tuple[str, ...]:
    """Sentences on what no attempt fixed, what several broke, what came closest."""
    return tuple(_found(cluster, attempts))[:_MOST]


def _found(cluster: Cluster, attempts: Sequence[Attempt]) -> Iterator[str]:
    judged = [a for a in attempts if a.candidate.edits and a.verdict.status != "rejected"]
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
    never = {f.test for f in cluster.failures} - {t for a in judged for t in a.verdict.fixed}
    if len(judged) > 1 and 0 < len(never) < total:
        yield f"No attempt has fixed {', '.join(sorted(never)[:3])}."
    untouched = _unchanged(judged)
    if untouched:
        yield f"{untouched} attempts changed no test's failure at all: look for another cause."


def _unchanged(judged: Sequence[Attempt]) -> int:
    same = [a for a in judged if a.verdict.status == "unchanged"]
    return len(same) if len(same) > 1 else 0
