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
    """Assignments of other project modules that the function's file imports by name."""
    top = max(lines.values(), default=0.0)
    aliases = risks.aliases(edit.text_of(places.tree, target.path))
    for name, dotted in aliases.items():
        module, _, original = dotted.rpartition(".")
        if name not in mentioned or not module.strip("."):
            continue
        suffix = module.strip(".").replace(".", "/")
        for path in places.project():
            stem = path.removesuffix(".py").removesuffix("/__init__")
            if stem != suffix and not stem.endswith(f"/{suffix}"):
                continue
            for entry in places.entries(path):
                if entry.target.kind == "assignment" and original in entry.names:
                    yield entry.target, _SHARE * _relative(target, (name,), lines, top)


def _relative(
    target: Target, names: tuple[str, ...], lines: Mapping[int, float], top: float
) -> float:
    """The suspicion of the lines that mention a name, as a share of the highest; 1 without any."""
    if not top:
        return 1.0
    mention = re.compile(rf"\b(?:{'|'.join(map(re.escape, names))})\b")
    numbered = enumerate(functions.lines(target.source), target.first_line)
    return max((lines.get(n, 0.0) / top for n, text in numbered if mention.search(text)), default=0)
