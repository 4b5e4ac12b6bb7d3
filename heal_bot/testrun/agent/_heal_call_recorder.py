"""The arguments that some functions, and those defined inside them, are called with."""

from __future__ import annotations

import copy
import inspect
import sys
import types
from dis import opname

import _heal_canonical_repr
import _heal_code_pairs
import _heal_input_mutator

_RECORDED = 40
_GREEN = 10
# Generators and coroutines give something back more than once.
_MANY = (
    inspect.CO_GENERATOR
    | inspect.CO_COROUTINE
    | inspect.CO_ITERABLE_COROUTINE
    | inspect.CO_ASYNC_GENERATOR
)
# Calls kept of a function inside: as many, and as many like them, are made of each returned one.
_INNER = 8


class Recorder:
    """A profile function that keeps copies of the arguments some functions are called with.

    `calls` holds (number of the function, arguments), `inner` the arguments of the functions
    inside it by their number and name; `worked` are those in `calls`, by their place, that tests
    make which pass without any change, with the text of what came of them there, the last `alone`
    those that no other test makes. `returned` are the places of those that ended well in tests
    that fail unchanged. Where it has all that it keeps it takes itself out: of a function that
    calls itself a million times each further call would be looked at.
    """

    def __init__(self, functions):
        self.look_at(functions)
        self.calls = []
        self.inner = {}
        self.seen = {}
        self.worked = {}
        self.returned = set()
        self.alone = 0
        self.open = {}
        self.green = False
        self.busy = False
        self.rooms = dict.fromkeys(self.codes.values(), _RECORDED)
        self.rooms.update(dict.fromkeys(self.inside.values(), _INNER))

    @property
    def full(self):
        """Whether no call is kept any more."""
        return not self.rooms

    def look_at(self, functions):
        """Know the functions by the code that they have now."""
        self.codes = {function.__code__: at for at, function in enumerate(functions)}
        self.inside = {
            code: (at, code.co_name)
            for outer, at in self.codes.items()
            for code in _heal_code_pairs.descendants(outer)
            if code.co_name[0] != "<" or code.co_name == "<lambda>"
        }

    def begin_green(self, functions):
        """From now on tests run that pass unchanged, and the functions are as they were.

        There is room for their calls, where those that fail took all of it.
        """
        self.green = True
        self.open.clear()
        self.look_at(functions)
        for key in self.codes.values():
            self.rooms[key] = max(self.rooms.get(key, 0), _GREEN)
        sys.setprofile(self)

    def used(self, seed):
        """The calls to make of a returned function, by its number and name."""
        made = {}
        for key, some in self.inner.items():
            calls = [(key, given) for given in some]
            calls += _heal_input_mutator.others(calls, seed)[:_INNER]
            made[key] = [given for _, given in calls]
        return made

    def __call__(self, frame, event, arg):
        if event == "return" and frame in self.open:
            self._end(frame, arg)
        if event != "call" or self.busy:
            return
        code = frame.f_code
        key = self.codes.get(code, self.inside.get(code))
        if key not in self.rooms:
            return
        self._keep(frame, key)
        if not self.rooms:
            self.open.clear()
            sys.setprofile(None)

    def _end(self, frame, value):
        # What an exception leaves looks like a None that is returned, but for the instruction.
        well = opname[frame.f_code.co_code[frame.f_lasti]].startswith("RETURN")
        many = frame.f_code.co_flags & _MANY
        at = self.open[frame] if many and not well else self.open.pop(frame)
        if well and not self.green:
            self.returned.add(at)
        if self.green and not many:
            self.busy = True
            self.worked[at] = _told(value)
            self.busy = False

    def _keep(self, frame, key):
        self.busy = True
        try:
            given = _arguments(frame)
            mark = key, _heal_canonical_repr.digest(given)
            if mark not in self.seen:
                kept = copy.deepcopy(given)
                self.seen[mark] = len(self.calls)
                self._take(key, kept)
            if type(key) is int:
                self.open[frame] = self.seen[mark]
                if self.green:
                    self.worked.setdefault(self.seen[mark], "")
        except BaseException:
            # What cannot be read or copied is no call to repeat.
            return
        finally:
            self.busy = False

    def _take(self, key, kept):
        if type(key) is int:
            self.calls.append((key, kept))
            self.alone += self.green
        else:
            self.inner.setdefault(key, []).append(kept)
        self.rooms[key] -= 1
        if not self.rooms[key]:
            del self.rooms[key]


def _told(value):
    """A result as text; '' for one that is called or read before it is told."""
    late = isinstance(value, types.FunctionType) or hasattr(type(value), "__next__")
    return "" if late else _heal_canonical_repr.text(value)


def _arguments(frame):
    """Positional arguments as a list, the others as a dictionary."""
    code = frame.f_code
    values = inspect.getargvalues(frame)
    plain = [values.locals[name] for name in values.args]
    # Only the positional names come first in `args`; keyword-only ones follow them.
    plain = plain[: code.co_argcount]
    plain += values.locals[values.varargs] if values.varargs else ()
    named = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
    keyed = {name: values.locals[name] for name in named}
    keyed.update(values.locals[values.keywords] if values.keywords else {})
    return plain, keyed
