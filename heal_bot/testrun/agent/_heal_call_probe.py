"""What changed functions do on the arguments that tests call them with, and on others like them.

Where a function returns one that is defined inside it, the results of that one count: it is called
on what the tests gave to it. Coroutines are awaited and iterators read.
"""

from __future__ import annotations

import copy
import functools
import gc
import itertools
import sys
import types

import _heal_call_recorder
import _heal_canonical_repr
import _heal_code_pairs
import _heal_doctest_examples
import _heal_fork_batches
import _heal_hot_swap
import _heal_input_mutator
import _heal_time_limit
from _heal_pristine_stdlib import random, time

# Seconds of processor time and of the clock that a call may take.
_WORK, _WAIT = 0.1, 1.0
# After so many calls of one candidate that took too long the rest is taken to do so too.
_LATE = 8
_ENDLESS = ["late", "", "", "endless", "", False]
_SKIPPED = ["skipped", "", "", "", "", False]
_READ = 1000
_CHUNK = 40


def serve(rerun, swapper, state, order, records):
    """Record the calls that the tests make, and tell what each candidate does on them.

    The first candidate is known to pass the tests, so those that fail are run with it: unchanged
    they may hang. Row 0 is what the code unchanged does. After the calls come the examples of
    docstrings.
    """
    candidates = order["candidates"]
    places = {}
    for edit in itertools.chain.from_iterable(candidates):
        place = swapper.prepare(edit)
        if not isinstance(place, _heal_hot_swap.Unsound):
            places.setdefault((place.filename, place.outer_first), place)
    roots = [place.roots[0][0] for place in places.values()]
    recorder = _recorded(rerun, swapper, candidates[0], roots)
    state.restore()
    recorded = recorder.calls
    calls = recorded + _heal_input_mutator.others(recorded, order["seed"])
    used = recorder.used(order["seed"])
    worked = sorted(recorder.worked.items())
    known = {
        "recorded": len(recorded),
        "green": recorder.alone,
        "worked": worked,
        "returned": sorted(recorder.returned),
    }
    for at in range(0, len(calls), _CHUNK):
        told = [described(roots, call) for call in calls[at : at + _CHUNK]]
        records.send("calls", v=told, examples=0, **known)
    examples = _heal_doctest_examples.of(roots)
    shown = _heal_doctest_examples.described(examples)
    for at in range(0, len(shown), _CHUNK):
        told = shown[at : at + _CHUNK]
        records.send("calls", v=told, examples=len(told), **known)
    gc.freeze()

    def told_of(edits):
        began = time.monotonic()
        try:
            swapper.apply(edits)
        except (_heal_hot_swap.Unsound, _heal_hot_swap.Rejected):
            return []
        state.accept()
        done = observed(roots, used, calls, began + 0.8 * order["each"], state.renew)
        return done + _heal_doctest_examples.held(examples, began + 0.9 * order["each"])

    jobs = [functools.partial(told_of, edits) for edits in [[], *candidates]]
    for number, found in _heal_fork_batches.results(jobs, order["each"], order["width"]):
        records.send("observed", i=number, v=found)


def _recorded(rerun, swapper, edits, roots):
    """The calls of the roots in the tests: those that fail run with some edits in place."""
    try:
        undo = swapper.apply(edits)
    except (_heal_hot_swap.Unsound, _heal_hot_swap.Rejected):
        return _heal_call_recorder.Recorder(roots)
    recorder = _heal_call_recorder.Recorder(roots)

    def enough(green):
        if green and not recorder.green:
            _heal_hot_swap.put_back(undo)
            recorder.begin_green(roots)
        return recorder.full

    sys.setprofile(recorder)
    try:
        rerun(enough)
    finally:
        sys.setprofile(None)
        recorder.open.clear()
        _heal_hot_swap.put_back(undo)
    return recorder


def described(roots, call):
    """A call as a person writes it, clipped."""
    where, (plain, keyed) = call
    parts = [_heal_canonical_repr.text(value) for value in plain]
    parts += ["%s=%s" % (name, _heal_canonical_repr.text(value)) for name, value in keyed.items()]
    return ("%s(%s)" % (roots[where].__name__, ", ".join(parts)))[: 2 * _heal_canonical_repr.TEXT]


