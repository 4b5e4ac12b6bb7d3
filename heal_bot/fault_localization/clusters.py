"""Many failing tests to few root causes: what they share, and how they fail."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import log

from heal_bot.core.model import Failure
from heal_bot.core.model.execution import bitmap, indices
from heal_bot.fault_localization import failure_signatures, spectrum

# Beyond this many distinct executions the rest joins the groups found so far.
MAX_GROUPS = 500
# A test that passes although it executed a cause counts half: many do not look at what it spoils.
PASSING = 0.5
# What it costs, in nats, that the tests of a cause fail in several ways (for each doubling or so),
# that an exception raised at one place has a further cause, and that there are several causes.
# Chosen on mutants and combinations of mutants of six libraries (docs/offline-engine.md).
WAYS = 3.0
RAISED = 6.0
SEVERAL = 4.0
# Executed by this share of the passing tests, a line tells nothing of who fails.
EVERYBODY = 0.9


@dataclass(frozen=True, slots=True)
class Group:
    """Failures of one cause; `common` are the lines that all of them executed."""

    failures: tuple[Failure, ...]
    common: int


@dataclass(frozen=True, slots=True)
class Levels:
    """The lines by how many of the passing `tests` executed them, to find the fewest among some."""

    passed: tuple[int, ...]
    up_to: tuple[int, ...]
    per_line: Sequence[int]
    tests: int

    def fewest(self, lines: int) -> int | None:
        """The smallest number of passing tests that executed one of the lines; None without."""
        if not self.up_to or not lines & self.up_to[-1]:
            return None
        place = bisect_left(self.up_to, True, key=lambda level: bool(lines & level))
        return self.passed[place]

    def lines(self, passed: int) -> int:
        """The lines that at most so many passing tests executed."""
        return self.up_to[self.passed.index(passed)]


def count_levels(passed: Sequence[int], among: int, tests: int) -> Levels:
    """The levels of the lines `among`; `passed` counts, per line, those of the passing `tests`."""
    by_count: dict[int, list[int]] = {}
    for line in indices(among):
        by_count.setdefault(passed[line], []).append(line)
    numbers = tuple(sorted(by_count))
    up_to, total = [], 0
    for number in numbers:
        total |= bitmap(by_count[number], len(passed))
        up_to.append(total)
    return Levels(numbers, tuple(up_to), passed, tests)


def group(
    failures: Sequence[Failure],
    hits: Mapping[str, int],
    known: Levels,
    choices: int,
    site: Callable[[Failure], str],
) -> tuple[Group, ...]:
    """The fewest causes that explain the failures well.

    A cause is a line that all tests of its group executed. The grouping is sought that takes the
    fewest words (minimum description length): naming a cause costs the logarithm of the number of
    `choices`, and a line that passing tests execute too costs the surprise at their passing (as
    Barinel, Abreu et al. 2009, estimates it). Each place that raises is named once per cause, so
    what is raised at one place belongs together. A greedy cover finds the grouping, from single
    executions and from what was raised at one place, then groups are joined as long as that saves
    words. Failures without a recorded execution are grouped by how they fail.
    """
    prior = log(max(choices, 2))

    def cost(one: Group) -> float:
        return _cost(one, known, prior, site)

    start = _start([f for f in failures if hits.get(f.test)], hits, site)
    single, alike = start[:MAX_GROUPS], _alike(start[:MAX_GROUPS], site)
    found = (
        _joined(_covered(first, known, prior), cost)
        for first in ((single, alike) if len(alike) < len(single) else (single,))
    )
    groups = _single(min(found, key=lambda groups: sum(map(cost, groups))), cost, known)
    for late in start[MAX_GROUPS:]:
        groups = _placed(late, groups, cost)
    groups = [_with_shared(one, groups, hits, known, site) for one in groups]
    return tuple(_with_unseen(groups, [f for f in failures if not hits.get(f.test)], site))


def _start(
    failures: Sequence[Failure], hits: Mapping[str, int], site: Callable[[Failure], str]
) -> list[Group]:
    """One group per distinct execution and place of the failure, the largest first."""
    same: dict[tuple[int, str, str], list[Failure]] = {}
    for failure in failures:
        same.setdefault((hits[failure.test], failure.kind, site(failure)), []).append(failure)
    groups = [Group(tuple(members), key[0]) for key, members in same.items()]
    return sorted(groups, key=lambda one: (-len(one.failures), one.failures[0].test))


def _alike(groups: Sequence[Group], site: Callable[[Failure], str]) -> list[Group]:
    """The groups with those as one that share a line and where the same was raised."""
    found: dict[object, Group] = {}
    for number, one in enumerate(groups):
        first = one.failures[0]
        place = site(first)
        known = found.get((first.kind, place))
        joined = _union((known, one)) if place and known else None
        if joined and joined.common:
            found[first.kind, place] = joined
        else:
            found[number if known or not place else (first.kind, place)] = one
    return list(found.values())


def _covered(groups: Sequence[Group], known: Levels, prior: float) -> list[Group]:
    """A greedy cover: again and again the line that explains failures at the least cost each."""
    columns = _columns(groups, known)
    sizes = _planes([len(one.failures) for one in groups])
    price_of = cache(lambda failed, passed: (prior + spectrum.surprise(failed, passed)) / failed)
    left = (1 << len(groups)) - 1
    found: list[Group] = []
    while left:
        best, chosen = 0.0, 0
        for column, passed in columns.items():
            members = column & left
            if not members:
                continue
            failed = members.bit_count()
            if len(sizes) > 1:
                failed = sum((members & plane).bit_count() << at for at, plane in enumerate(sizes))
            price = price_of(failed, PASSING * passed)
            if not chosen or (price, -failed) < (best, -chosen.bit_count()):
                best, chosen = price, members
        if not chosen:
            found.extend(groups[member] for member in indices(left))
            break
        found.append(_union([groups[member] for member in indices(chosen)]))
        left &= ~chosen
    return found


def _columns(groups: Sequence[Group], known: Levels) -> dict[int, int]:
    """Per set of groups (as bits) that some line is common to: the fewest passing tests on it."""
    width = max((one.common.bit_length() for one in groups), default=0)
    # Each group is a row of binary digits, the last line first; read downwards they are columns.
    digits = b"".join(format(one.common, f"0{width}b").encode() for one in reversed(groups))
    columns: dict[int, int] = {}
    for place in range(width):
        column = int(digits[place::width], 2)
        if column:
            passed = known.per_line[width - 1 - place]
            columns[column] = min(columns.get(column, passed), passed)
    return columns


def _planes(numbers: Sequence[int]) -> list[int]:
    """Plane k holds bit k of every number, so that sums over some of them are bit counts."""
    return [
        sum(1 << at for at, number in enumerate(numbers) if number >> level & 1)
        for level in range(max(numbers, default=0).bit_length())
    ]


def _joined(groups: list[Group], cost: Callable[[Group], float]) -> list[Group]:
    """Join the pair that saves most until no pair saves anything."""
    alive: dict[int, Group] = dict(enumerate(groups))
    costs = {number: cost(one) for number, one in alive.items()}

    def saving(left: int, right: int) -> float:
        return costs[left] + costs[right] - cost(_union((alive[left], alive[right])))

    savings = {(i, j): saving(i, j) for i in alive for j in alive if i < j}
    while savings:
        (left, right), best = max(savings.items(), key=lambda item: (item[1], -item[0][0]))
        if best <= 0:
            break
        alive[left] = _union((alive[left], alive.pop(right)))
        costs[left] = cost(alive[left])
        savings = {pair: s for pair, s in savings.items() if not {left, right} & set(pair)}
        for other in alive:
            if other != left:
                pair = (min(left, other), max(left, other))
                savings[pair] = saving(*pair)
    return list(alive.values())


def _single(groups: list[Group], cost: Callable[[Group], float], known: Levels) -> list[Group]:
    """One group when a single cause explains all nearly as well as several.

    What nearly every passing test executes does not tell who fails: as a cause it gets no credit
    for being the only one, and each of those tests speaks against it.
    """
    whole = _union(groups) if len(groups) > 1 else None
    passed = known.fewest(whole.common) if whole else None
    if whole is None or passed is None:
        return groups
    credit = SEVERAL
    if passed and passed >= EVERYBODY * known.tests:
        failed = len(whole.failures)
        credit = spectrum.surprise(failed, PASSING * passed) - spectrum.surprise(failed, passed)
    return [whole] if cost(whole) < sum(map(cost, groups)) + credit else groups


def _placed(late: Group, groups: list[Group], cost: Callable[[Group], float]) -> list[Group]:
    """The groups with one more: in the group where it adds least, or alone."""
    added = [cost(_union((one, late))) - cost(one) for one in groups]
    least = min(range(len(groups)), key=added.__getitem__)
    if added[least] < cost(late):
        groups[least] = _union((groups[least], late))
        return groups
    return [*groups, late]


def _union(groups: Sequence[Group]) -> Group:
    common = groups[0].common
    for one in groups[1:]:
        common &= one.common
    return Group(tuple(failure for one in groups for failure in one.failures), common)


def _cost(one: Group, known: Levels, prior: float, site: Callable[[Failure], str]) -> float:
    passed = known.fewest(one.common)
    if passed is None:
        return 1e9 * len(one.failures)
    ways = {(failure.kind, site(failure)) for failure in one.failures}
    raised = sum(1 for _, place in ways if place)
    surprise = spectrum.surprise(len(one.failures), PASSING * passed)
    return prior + surprise + WAYS * log(len(ways)) + RAISED * raised


def _with_shared(
    one: Group,
    groups: Sequence[Group],
    hits: Mapping[str, int],
    known: Levels,
    site: Callable[[Failure], str],
) -> Group:
    """The group with failures of other groups that surely fail for its cause as well.

    Such a test executed one of the group's most suspicious lines, which hardly any test passes.
    Where the cause always raises, a test that got past it and failed in another way is none.
    """
    passed = known.fewest(one.common)
    if passed is None or passed > 0.1 * (len(one.failures) + 1):
        return one
    culprits = one.common & known.lines(passed)
    mine = {failure.test for failure in one.failures}
    ways = {(failure.kind, site(failure)) for failure in one.failures}
    raises = all(place for _, place in ways)
    others = tuple(
        failure
        for other in groups
        if other is not one
        for failure in other.failures
        if failure.test not in mine
        and hits[failure.test] & culprits
        and not (raises and (failure.kind, site(failure)) not in ways)
    )
    return Group(one.failures + others, one.common) if others else one


def _with_unseen(
    groups: list[Group], unseen: Sequence[Failure], site: Callable[[Failure], str]
) -> list[Group]:
    """Failures without a recorded execution, beside those that fail alike."""
    alike: dict[str, list[Failure]] = {}
    for failure in unseen:
        alike.setdefault(failure_signatures.sign_failure(failure, site(failure)), []).append(
            failure
        )
    known = {
        failure_signatures.sign_failure(failure, site(failure)): number
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
