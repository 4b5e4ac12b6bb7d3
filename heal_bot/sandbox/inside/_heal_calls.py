"""What changed functions do on the arguments that tests call them with, and on others like them."""

from __future__ import annotations

import contextlib
import copy
import gc
import hashlib
import inspect
import itertools
import json
import os
import random
import re
import select
import signal
import sys
import time
import types

import _heal_swap

_RECORDED = 40
_VARIED = 200
# Seconds of processor time and of the clock that a call may take.
_WORK, _WAIT = 0.1, 1.0
_NODES = 400
_TEXT = 100
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
_PLAIN = (int, float, complex, str, bytes, bool, type(None))
_CONTAINERS = (list, tuple, dict, set, frozenset)
_CHUNK = 40


class Late(BaseException):
    """A call took too long; no `except Exception` stops it."""


class Recorder:
    """A profile function that keeps copies of the arguments some code objects are called with."""

    def __init__(self, codes):
        self.codes = codes
        self.calls = []
        self.seen = set()
        self.busy = False

    def __call__(self, frame, event, arg):
        if event != "call" or self.busy or frame.f_code not in self.codes:
            return
        if len(self.calls) >= _RECORDED * len(self.codes):
            return
        self.busy = True
        try:
            self._keep(frame)
        finally:
            self.busy = False

    def _keep(self, frame):
        code = frame.f_code
        values = inspect.getargvalues(frame)
        try:
            plain = [values.locals[name] for name in values.args]
            plain += values.locals[values.varargs] if values.varargs else ()
            named = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
            keyed = {name: values.locals[name] for name in named}
            keyed.update(values.locals[values.keywords] if values.keywords else {})
            # Only the positional names come first in `args`; keyword-only ones follow them.
            plain = plain[: code.co_argcount] + plain[len(values.args) :]
            mark = self.codes[code], digest((plain, keyed))
            if mark not in self.seen and self._has_room(code):
                kept = copy.deepcopy((plain, keyed))
                self.seen.add(mark)
                self.calls.append((self.codes[code], kept))
        except BaseException:
            # What cannot be read or copied is no call to repeat.
            return

    def _has_room(self, code):
        return sum(where == self.codes[code] for where, _ in self.calls) < _RECORDED


def serve(rerun, swapper, order, records):
    """Record the calls that the tests make, and tell what each candidate does on them.

    The first candidate is known to pass the tests, so they are run with it: unchanged they may
    hang. Row 0 is what the code unchanged does.
    """
    candidates = order["candidates"]
    places = {}
    for edit in itertools.chain.from_iterable(candidates):
        place = swapper.prepare(edit)
        if not isinstance(place, _heal_swap.Unsound):
            places.setdefault((place.filename, place.outer_first), place)
    roots = [place.roots[0][0] for place in places.values()]
    recorded = _recorded(rerun, swapper, candidates[0], roots)
    calls = recorded + others(recorded, order["seed"])
    for at in range(0, len(calls), _CHUNK):
        told = [described(roots, call) for call in calls[at : at + _CHUNK]]
        records.send("calls", v=told, recorded=len(recorded))
    gc.freeze()
    for number, edits in enumerate([[], *candidates]):
        found = _forked(
            lambda edits=edits: observed(swapper, edits, roots, calls, order["each"]), order["each"]
        )
        records.send("observed", i=number, v=found)


def _recorded(rerun, swapper, edits, roots):
    """The calls of the roots in the tests, with some edits in place for that time."""
    before = [
        (function, function.__code__, function.__defaults__, function.__kwdefaults__)
        for by_code in swapper.functions.values()
        for functions in by_code.values()
        for function in functions
    ]
    try:
        swapper.apply(edits)
    except (_heal_swap.Unsound, _heal_swap.Rejected):
        return []
    recorder = Recorder({root.__code__: at for at, root in enumerate(roots)})
    sys.setprofile(recorder)
    try:
        rerun()
    finally:
        sys.setprofile(None)
        for function, code, defaults, keyed in before:
            if function.__code__ is not code or function.__defaults__ is not defaults:
                function.__code__, function.__defaults__ = code, defaults
                function.__kwdefaults__ = keyed
    return recorder.calls


def others(calls, seed):
    """Calls with one argument changed a little; the seed decides which."""
    rng = random.Random(seed)
    made = []
    seen = {digest(call) for call in calls}
    for _ in range(6 * _VARIED):
        if len(made) >= _VARIED or not calls:
            break
        where, (plain, keyed) = rng.choice(calls)
        places = [*range(len(plain)), *keyed]
        if not places:
            continue
        place = rng.choice(places)
        old = keyed[place] if place in keyed else plain[place]
        try:
            new = varied(copy.deepcopy(old), rng)
            call = where, copy.deepcopy((plain, keyed))
        except BaseException:
            continue
        if place in keyed:
            call[1][1][place] = new
        else:
            call[1][0][place] = new
        mark = digest(call)
        if mark not in seen:
            seen.add(mark)
            made.append(call)
    return made


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
    if kind in (list, tuple) and depth < 3:
        return kind(_varied_list(list(value), rng, depth))
    if kind is dict and value and depth < 3:
        key = rng.choice(list(value))
        if rng.random() < 0.4:
            del value[key]
        else:
            value[key] = varied(value[key], rng, depth + 1)
    elif kind in (set, frozenset) and value:
        return kind(itertools.islice(value, rng.randrange(len(value))))
    elif depth < 4 and isinstance(getattr(value, "__dict__", None), dict):
        _vary_attribute(value, rng, depth)
    return value


