"""What of the facts goes into a prompt of a size: the most useful first, the rest by name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from heal_bot.model import Failure
from heal_bot.repair.llm.context import FOLLOWED, Facts, Shown
from heal_bot.repair.llm.surroundings import Related
from heal_bot.repair.llm.testcode import Failing, holds
from heal_bot.text import cut_end, one_line

_SUSPECTS = 8
_TESTS = 6
_OTHERS = 20
_NAMED = 12
# The most characters of a helper, a constant or a class that suspects use.
_PART = 4_000
_MESSAGE = 800
# How full a prompt may be for what is of less and less use, as parts of its size.
_NEAR, _FAR, _LAST = 0.7, 0.85, 0.95


@dataclass(frozen=True, slots=True)
class Selection:
    """What is shown; suspects with their numbers, `missing` in words what is not."""

    failing: tuple[Failing, ...]
    others: tuple[Failure, ...]
    suspects: tuple[tuple[int, Shown], ...]
    related: tuple[Related, ...]
    files: tuple[tuple[str, str], ...]
    neighbours: tuple[str, ...]
    values: str
    history: str
    base: str
    broken: tuple[str, ...]
    missing: tuple[str, ...]


@dataclass(slots=True)
class _Room:
    """Characters of a prompt that are spoken for."""

    size: int
    used: int = 0

    def fits(self, text: str, share: float) -> bool:
        """Whether there is room for a text in a part of the size; it is taken then."""
        fits = self.used + len(text) <= self.size * share
        self.used += len(text) if fits else 0
        return fits

    def cut(self, text: str, share: float) -> str:
        """The beginning of a text that must be shown, within a part of the size."""
        found = cut_end(text, int(self.size * share))
        self.used += len(found)
        return found


def select(facts: Facts, size: int) -> Selection:
    """About `size` characters of the facts, more where what must not be cut is longer.

    That is the likeliest suspect and, where source does not parse or import, each of them.
    """
    room = _Room(size)
    suspects = {n: facts.suspects[n] for n in range(len(facts.suspects) if facts.broken else 1)
                if n < len(facts.suspects)}  # fmt: skip
    room.used += sum(len(one.target.source) for one in suspects.values())
    broken = tuple(room.cut(line, 0.2) for line in facts.broken)
    failing = [_test(group, room, 1) for group in facts.failing[:1]]
    values, history = room.cut(facts.values, 0.15), room.cut(facts.history, 0.2)
    base = room.cut(facts.base, 0.2)
    outlines: set[int] = set()
    related = []

    def suspect(number: int, share: float) -> None:
        one = facts.suspects[number]
        if number not in suspects and room.fits(one.target.source, share):
            suspects[number] = one

    def uses(near: Iterable[int], share: float) -> None:
        for one in facts.related:
            inside = [n for n, other in _likely(facts) if holds(one.target, other.target)]
            if one.near in near and inside:
                # A suspect, or the class of some.
                for number in inside:
                    suspect(number, share)
            elif one.near in near and room.fits(text := cut_end(one.source, _PART), share):
                related.append(replace(one, source=text))

    def outline(near: Iterable[int], share: float) -> None:
        for number in sorted(suspects.keys() & set(near)):
            if room.fits("\n".join(facts.suspects[number].outline), share):
                outlines.add(number)

    likely = [number for number, _ in _likely(facts)]
    for number in likely[1:FOLLOWED]:
        suspect(number, _NEAR)
    uses([0], _NEAR)
    outline([0], _NEAR)
    failing += [_test(group, room, _NEAR) for group in facts.failing[1:FOLLOWED]]
    for number in likely[FOLLOWED:]:
        suspect(number, _FAR)
    uses(range(1, FOLLOWED), _FAR)
    neighbours = tuple(line for line in facts.neighbours if room.fits(line, _LAST))
    files = tuple((path, cut_end(text, 2_000)) for path, text in facts.files
                  if room.fits(text[:2_000], _LAST))  # fmt: skip
    outline(likely[1:], _LAST)
    failing += [_test(group, room, _LAST) for group in facts.failing[FOLLOWED:_TESTS]]
    shown = [
        (number + 1, one if number in outlines else replace(one, outline=()))
        for number, one in sorted(suspects.items())
    ]
    return Selection(
        failing=tuple(failing),
        others=tuple(group.failures[0] for group in facts.failing[_TESTS : _TESTS + _OTHERS]),
        suspects=tuple(shown),
        related=tuple(related),
        files=files,
        neighbours=neighbours,
        values=values,
        history=history,
        base=base,
        broken=broken,
        missing=tuple(_missing(facts, suspects, related, failing)),
    )


def _likely(facts: Facts) -> list[tuple[int, Shown]]:
    """The suspects that are shown where there is room, with their places in the list."""
    return [(n, one) for n, one in enumerate(facts.suspects[:_SUSPECTS]) if not one.minor]


def _test(group: Failing, room: _Room, share: float) -> Failing:
    """A failing test as there is room for it; the first one, with all of it, in any case."""
    first, *others = group.failures
    must = share == 1
    message = room.cut(first.message, 0.15) if must else cut_end(first.message, _MESSAGE)
    failures = [replace(first, message=message)]
    failures += [replace(one, message=cut_end(one.message, _MESSAGE)) for one in others]
    room.used += sum(len(one.message) for one in failures[must:])
    source = room.cut(group.source, 0.3) if must else cut_end(group.source, _PART)
    if not must and not room.fits(source, share):
        source = ""
    parts = (cut_end(one, _PART) for one in group.fixtures if source)
    kept = tuple(one for one in parts if room.fits(one, _NEAR if must else share))
    return replace(group, failures=tuple(failures), source=source, fixtures=kept)


def _missing(
    facts: Facts, suspects: dict[int, Shown], related: list[Related], failing: list[Failing]
) -> Iterator[str]:
    """What is not shown, by name."""
    hidden = [(one.minor, n, one.target) for n, one in enumerate(facts.suspects)]
    names = [f"{t.path}::{t.qualname}" for _, n, t in sorted(hidden) if n not in suspects]
    yield from _named("less likely suspects", names)
    known = {one.name for one in related} | {f"{s.target.path}::{s.target.qualname}"
                                            for s in suspects.values()}  # fmt: skip
    used = dict.fromkeys(one.name for one in facts.related if one.name not in known)
    yield from _named("used by the suspects", [name for name in used if name not in names])
    bare = {old.failures[0].test for old, new in zip(facts.failing, failing, strict=False)
            if old.source and not new.source}  # fmt: skip
    yield from _named("the source of failing tests", sorted(bare))


def _named(what: str, names: list[str]) -> Iterator[str]:
    if names:
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        yield f"{what}: {one_line(', '.join(names[:_NAMED]), 2_000)}{more}"
