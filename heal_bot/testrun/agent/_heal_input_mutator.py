"""Calls like those of the tests: one argument is changed a little, or made to meet another one."""

from __future__ import annotations

import copy
import itertools
import sys
import types

import _heal_canonical_repr
from _heal_pristine_stdlib import random

_MADE = 200
_DEPTH = 4
_LETTERS = "a1 -_.,Z\n"


def others(calls, seed, over=lambda: False):
    """Up to 200 calls like the given ones; the seed decides which. None is made once it is over."""
    rng = random.Random(seed)
    made = []
    seen = {_heal_canonical_repr.digest(call) for call in calls}
    for _ in range(6 * _MADE):
        if len(made) >= _MADE or not calls or over():
            break
        try:
            call = _like(rng.choice(calls), rng)
            mark = _heal_canonical_repr.digest(call)
        except BaseException:
            # What cannot be copied or changed is no call to make.
            continue
        if mark not in seen:
            seen.add(mark)
            made.append(call)
    return made


def _like(call, rng):
    where, (plain, keyed) = copy.deepcopy(call)
    arguments = dict(enumerate(plain)) | keyed
    place = rng.choice(list(arguments))
    rest = [value for name, value in arguments.items() if name != place]
    for _ in range(rng.choice((1, 1, 2))):
        arguments[place] = _changed(arguments[place], rest, rng)
    plain[:] = [arguments[at] for at in range(len(plain))]
    keyed.update({name: arguments[name] for name in keyed})
    return where, (plain, keyed)


def _changed(value, rest, rng):
    """A neighbour of a value, or the value of another argument: equal ones meet the borders."""
    kinds = (*_heal_canonical_repr.PLAIN, *_times())
    alike = [other for other in rest if type(other) is type(value) in kinds]
    if alike and rng.random() < 0.2:
        return rng.choice(alike)
    return varied(value, rng)


def varied(value, rng, depth=0):
    """A value of the same type near the given one; itself where no neighbour is known."""
    kind = type(value)
    if kind is bool:
        return not value
    if kind is int:
        return rng.choice((value + 1, value - 1, 0, 2 * value, -value, value + rng.randint(-9, 9)))
    if kind is float:
        return rng.choice((value + 1, value / 2, -value, 0.0, value + rng.random()))
    if kind in (str, bytes):
        return _varied_text(value, rng)
    if kind in _times():
        return _varied_time(value, rng)
    if kind in (list, tuple) and depth < _DEPTH - 1:
        return kind(_varied_list(list(value), rng, depth))
    if kind is dict and value and depth < _DEPTH - 1:
        _vary_item(value, rng, depth)
    elif kind in (set, frozenset) and value:
        return kind(itertools.islice(value, rng.randrange(len(value))))
    elif depth < _DEPTH and not isinstance(value, (type, types.ModuleType, types.FunctionType)):
        _vary_attribute(value, rng, depth)
    return value


def _times():
    """The types of dates and spans, where the code under test knows of them."""
    known = sys.modules.get("datetime")
    return (known.date, known.datetime, known.timedelta) if known else ()


def _varied_time(value, rng):
    days = rng.choice((1, -1, 7, 30, 365, rng.randint(-40, 40)))
    hours = rng.choice((0, 0, 0, 1, -1))
    return value + sys.modules["datetime"].timedelta(days=days, hours=hours)


def _vary_item(value, rng, depth):
    key = rng.choice(list(value))
    how = rng.random()
    if how < 0.35:
        del value[key]
    elif how < 0.5:
        value[key] = None
    else:
        value[key] = varied(value[key], rng, depth + 1)


def _vary_attribute(value, rng, depth):
    """Change one attribute: a plain one a little, a link to an object by cutting or skipping."""
    parts = _heal_canonical_repr.parts(value)
    known = (*_heal_canonical_repr.PLAIN, list, tuple, dict, set, frozenset)
    plain = [n for n, part in parts.items() if part and isinstance(part, known)]
    links = [n for n, part in parts.items() if type(part) is type(value)]
    names = plain + 3 * links
    if not names:
        return
    name = rng.choice(names)
    how = rng.randrange(6) if name in links else 3
    if how == 0:
        new = None
    elif how == 1:
        new = _heal_canonical_repr.parts(parts[name]).get(name)
    elif how == 2:
        new = value
    else:
        new = varied(parts[name], rng, depth + 1)
    object.__setattr__(value, name, new)


def _varied_text(value, rng):
    letter = rng.choice(_LETTERS)
    if isinstance(value, bytes):
        letter = letter.encode()
    at = rng.randrange(len(value) + 1)
    changes = (
        value[:at] + value[at + 1 :],
        value[:at] + value[at : at + 1] + value[at:],
        value[::-1],
        value.swapcase(),
        value[:at],
        value + value[:1],
        value[:0],
        value[:at] + letter + value[at:],
        value[:at] + letter + value[at + 1 :],
    )
    return rng.choice(changes)


def _varied_list(value, rng, depth):
    if not value:
        return value
    at = rng.randrange(len(value))
    how = rng.randrange(6)
    if how == 0:
        return value[:at] + value[at + 1 :]
    if how == 1:
        return value + [copy.deepcopy(value[at])]
    if how == 2:
        return value[::-1]
    if how == 3:
        return value[:at]
    if how == 4 and len(value) > 1:
        return [*value[:at], *value[at + 1 :], value[at]]
    return [*value[:at], varied(copy.deepcopy(value[at]), rng, depth + 1), *value[at + 1 :]]
