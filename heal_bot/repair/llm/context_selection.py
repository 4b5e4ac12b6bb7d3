"""What of the facts goes into a prompt of a size: the most useful first, the rest by name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from heal_bot.core.text import cut_end, one_line
from heal_bot.repair.llm.failing_test_context import Failing, holds
from heal_bot.repair.llm.prompt_context import FOLLOWED, ContextFacts, ShownTarget
from heal_bot.repair.llm.shown_docstring import shorten_docstring
from heal_bot.repair.llm.suspect_context import Related

_SUSPECTS = 8
_TESTS = 6
_OTHERS = 20
_NAMED = 12
# The most characters of a helper, a constant or a class that suspects use.
_PART = 4_000
_MESSAGE = 800
# How full a prompt may be for what is of less and less use, as parts of its size.
_NEAR, _FAR, _LAST = 0.7, 0.85, 0.95


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


@dataclass(slots=True)
class _Draft:
    """What is shown, as it is filled."""

    facts: ContextFacts
    room: _Room
    suspects: dict[int, ShownTarget] = field(default_factory=dict)
    related: list[Related] = field(default_factory=list)
    failing: list[Failing] = field(default_factory=list)
    outlined: set[int] = field(default_factory=set)

    def suspect(self, number: int, share: float) -> None:
        """Take a suspect, unless it is within one that is taken."""
        one = self.facts.suspects[number]
        known = any(holds(other.target, one.target) for other in self.suspects.values())
        if not known and self.room.fits(one.source, share):
            self.suspects[number] = one

    def uses(self, near: Iterable[int], likely: list[int], share: float) -> None:
        """Take what these suspects use; what is a suspect too, or the class of one, as that."""
        for one in self.facts.related:
            inside = [n for n in likely if holds(one.target, self.facts.suspects[n].target)]
            if one.near in near and inside:
                for number in inside:
                    self.suspect(number, share)
            elif one.near in near and self.room.fits(
                text := cut_end(shorten_docstring(one.source), _PART), share
            ):
                self.related.append(replace(one, source=text))

    def outline(self, near: Iterable[int], share: float) -> None:
        """Take the outlines of these suspects' classes."""
        for number in sorted(self.suspects.keys() & set(near)):
            if self.room.fits("\n".join(self.facts.suspects[number].outline), share):
                self.outlined.add(number)

    def tests(self, first: int, last: int, share: float) -> None:
        """Take failing tests, without what is a suspect."""
        own = {one.target.source for one in self.facts.suspects[:_SUSPECTS]}
        for group in self.facts.failing[first:last]:
            parts = tuple(part for part in group.fixtures if part not in own)
            self.failing.append(_test(replace(group, fixtures=parts), self.room, share))

    def shown(self) -> tuple[ShownTarget, ...]:
        """The suspects, the most likely first."""
        return tuple(
            one if number in self.outlined else replace(one, outline=())
            for number, one in sorted(self.suspects.items())
        )


def select_facts(facts: ContextFacts, size: int) -> ContextFacts:
    """About `size` characters of the facts, more where what must not be cut is longer.

    That is the likeliest suspect and, where source does not parse or import, each of them.
    """
    room = _Room(size)
    must = facts.suspects if facts.broken else facts.suspects[:1]
    draft = _Draft(facts, room, dict(enumerate(must)))
    room.used += sum(len(one.source) for one in must)
    broken = tuple(room.cut(line, 0.2) for line in facts.broken)
    draft.tests(0, 1, 1)
    values, history = room.cut(facts.values, 0.15), room.cut(facts.history, 0.2)
    base = room.cut(facts.base, 0.2)
    likely = [n for n, one in enumerate(facts.suspects) if not one.minor][:_SUSPECTS]
    for number in likely[1:FOLLOWED]:
        draft.suspect(number, _NEAR)
    draft.uses([0], likely, _NEAR)
    draft.outline([0], _NEAR)
    draft.tests(1, FOLLOWED, _NEAR)
    for number in likely[FOLLOWED:]:
        draft.suspect(number, _FAR)
    draft.uses(range(1, FOLLOWED), likely, _FAR)
    neighbours = tuple(line for line in facts.neighbours if room.fits(line, _LAST))
    at = {one.target.path for one in draft.suspects.values()}
    imports = [(path, cut_end(text, 2_000)) for path, text in facts.files if path in at]
    files = tuple((path, text) for path, text in imports if room.fits(text, _LAST))
    passing = tuple(one for one in facts.passing if room.fits(one.source, _FAR))
    draft.outline(likely[1:], _LAST)
    draft.tests(FOLLOWED, _TESTS, _LAST)
    return replace(
        facts,
        failing=tuple(draft.failing),
        others=tuple(group.failures[0] for group in facts.failing[_TESTS : _TESTS + _OTHERS]),
        suspects=draft.shown(),
        related=tuple(draft.related),
        files=files,
        neighbours=neighbours,
        values=values,
        history=history,
        base=base,
        broken=broken,
        missing=tuple(_missing(draft)),
        passing=passing,
    )


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


def _missing(draft: _Draft) -> Iterator[str]:
    """What is not shown, by name."""
    facts, shown = draft.facts, [one.target for one in draft.suspects.values()]
    names = [
        f"{one.target.path}::{one.target.qualname}"
        for one in facts.suspects
        if not one.minor and not any(holds(other, one.target) for other in shown)
    ]
    yield from _named("less likely suspects", names)
    known = {one.name for one in draft.related} | {f"{one.path}::{one.qualname}" for one in shown}
    used = dict.fromkeys(one.name for one in facts.related if one.name not in known)
    yield from _named("used by the suspects", [name for name in used if name not in names])
    bare = {old.failures[0].test for old, new in zip(facts.failing, draft.failing, strict=False)
            if old.source and not new.source}  # fmt: skip
    yield from _named("the source of failing tests", sorted(bare))


def _named(what: str, names: list[str]) -> Iterator[str]:
    if names:
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        yield f"{what}: {one_line(', '.join(names[:_NAMED]), 2_000)}{more}"