def observed(roots, used, calls, ends, renew):
    """[how, type, text, digest, digest of the result alone, arguments kept] per call.

    It goes on as far as the time goes; `renew` undoes what a call left in the project's modules.
    """
    _heal_time_limit.arm()
    found = []
    inner = {
        code: used.get((at, code.co_name), ())
        for at, root in enumerate(roots)
        for code in _heal_code_pairs.descendants(root.__code__)
    }
    late = 0
    for where, arguments in calls:
        if late >= _LATE:
            found.append(_ENDLESS)
            continue
        try:
            if time.monotonic() > ends:
                raise _heal_time_limit.Late
            plain, keyed = copy.deepcopy(arguments)
        except BaseException:
            found.append(_SKIPPED)
            continue
        random.seed(0)
        renew()
        try:
            found.append(_called(roots[where], plain, keyed, inner))
        except _heal_time_limit.Late:
            # The bell rang after the call had ended, and before it was silenced.
            _heal_time_limit.silence()
            found.append(_SKIPPED)
        late += found[-1][0] == "late"
    return found


def _called(function, plain, keyed, inner):
    """One call: result or exception, with the arguments as it left them in the first digest."""
    given = _heal_canonical_repr.digest((plain, keyed))
    _heal_time_limit.ring_after(_WORK, _WAIT)
    try:
        value = _settled(function(*plain, **keyed))
        told = "returned", type(value).__name__, _heal_canonical_repr.text(value)
        value = _used(value, inner)
        if isinstance(value, _Used):
            told = "returned", told[1], _heal_canonical_repr.text(value)
    except _heal_time_limit.Late:
        return _ENDLESS
    except (KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as error:
        told, value = ("raised", type(error).__name__, _heal_canonical_repr.text(error)), None
    finally:
        _heal_time_limit.silence()
    mark = _heal_canonical_repr.digest((told[:2], value, plain, keyed))
    # What a method leaves of its object alone may be just what it is for.
    is_method = function.__code__.co_varnames[:1] in (("self",), ("cls",))
    alone = "" if is_method else _heal_canonical_repr.digest((told[:2], value))
    return [*told, mark, alone, given == _heal_canonical_repr.digest((plain, keyed))]


def _settled(value):
    """What a result comes to: a coroutine is awaited, what can be read only once is read."""
    if isinstance(value, types.CoroutineType):
        return _awaited(value)
    if isinstance(value, types.AsyncGeneratorType):
        return _awaited(_all(value))
    once = isinstance(value, types.GeneratorType) or (
        hasattr(type(value), "__next__") and type(value).__module__ in ("builtins", "itertools")
    )
    return list(itertools.islice(value, _READ)) if once else value


def _awaited(coroutine):
    import asyncio

    return asyncio.run(coroutine)


async def _all(values):
    found = []
    async for value in values:
        found.append(value)
        if len(found) >= _READ:
            break
    return found


class _Used:
    """What a returned function did, call after call, and the attributes it has then."""

    def __init__(self, rows, function):
        self.rows = rows
        named = vars(function).items()
        self.attributes = {name: part for name, part in named if name != "__wrapped__"}

    def __repr__(self):
        told = ["(%s) gives %s" % (given, came) for given, came, _ in self.rows]
        return "a function: %s" % "; ".join(told)


def _used(value, inner):
    """What a function does that was returned and is defined inside of a changed one."""
    code = getattr(value, "__code__", None)
    if not isinstance(value, types.FunctionType) or not inner.get(code):
        return value
    rows = []
    for plain, keyed in copy.deepcopy(inner[code]):
        given = ", ".join(map(_heal_canonical_repr.text, [*plain, *keyed.values()]))
        try:
            came = _settled(value(*plain, **keyed))
        except Exception as error:
            came = type(error)
        rows.append(
            (
                given,
                _heal_canonical_repr.text(came),
                _heal_canonical_repr.digest((came, plain, keyed)),
            )
        )
    return _Used(rows, value)
