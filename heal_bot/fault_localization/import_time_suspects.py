"""Import-time code as suspects: tables, attributes and defaults, and the functions that make them.

No test is seen to execute these functions: they ran when their module was imported.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from heal_bot.core.model import Target
from heal_bot.source.name_resolution import Symbol
from heal_bot.source.references import CLASS, References

# How many of the likeliest functions are followed to what they use.
MAX_USERS = 5
# A constant ranks behind the function that uses it: of two explanations the code that ran in the
# failing tests is the likelier one.
_SHARE = 0.6
_DEFAULT_SHARE = 0.5
# How many assignments may stand between a function and the value that it uses.
_STEPS = 3


def find_used(
    target: Target, lines: Mapping[int, float], references: References
) -> Iterator[tuple[Target, float]]:
    """What a function depends on, each with the share of the function's score it deserves.

    That share is counted by the suspicion of the lines that mention it, relative to the function's
    highest, and shrinks with each assignment in between.
    """
    if target.kind != "function":
        return
    for one in references.targets(target.path):
        inside = target.first_line <= one.first_line <= target.last_line
        if one.kind == "default" and one.qualname.rpartition(".")[0] == target.qualname and inside:
            yield one, _DEFAULT_SHARE
    top, begin = max(lines.values(), default=0.0), min(lines, default=0)
    level: dict[Symbol, float] = {}
    for symbol, line in references.mentions(target):
        # What stands above the first line that ran is a default argument or a decorator.
        part = lines.get(line, 0.0) / top if top and line >= begin else 1.0
        level[symbol] = max(level.get(symbol, 0.0), part)
    known, called = set[Symbol](), set[Symbol]()
    share = 1.0
    for _ in range(_STEPS):
        share *= _SHARE
        values = {
            one: part for s, part in level.items() for one in _find_assignments(s, references)
        }
        yield from ((one, share * part) for one, part in values.items())
        for symbol in (symbol for symbol in level if symbol in called):
            yield from ((one, share * level[symbol]) for one in find_called(symbol, references))
        known.update(level)
        inner = {s: part for one, part in values.items() for s in references.uses(one)}
        level = {symbol: part for symbol, part in inner.items() if symbol not in known}
        called = set(level)


def _find_assignments(symbol: Symbol, references: References) -> Iterator[Target]:
    """The assignments or class attributes of a name."""
    owner, _, name = symbol.qualname.rpartition(".")
    for one in references.entries(symbol.path):
        if name in one.names and one.target.qualname.rpartition(".")[0] == owner:
            yield one.target


def find_called(symbol: Symbol, references: References) -> Iterator[Target]:
    """The function that runs when a name is called: of a class, what makes an instance."""
    kinds = {one.kind for one in references.definitions(symbol)}
    made = references.names.member(symbol, "__init__") if CLASS in kinds else symbol
    for one in references.targets(made.path) if made else ():
        if made and one.qualname == made.qualname and one.kind == "function":
            yield one
