"""Import-time code as suspects: the tables, attributes and defaults a function depends on."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from heal_bot.locate import clues
from heal_bot.locate.places import Places
from heal_bot.model import Target
from heal_bot.source import edit, functions, risks

# How many of the likeliest functions are followed to what they use.
MAX_USERS = 5
# A constant ranks behind the function that uses it: of two explanations the code that ran in the
# failing tests is the likelier one.
_SHARE = 0.6
_DEFAULT_SHARE = 0.5


def used(
    target: Target, lines: Mapping[int, float], places: Places
) -> Iterator[tuple[Target, float]]:
    """What a function depends on, each with the share of the function's score it deserves.

    Assignments and class attributes count by the suspicion of the lines that mention them,
    relative to the function's highest.
    """
    if target.kind != "function":
        return
    top = max(lines.values(), default=0.0)
    mentioned = clues.names(target)
    for entry in places.entries(target.path):
        one = entry.target
        if one.kind == "default":
            if one.qualname.rpartition(".")[0] == target.qualname and _inside(one, target):
                yield one, _DEFAULT_SHARE
        elif one.kind != "function" and mentioned.intersection(entry.names):
            yield one, _SHARE * _relative(target, entry.names, lines, top)
    yield from _imported(target, mentioned, lines, places)


def _inside(one: Target, target: Target) -> bool:
    return target.first_line <= one.first_line <= target.last_line


def _imported(
    target: Target, mentioned: frozenset[str], lines: Mapping[int, float], places: Places
) -> Iterator[tuple[Target, float]]:
    """What stands in other project modules and the function's file imports, by name or as `m.X`.

    A class attribute counts where its class is mentioned as well.
    """
    top = max(lines.values(), default=0.0)
    project = places.project()
    for name, dotted in risks.aliases(edit.text_of(places.tree, target.path)).items():
        if name not in mentioned:
            continue
        module, _, original = dotted.rpartition(".")
        for path in project:
            shown: tuple[str, ...] = ()
            if _is_module(path, dotted):
                wanted = mentioned
            elif _is_module(path, module):
                shown, wanted = (name,), frozenset({original})
            else:
                continue
            for entry in places.entries(path):
                if _is_meant(entry, wanted, mentioned):
                    names = shown or entry.names
                    yield entry.target, _SHARE * _relative(target, names, lines, top)


def _is_module(path: str, dotted: str) -> bool:
    """Whether a file is the module of a dotted name, wherever the import path begins."""
    suffix = dotted.strip(".").replace(".", "/")
    stem = path.removesuffix(".py").removesuffix("/__init__")
    return bool(suffix) and (stem == suffix or stem.endswith(f"/{suffix}"))


def _is_meant(entry: functions.Entry, wanted: frozenset[str], mentioned: frozenset[str]) -> bool:
    """Whether an assignment is wanted, or an attribute mentioned whose class is."""
    if entry.target.kind == "assignment":
        return not wanted.isdisjoint(entry.names)
    owner = entry.target.qualname.partition(".")[0]
    of_class = entry.target.kind == "class_attribute" and owner in wanted
    return of_class and not mentioned.isdisjoint(entry.names)


def _relative(
    target: Target, names: tuple[str, ...], lines: Mapping[int, float], top: float
) -> float:
    """The suspicion of the lines that mention a name, as a share of the highest; 1 without any."""
    if not top:
        return 1.0
    mention = re.compile(rf"\b(?:{'|'.join(map(re.escape, names))})\b")
    numbered = enumerate(functions.lines(target.source), target.first_line)
    return max((lines.get(n, 0.0) / top for n, text in numbered if mention.search(text)), default=0)
