"""Many failing tests to few root causes: what they share, and how they fail."""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import log

from heal_bot.locate import spectrum
from heal_bot.model import Failure

# A first grouping beyond this many distinct executions is not paired; the rest join their best.
MAX_GROUPS = 200
_SIGNATURE = 1.0
_NOISE = (
    (re.compile(r"\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b", re.IGNORECASE), "ID"),
    (re.compile(r"\b0x[0-9a-f]+", re.IGNORECASE), "ADDRESS"),
    (
        re.compile(r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?"),
        "TIME",
    ),
    (re.compile(r"\b\d{1,2}:\d\d(?::\d\d(?:\.\d+)?)?\b"), "TIME"),
    (re.compile(r"(?:/[\w.+-]+)*/(?:tmp|temp|pytest-of-[\w-]+)(?:/[\w.+-]*)*"), "TEMP"),
    (re.compile(r"\b(?=[0-9a-f]*\d)[0-9a-f]{12,}\b", re.IGNORECASE), "ID"),
    (re.compile(r"\d+(?:[.,_]\d+)*(?:e[+-]?\d+)?", re.IGNORECASE), "N"),
)


@dataclass(frozen=True, slots=True)
class Group:
    """Failures of one cause; `common` are the lines that all of them executed."""

    failures: tuple[Failure, ...]
    common: int


@dataclass(frozen=True, slots=True)
class Levels:
    """The lines by how many passing tests executed them, to find the fewest among some lines."""

    passed: tuple[int, ...]
    up_to: tuple[int, ...]

    def fewest(self, lines: int) -> int | None:
        """The smallest number of passing tests that executed one of the lines; None without."""
        if not self.up_to or not lines & self.up_to[-1]:
            return None
        place = bisect_left(self.up_to, True, key=lambda level: bool(lines & level))
        return self.passed[place]

    def lines(self, passed: int) -> int:
        """The lines that at most so many passing tests executed."""
        return self.up_to[self.passed.index(passed)]


def normalised(message: str) -> str:
    """A message without what differs between runs and values: addresses, ids, times, numbers."""
    text = " ".join(message[:2000].split())
    for pattern, word in _NOISE:
        text = pattern.sub(word, text)
    return text[:200]


def signature(failure: Failure, site: str) -> str:
    """How a test failed, equal for equal causes: exception, place it was raised, message."""
    return f"{failure.kind} in {site or 'the test'}: {normalised(failure.message)}"


def identity(failures: Sequence[Failure]) -> str:
    """A short name for a cluster that stays the same while its tests do."""
    tests = "\n".join(sorted(failure.test for failure in failures))
    return hashlib.sha256(tests.encode("utf-8", "surrogatepass")).hexdigest()[:10]


def levels(passed: Sequence[int], among: int) -> Levels:
    """The levels of the lines `among`; `passed` counts the passing tests per line."""
    by_count: dict[int, list[int]] = {}
    for line in spectrum.indices(among):
        by_count.setdefault(passed[line], []).append(line)
    numbers = tuple(sorted(by_count))
    up_to, total = [], 0
    for number in numbers:
        total |= spectrum.bitmap(by_count[number], len(passed))
        up_to.append(total)
    return Levels(numbers, tuple(up_to))


def group(
    failures: Sequence[Failure],
    hits: Mapping[str, int],
    known: Levels,
    choices: int,
    site: Callable[[Failure], str],
) -> tuple[Group, ...]:
    """The fewest causes that explain the failures well.

    Two groups become one when one line, executed by all their tests, explains them in fewer words
    than two lines do (minimum description length): naming a cause costs the logarithm of the
    number of `choices`, and a line that passing tests execute too costs the surprise at their
    passing (as Barinel, Abreu et al. 2009, estimates it). Failures without a recorded execution
    are grouped by how they fail.
    """
    prior = log(max(choices, 2)) + 1.0
    groups = _start([f for f in failures if hits.get(f.test)], hits, site)
    groups = _merge(groups, lambda one: _cost(one, known, prior, site))
    groups = [_with_shared(one, groups, hits, known) for one in groups]
    found = [Group(one.failures, one.common) for one in groups]
    return tuple(_with_unseen(found, [f for f in failures if not hits.get(f.test)], site))


def _start(
    failures: Sequence[Failure], hits: Mapping[str, int], site: Callable[[Failure], str]
) -> list[Group]:
    """One group per distinct execution and place of the failure."""
    same: dict[tuple[int, str, str], list[Failure]] = {}
    for failure in failures:
        same.setdefault((hits[failure.test], failure.kind, site(failure)), []).append(failure)
    return [Group(tuple(members), key[0]) for key, members in same.items()]


def _merge(groups: list[Group], cost: Callable[[Group], float]) -> list[Group]:
    """Join the pair that saves most until no pair saves anything."""
    groups = sorted(groups, key=lambda one: (-len(one.failures), one.failures[0].test))
    active, rest = groups[:MAX_GROUPS], groups[MAX_GROUPS:]
    while True:
        active = _merge_all(active, cost)
        if not rest:
            return active
        room = max(1, MAX_GROUPS - len(active))
        active, rest = active + rest[:room], rest[room:]


def _merge_all(groups: list[Group], cost: Callable[[Group], float]) -> list[Group]:
    alive: dict[int, Group] = dict(enumerate(groups))
    costs = {number: cost(one) for number, one in alive.items()}

    def saving(left: int, right: int) -> float:
        return costs[left] + costs[right] - cost(_union(alive[left], alive[right]))

    savings = {(i, j): saving(i, j) for i in alive for j in alive if i < j}
    while savings:
        (left, right), best = max(savings.items(), key=lambda item: (item[1], -item[0][0]))
        if best <= 0:
            break
        alive[left] = _union(alive[left], alive.pop(right))
        costs[left] = cost(alive[left])
        savings = {pair: s for pair, s in savings.items() if not {left, right} & set(pair)}
        for other in alive:
            if other != left:
                pair = (min(left, other), max(left, other))
                savings[pair] = saving(*pair)
    return list(alive.values())


def _union(left: Group, right: Group) -> Group:
    return Group(left.failures + right.failures, left.common & right.common)


def _cost(one: Group, known: Levels, prior: float, site: Callable[[Failure], str]) -> float:
    passed = known.fewest(one.common)
    if passed is None:
        return 1e9 * len(one.failures)
    failed = len(one.failures)
    fails = failed / (failed + passed)
    surprise = -failed * log(fails) - (passed * log(1 - fails) if passed else 0.0)
    ways = Counter((failure.kind, site(failure)) for failure in one.failures)
    return prior + surprise + _SIGNATURE * log(len(ways))


def _with_shared(
    one: Group, groups: Sequence[Group], hits: Mapping[str, int], known: Levels
) -> Group:
    """The group with failures of other groups that surely fail for its cause as well.

    Such a test executed one of the group's most suspicious lines, which hardly any test passes.
    """
    passed = known.fewest(one.common)
    if passed is None or passed > 0.1 * (len(one.failures) + 1):
        return one
    culprits = one.common & known.lines(passed)
    mine = {failure.test for failure in one.failures}
    others = tuple(
        failure
        for other in groups
        if other is not one
        for failure in other.failures
        if failure.test not in mine and hits[failure.test] & culprits
    )
    return Group(one.failures + others, one.common) if others else one


def _with_unseen(
    groups: list[Group], unseen: Sequence[Failure], site: Callable[[Failure], str]
) -> list[Group]:
    """Failures without a recorded execution, beside those that fail alike."""
    alike: dict[str, list[Failure]] = {}
    for failure in unseen:
        alike.setdefault(signature(failure, site(failure)), []).append(failure)
    known = {
        signature(failure, site(failure)): number
        for number, one in enumerate(groups)
        for failure in one.failures
    }
    for text, members in alike.items():
        if text in known:
            at = known[text]
            groups[at] = Group(groups[at].failures + tuple(members), groups[at].common)
        else:
            groups.append(Group(tuple(members), 0))
    return groups
