"""How much less a change is to be believed, once it passes, than its cost says.

What a change adds can fit the failing tests by accident: a sum with `+ 1` after it passes a single
assertion as well as the whole list does. So can what takes a name out of use: a recursion that is
not entered any more raises nothing. A value that the test expects, written into the code, passes
that test whatever the code is for.
"""

from __future__ import annotations

import ast
import re
import textwrap
from functools import lru_cache

from heal_bot.repair.templates.failure_hints import literals
from heal_bot.repair.templates.priced_enumeration import Idea
from heal_bot.repair.templates.target_ast import TargetAst
from heal_bot.repair.templates.text_edits import Mutation, TextEdit
from heal_bot.source.definitions import Function

_PER_CHARACTER = 0.06
_MOST, _LEAST = 12, -6
_FITTED = 1.5
_FAR = 0.7
# Parameters and functions inside were meant more surely than other names.
_LOST, _LOST_PARAMETER = 0.7, 1.5
# A parameter that is given another value at once: what callers pass does not matter any more.
_OVERWRITTEN = 1.5
# A name that nothing reads was meant for something.
_FOUND = 0.7
# Where a constant takes the place of another one, an expected value may well be the right one.
_CONSTANTS = {"number": 0.3, "text": 0.3, "boolean constant": 0.0}
_COMMON = (0, 1, -1, True, False, None, "")
_NAME = re.compile(r"[^\W\d]\w*")
_STRING = re.compile(r"\"[^\"\n]*\"|'[^'\n]*'")


def overfit_cost(idea: Idea) -> float:
    """A number to add to the cost, negative for changes that only take away."""
    growth = sum(len(cut.text) - (cut.end - cut.start) for cut in idea.change.cuts)
    size = _PER_CHARACTER * max(_LEAST, min(_MOST, growth))
    fitted = _CONSTANTS.get(idea.family.name, _FITTED) if _is_fitted(idea) else 0.0
    if fitted and idea.family.name == "number" and not _is_near(idea.change):
        fitted += _FAR
    site, change = idea.scope.site, idea.change
    found = idea.family.doubt + size + fitted + _lost(site, change) + _overwritten(site, change)
    return found - (_FOUND if _uses_idle(idea) else 0.0)


def _uses_idle(idea: Idea) -> bool:
    """Whether a change gives a use to a parameter or a local name that had none."""
    names = idea.scope.idle
    return any(names & _names(cut.text.encode()) for cut in idea.change.cuts) if names else False


def _is_near(change: Mutation) -> bool:
    """Whether a number becomes one beside it, as slips of the finger and of counting have it."""
    words = [literals(quoted) for quoted in re.findall(r"`([^`]*)`", change.why)[:2]]
    match words:
        case [[int() | float() as old], [int() | float() as new]]:
            return abs(new - old) <= 1
    return False


def _is_fitted(idea: Idea) -> bool:
    """Whether a change writes a value that the tests show, and that the code did not have."""
    shown = [value for value in idea.scope.evidence.constants if value not in _COMMON]
    if not shown:
        return False
    known = _written(idea.scope.site.source)
    new = [v for cut in idea.change.cuts for v in literals(cut.text) if (type(v), v) not in known]
    return any(type(value) is type(other) and value == other for value in new for other in shown)


@lru_cache(maxsize=64)
def _written(source: bytes) -> frozenset[tuple[type, object]]:
    """The literals of a source, with their types."""
    return frozenset((type(value), value) for value in literals(source.decode()))


def _lost(site: TargetAst, change: Mutation) -> float:
    """What the names cost that the body does not use any more."""
    function = site.function
    begin = site.start(function.body[0]) if function is not None else 0
    old = _names(b" ".join(site.source[cut.start : cut.end] for cut in change.cuts))
    if not old:
        return 0.0
    kept: set[str] = set()
    at = begin
    for cut in sorted(change.cuts, key=lambda cut: cut.start):
        kept |= _names(site.source[at : cut.start]) | _names(cut.text.encode())
        at = max(at, cut.end)
    lost = old - kept - _names(site.source[at:]) | _abandoned(site, change, old)
    if function is None or not lost:
        return _LOST * len(lost)
    dear = _parameters(function) | {s.name for s in site.statements if isinstance(s, Function)}
    return sum(_LOST_PARAMETER if name in dear else _LOST for name in lost)


def _abandoned(site: TargetAst, change: Mutation, old: set[str]) -> set[str]:
    """The functions inside that nothing but themselves names any more."""
    said = {name for cut in change.cuts for name in _names(cut.text.encode())}
    gone = [(cut.start, cut.end) for cut in change.cuts]
    inner = [s for s in site.statements if isinstance(s, Function) and s.name in old - said]
    return {
        s.name for s in inner if s.name not in _left(site, [*gone, (site.start(s), site.end(s))])
    }


def _left(site: TargetAst, gone: list[tuple[int, int]]) -> set[str]:
    """The names in the source without some spans of it."""
    rest = bytearray(site.source)
    for start, end in gone:
        rest[start:end] = b" " * (end - start)
    return _names(bytes(rest))


def _parameters(function: Function) -> set[str]:
    spec = function.args
    return {a.arg for a in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs)}


def _overwritten(site: TargetAst, change: Mutation) -> float:
    """What a new statement costs that sets a parameter to something without it."""
    if site.function is None or not any(cut.start == cut.end for cut in change.cuts):
        return 0.0
    parameters = _parameters(site.function)
    added = (name for cut in change.cuts for name in _set(cut))
    return _OVERWRITTEN if any(name in parameters for name in added) else 0.0


def _set(cut: TextEdit) -> list[str]:
    """The names that an inserted statement sets, whatever they were before."""
    if cut.start != cut.end or "=" not in cut.text:
        return []
    try:
        body = ast.parse(textwrap.dedent(cut.text)).body
    except SyntaxError:
        return []
    return [
        target.id
        for statement in body
        if isinstance(statement, ast.Assign)
        for target in statement.targets
        if isinstance(target, ast.Name)
        and target.id not in {n.id for n in ast.walk(statement.value) if isinstance(n, ast.Name)}
    ]


def _names(source: bytes) -> set[str]:
    """The words of a source, texts left out."""
    return set(_NAME.findall(_STRING.sub("", source.decode(errors="replace"))))
