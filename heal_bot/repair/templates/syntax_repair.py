"""A line that does not parse: a colon, bracket, quote or comma too few or too many, an indentation.

Candidates are parsed here, under caps, and never executed; only those that parse go on.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from heal_bot.core.model import Edit
from heal_bot.ports import Tree
from heal_bot.repair.templates.change_tiers import Tier
from heal_bot.source import edit as editing
from heal_bot.source import functions, guard, line_targets

_MARKS = (":", ")", ",", '"', "'", "]", "}", "(", "[", "{", '"""', "=")
_PLACES = re.compile(r"(?<=\w)(?=\W)|(?<=\W)(?=\w)|(?<=\W)(?=\W)|\Z")
_MOST_PARSED = 1_500
_MOST = 16
# How many changes that get the parser further are followed.
_FURTHER = 4


@dataclass(frozen=True, slots=True)
class _Change:
    """A change of one line, its tier and why; `line` is the one that does not parse after it."""

    edit: Edit
    tier: Tier
    why: str
    line: int = 0


def repairs(tree: Tree, path: str, text: str, line: int) -> Iterator[tuple[Edit, int, str]]:
    """Edits after which the file parses, the likeliest first, with how unusual each is and why.

    Where no change of one line is enough, one that gets the parser further is followed by another.
    """
    former = tree.former(path) or b""
    known = {one.strip() for one in former.decode("utf-8", "replace").splitlines()}
    tried = _tried(path, text, line, known)
    found: list[tuple[_Change, ...]] = [(change,) for change in tried if not change.line]
    if not found:
        found = [
            (one, other)
            for one in tried[:_FURTHER]
            for other in _tried(path, editing.splice(text, [one.edit]), one.line, known)
            if not other.line
        ]
    ranked = [(sum(change.tier for change in made), made) for made in found]
    for rarity, made in sorted(ranked, key=lambda item: item[0])[:_MOST]:
        after = text
        for change in made:
            after = editing.splice(after, [change.edit])
        places = [change.edit.target.first_line for change in made]
        first, last = min(places), max(places)
        new = functions.split_lines(after.removeprefix("\ufeff"))[first - 1 : last]
        if target := line_targets.make_target(path, text, first, last):
            yield Edit(target, "".join(new)), rarity, " and ".join(one.why for one in made)


def _tried(path: str, text: str, line: int, known: Collection[str]) -> list[_Change]:
    """Changes of a line or the one before it that get the parser further, the likeliest first."""
    found: dict[str, _Change] = {}
    parsed = 0
    for at in _near(text, line):
        target = line_targets.make_target(path, text, at, at)
        for new, tier, why in _changed(target.source, _margins(text, at)) if target else ():
            if target is None or parsed >= _MOST_PARSED:
                break
            parsed += 1
            rarity = Tier.USUAL if new.strip() in known else tier
            change = Edit(target, new)
            try:
                shape, stuck = ast.dump(guard.parse(editing.splice(text, [change]))), 0
            except editing.EditError:
                continue
            except guard.SourceRejected as error:
                shape, stuck = f"{at}: {new}", getattr(error.__cause__, "lineno", 0) or 0
                if stuck <= line:
                    continue
            if shape not in found or rarity < found[shape].tier:
                found[shape] = _Change(change, rarity, f"{why} in line {at}", stuck)
    return sorted(found.values(), key=lambda change: change.tier)


def _near(text: str, line: int) -> list[int]:
    """The line that the parser names, and the one with code before it."""
    every = functions.split_lines(text)
    before = [n for n in range(1, line) if n <= len(every) and every[n - 1].strip()]
    return [n for n in (line, *before[-1:]) if 0 < n <= len(every)]


def _margins(text: str, line: int) -> set[str]:
    """The indentations of the lines around one, and a step more and less."""
    every = functions.split_lines(text)
    near = [
        functions.find_indentation(one) for one in every[max(0, line - 4) : line + 3] if one.strip()
    ]
    step = "\t" if any(margin.startswith("\t") for margin in near) else "    "
    return {*near, *(margin + step for margin in near), ""}


def _changed(source: str, margins: set[str]) -> Iterator[tuple[str, Tier, str]]:
    """A line with one thing changed."""
    body = source.rstrip("\r\n")
    end = source[len(body) :]
    code = body.partition("  #")[0].rstrip()
    rest = body[len(code) :]
    for mark in _MARKS:
        tier = Tier.RARE if mark in "([{" else Tier.SELDOM
        yield code + mark + rest + end, tier, f"`{mark}` is missing"
    for margin in sorted(margins):
        yield margin + body.lstrip() + end, Tier.SELDOM, "another indentation"
    for match in re.finditer(r"[^\w\s]", body):
        cut = body[: match.start()] + body[match.end() :]
        last = match.end() == len(code) and match[0] in ")]}"
        yield cut + end, Tier.SELDOM if last else Tier.RARE, f"`{match[0]}` is too much"
    for at in [match.start() for match in _PLACES.finditer(code)]:
        for mark in _MARKS:
            yield code[:at] + mark + code[at:] + rest + end, Tier.RARE, f"`{mark}` is missing"
