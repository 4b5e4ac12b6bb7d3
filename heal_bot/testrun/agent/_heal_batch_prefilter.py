"""Which of many changes are worth a process: tests called one after another in one fork.

A fork costs about 6 ms and pytest's protocol 2 ms a test, a call of a small function some
microseconds. So tests that need nothing of pytest are called as plain functions, those with
fixtures by pytest's hooks. Only "the tests still fail" is believed of it. The code unchanged has
to fail at first where it fails under pytest, else the tests need more; and at the end as it did at
first, else something that was tried has left its mark.
"""

from __future__ import annotations

import contextlib
import copy
import inspect
import re
import unittest

from _pytest.outcomes import Failed

import _heal_failure
import _heal_fixture_calls
import _heal_hot_swap
import _heal_time_limit
from _heal_pristine_stdlib import time

# The clock may run so much longer than the processor time allowed: tests sleep and wait.
_TIMES, _WAIT = 8.0, 0.5
# Seconds of processor time: twenty times the unchanged call, and no less than this. The limit of a
# whole process, in which a test takes some milliseconds more, would let a loop without end go on
# for long. A call that crashes does not tell how long a whole one takes.
_OFTEN, _LEAST = 20.0, 0.05
_CLIP = 300
_ATOMS = frozenset({int, float, complex, bool, str, bytes, type(None)})
# Addresses, and the folders that `tmp_path` gives, new ones for each call.
_OWN = re.compile(r"0x[0-9a-f]+|(?<=pytest-of-)[^\s'\"]+")
# Of these pytest does more than naming the test; what plugins do shows in how it fails.
_MARKS = {"usefixtures", "skip", "skipif", "xfail", "flaky"}


class Dressed(Exception):
    """A test needs more of pytest than being called."""


def serve(items, swapper, state, order, records, name):
    """Tell what came of the candidates: `failed`, `late`, or `open` for another process to judge.

    The last record is `judged` where all this may be believed, else `unsound`.
    """
    _heal_time_limit.arm()
    try:
        calls = [_call(item) for item in items]
    except Dressed as reason:
        records.send("unsound", m=str(reason)[:_CLIP])
        return
    before, limits = _before(calls, order["each"])
    state.restore()
    alike = _as_under_pytest([name(item) for item in items], calls, order, swapper.repo)
    state.restore()
    if not calls or not alike:
        records.send("unsound", m="the tests do not fail alike outside of pytest")
        return
    told = []
    for edits in order["candidates"]:
        try:
            told.append(_tried(calls, swapper, edits, limits, order["each"]))
        except _heal_fixture_calls.Spoilt as reason:
            records.send("unsound", m=str(reason)[:_CLIP])
            return
        state.renew()
    # At once: a record for each candidate would wake its reader, who needs the processor himself.
    records.send("sieved", v=told)
    if [_came(call, order["each"]) for call in calls] == before:
        records.send("judged")
    else:
        records.send("unsound", m="the tests leave something behind")


def _before(calls, most):
    """How the calls fail unchanged, and how long each may take with a change."""
    came, limits = [], []
    for call in calls:
        began = time.process_time()
        came.append(_came(call, most))
        taken = time.process_time() - began
        whole = type(came[-1]) is tuple and issubclass(came[-1][0], (AssertionError, Failed))
        limits.append(min(most, max(_LEAST, _OFTEN * taken)) if whole else most)
    return came, limits


def _tried(calls, swapper, edits, limits, most):
    """What came of all calls with the edits in place, which are taken back."""
    if any(edit["imports"] for edit in edits):
        return "open"
    try:
        undo = swapper.apply(edits)
    except (_heal_hot_swap.Unsound, _heal_hot_swap.Rejected):
        return "open"
    try:
        found = set()
        for call, limit in zip(calls, limits):
            came = _came(call, most, limit)
            if came == "late" and isinstance(call, _heal_fixture_calls.Call):
                call.recover()
            if came in (None, "late"):
                return came or "open"
            found.add(came)
        return "failed"
    finally:
        _heal_hot_swap.put_back(undo)


def _as_under_pytest(names, calls, order, repo):
    """Whether each test fails with the exception and at the line that pytest met."""
    for name, call in zip(names, calls):
        known = order["known"].get(name)
        found = []
        came = _came(call, order["each"], keep=found.append)
        if came is None or (came == "late") != (known is None):
            return False
        if known is not None:
            told = _heal_failure.describe(found[0], repo)
            if [told["k"], *(told["f"] or [[]])[-1][:2]] != known:
                return False
    return True


def _came(call, most, limit=None, keep=None):
    """How a call failed, `late`, or None where it did not fail as tests do.

    It has `most` seconds of the processor, or `limit`; of the clock always what `most` would have.
    """
    try:
        return _ended(call, most, limit or most, keep)
    except _heal_time_limit.Late:
        # The bell rang after the call had ended, and before it was silenced.
        _heal_time_limit.silence()
        return "late"