def _vary_attribute(value, rng, depth):
    """Change one attribute: a plain one a little, a link to another object by cutting or skipping."""
    if isinstance(value, (type, types.ModuleType, types.FunctionType)):
        return
    parts = vars(value)
    plain = [n for n, part in parts.items() if part and isinstance(part, (*_PLAIN, *_CONTAINERS))]
    links = [n for n, part in parts.items() if type(part) is type(value)]
    names = plain + 3 * links
    if not names:
        return
    name = rng.choice(names)
    how = rng.randrange(6) if name in links else 3
    if how == 0:
        parts[name] = None
    elif how == 1:
        parts[name] = vars(parts[name]).get(name)
    elif how == 2:
        parts[name] = value
    else:
        parts[name] = varied(parts[name], rng, depth + 1)


def _varied_text(value, rng):
    if not value:
        return value + (b"a" if isinstance(value, bytes) else rng.choice("a 1"))
    at = rng.randrange(len(value))
    changes = (
        value[:at] + value[at + 1 :],
        value[:at] + value[at : at + 1] + value[at:],
        value[::-1],
        value.swapcase(),
        value[:at],
        value + value[:1],
        value[:0],
        value[:at] + (b" " if isinstance(value, bytes) else " ") + value[at:],
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


def described(roots, call):
    """A call as a person writes it, clipped."""
    where, (plain, keyed) = call
    parts = [_text(value) for value in plain]
    parts += ["%s=%s" % (name, _text(value)) for name, value in keyed.items()]
    return ("%s(%s)" % (roots[where].__name__, ", ".join(parts)))[: 2 * _TEXT]


def _text(value):
    try:
        text = _ADDRESS.sub("", repr(value))
    except BaseException:
        text = "<%s>" % type(value).__name__
    return text if len(text) <= _TEXT else text[: _TEXT - 1] + "\u2026"


def observed(swapper, edits, roots, calls, seconds):
    """[how, type, text, digest] per call with the edits in place; [] where they do not go in."""
    try:
        swapper.apply(edits)
    except (_heal_swap.Unsound, _heal_swap.Rejected):
        return []
    for number in (signal.SIGALRM, signal.SIGVTALRM):
        signal.signal(number, _ring)
    found = []
    ends = time.monotonic() + 0.8 * seconds
    for where, arguments in calls:
        try:
            if time.monotonic() > ends:
                raise Late
            plain, keyed = copy.deepcopy(arguments)
        except BaseException:
            found.append(["skipped", "", "", ""])
            continue
        random.seed(0)
        try:
            found.append(_called(roots[where], plain, keyed))
        except Late:
            # The bell rang after the call had ended, and before it was silenced.
            _silence()
            found.append(["skipped", "", "", ""])
    return found


def _ring(number, frame):
    raise Late


def _silence():
    signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    signal.setitimer(signal.ITIMER_REAL, 0)


def _called(function, plain, keyed):
    """One call: result or exception, with the arguments as it left them in the digest."""
    signal.setitimer(signal.ITIMER_VIRTUAL, _WORK, _WORK)
    signal.setitimer(signal.ITIMER_REAL, _WAIT, _WAIT)
    try:
        value = function(*plain, **keyed)
        if isinstance(value, types.GeneratorType):
            value = list(itertools.islice(value, 1000))
        if isinstance(value, types.CoroutineType):
            value.close()
            return ["skipped", "", "", ""]
        told = "returned", type(value).__name__, _text(value)
    except Late:
        told, value = ("late", "", ""), None
    except (KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as error:
        told, value = ("raised", type(error).__name__, _text(error)), None
    finally:
        _silence()
    return [*told, digest((told[:2], value, plain, keyed))]


def digest(value):
    """A short text that equal values share: type and content, without addresses."""
    return hashlib.sha1(repr(_shape(value, {}, 0)).encode("utf-8", "replace")).hexdigest()[:12]


def _shape(value, seen, depth):
    kind = type(value)
    if kind in _PLAIN:
        return kind.__name__, repr(value)
    if id(value) in seen:
        return kind.__name__, seen[id(value)]
    if len(seen) > _NODES or depth > 8:
        return kind.__name__
    seen[id(value)] = len(seen)
    # A value that is made for the moment must live as long as its id is remembered.
    if kind in (list, tuple):
        return kind.__name__, [_shape(part, seen, depth + 1) for part in value]
    if kind in (set, frozenset):
        return kind.__name__, sorted(repr(_shape(part, {}, depth + 1)) for part in value)
    if isinstance(value, dict):
        rows = [(_shape(k, seen, depth + 1), _shape(v, seen, depth + 1)) for k, v in value.items()]
        return kind.__name__, rows
    if isinstance(value, (type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType)):
        return kind.__name__, getattr(value, "__qualname__", getattr(value, "__name__", ""))
    if isinstance(value, types.MethodType):
        return kind.__name__, value.__func__.__qualname__
    inside = getattr(value, "__dict__", None)
    if isinstance(inside, dict) and inside:
        parts = [(name, _shape(part, seen, depth + 1)) for name, part in sorted(inside.items())]
        return kind.__name__, parts
    return kind.__name__, _text(value)


def _forked(work, seconds):
    """The result of `work` in a child that is ended after some seconds; [] when it says nothing."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(read)
        try:
            with os.fdopen(write, "w", encoding="utf-8") as told:
                json.dump(work(), told)
        finally:
            os._exit(0)
    os.close(write)
    ends, parts = time.monotonic() + seconds, []
    while time.monotonic() < ends:
        if select.select([read], [], [], max(0.0, ends - time.monotonic()))[0]:
            part = os.read(read, 1 << 16)
            if not part:
                break
            parts.append(part)
    os.close(read)
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    try:
        return json.loads(b"".join(parts))
    except ValueError:
        return []