def _ended(call, most, limit, keep):
    _heal_time_limit.ring_after(limit, _TIMES * most + _WAIT, most)
    try:
        call()
    except (Exception, Failed) as error:
        _heal_time_limit.silence()
        if isinstance(error, unittest.SkipTest):
            return None
        if keep is not None:
            keep(error)
        return type(error), _said(error)
    except _heal_time_limit.Late:
        return "late"
    except BaseException:
        return None
    finally:
        _heal_time_limit.silence()
    return None


def _said(error):
    # Code under test wrote __str__: it may raise anything.
    with contextlib.suppress(Exception):
        return _OWN.sub("", str(error)[:_CLIP])
    return ""


def _call(item):
    """A test as a function without arguments; Dressed where it cannot be one."""
    try:
        return _bare(item)
    except Dressed:
        marks = {mark.name for mark in item.iter_markers()}
        function = getattr(item, "obj", None)
        plain = inspect.isroutine(function) and not hasattr(function, "hypothesis")
        if not plain or item.cls is not None and issubclass(item.cls, unittest.TestCase):
            raise
        if marks & {"xfail", "flaky"} or inspect.isgeneratorfunction(inspect.unwrap(function)):
            raise
        return _heal_fixture_calls.Call(item)


def _bare(item):
    """A test as a function without arguments; Dressed where pytest does more than call it."""
    if any(mark.name in _MARKS for mark in item.iter_markers()):
        raise Dressed("%s is marked" % item.nodeid)
    names = set(getattr(item, "fixturenames", ()))
    cls, name = getattr(item, "cls", None), getattr(item, "originalname", None) or item.name
    if isinstance(cls, type) and issubclass(cls, unittest.TestCase):
        return _of_unittest(item, cls, name, names)
    spec = getattr(item, "callspec", None)
    # Up to pytest 7 what needs no fixture is in `funcargs`.
    given = {**getattr(spec, "params", {}), **getattr(spec, "funcargs", {})}
    if names != set(given) or set(given) & _fixtures(item):
        raise Dressed("%s has fixtures" % item.nodeid)
    function = getattr(item, "obj", None)
    if not inspect.isroutine(function) or hasattr(function, "hypothesis"):
        raise Dressed("%s is no function" % item.nodeid)
    _refuse_others(item, function)
    try:
        copy.deepcopy(given)
    except Exception as error:
        raise Dressed("an argument of %s cannot be copied" % item.nodeid) from error
    fresh = _rebuilt if _is_tree(given, set()) else copy.deepcopy
    if cls is None:
        return lambda: function(**fresh(given))
    return lambda: getattr(cls(), name)(**fresh(given))


def _is_tree(value, seen):
    """Whether a value is made of plain lists and dictionaries, none of them in two places."""
    kind = type(value)
    if kind not in (list, dict):
        return kind in _ATOMS
    if id(value) in seen or kind is dict and not _ATOMS.issuperset(map(type, value)):
        return False
    seen.add(id(value))
    return all(_is_tree(item, seen) for item in (value if kind is list else value.values()))


def _rebuilt(value):
    """What `deepcopy` makes of a tree, in a quarter of its time."""
    kind = type(value)
    if kind is list:
        return value[:] if _ATOMS.issuperset(map(type, value)) else [_rebuilt(v) for v in value]
    return {key: _rebuilt(item) for key, item in value.items()} if kind is dict else value


def _fixtures(item):
    """Parameters that go through a fixture of that name (`indirect`), or to one."""
    found = getattr(item, "_fixtureinfo", None)
    defined = getattr(found, "name2fixturedefs", {}) or {}
    return {
        name
        for name, some in defined.items()
        if some and "get_direct_param_fixture_func" not in getattr(some[-1].func, "__name__", "")
    }


def _of_unittest(item, cls, name, names):
    plain = unittest.TestCase
    hooks = ("setUpClass", "tearDownClass", "run", "debug", "_callTestMethod")
    own = any(
        getattr(getattr(cls, h), "__func__", getattr(cls, h))
        is not getattr(getattr(plain, h), "__func__", getattr(plain, h))
        for h in hooks
    )
    # pytest has a fixture for every class's setUpClass, also for the one that does nothing.
    others = [n for n in names if n != "request" and "setUpClass_fixture" not in n]
    if own or others:
        raise Dressed("%s has fixtures" % item.nodeid)
    _refuse_others(item, getattr(cls, name))
    return lambda: cls(name).debug()


def _refuse_others(item, function):
    asked = inspect.unwrap(function)
    kinds = inspect.iscoroutinefunction, inspect.isgeneratorfunction, inspect.isasyncgenfunction
    if any(kind(asked) for kind in kinds):
        raise Dressed("%s is no plain function" % item.nodeid)
