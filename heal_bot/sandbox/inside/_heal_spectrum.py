"""Which test executed which line: sys.monitoring on 3.12 and later, sys.settrace before."""

from __future__ import annotations

import os
import resource
import sys
import threading

MAX_LOCATIONS = 400_000
# Below 3.12 each traced line costs a Python call. A function that brought nothing new in this many
# events of one test is left alone until the next test, and the gap is said.
IDLE_EVENTS = 20_000
# Below 3.12 each call costs a Python call as well, whoever's function it is. After so many (about a
# second) the rest of the test goes unobserved, and the gap is said.
CALLS = 1_000_000
# What renders values once an assertion has failed: the failing tests alone would seem to need
# every `__repr__` and what it calls.
_RENDERING = (
    ("_pytest.assertion.rewrite", ("_saferepr", "_call_reprcompare")),
    ("unittest.case", ("safe_repr", "_common_shorten_repr")),
)
_FOREIGN = ("site-packages", "dist-packages", ".venv", ".tox", ".nox", "node_modules")


class Spectrum:
    """Lines of the files below `root` per test.

    `start` before the imports; `begin` and `end` around a test; `resume` and `pause` around the
    parts of it that run the project's code (below 3.12 the test runner's own calls would cost more
    than those of the tests); `stop` after the last.
    """

    def __init__(self, root):
        self.root = root + "/"
        self.files = {}
        self.index = {}
        self.hits = []
        self._fresh = []
        self.gaps = {}
        self.seen = None
        self.test = ""
        self._test = None
        self._bits = {}
        self._children = None
        self.probe = _Monitoring(self) if hasattr(sys, "monitoring") else _Tracing(self)

    def relative(self, path):
        """The path below the root, or None for files that are not the project's."""
        known = self.files.get(path, 0)
        if known != 0:
            return known
        full = os.path.abspath(path) if not path.startswith("<") else path
        inside = full[len(self.root) :] if full.startswith(self.root) else None
        if inside is not None and any(part in _FOREIGN for part in inside.split("/")):
            inside = None
        self.files[path] = inside
        return inside

    def gap(self, kind):
        """Note that something was not observed during the current test."""
        tests = self.gaps.setdefault(kind, [])
        if self.test not in tests[-1:]:
            tests.append(self.test)

    def start(self):
        import unittest.case  # noqa: F401 - so that it is there to be wrapped

        for name, functions in _RENDERING:
            module = sys.modules.get(name)
            for function in functions:
                if hasattr(module, function):
                    setattr(module, function, self._unseen(getattr(module, function)))
        self._noted(self.probe.start())

    def _unseen(self, function):
        """The function, what it executes left out."""

        def unseen(*args, **named):
            before, self.seen = self.seen, None
            try:
                return function(*args, **named)
            finally:
                self.seen = before

        return unseen

    def begin(self, test):
        self.test = test
        self._test = set()
        self._children = _children()
        self.probe.begin()

    def resume(self):
        if self._test is not None:
            self.seen = self._test
            self._noted(self.probe.resume())

    def pause(self):
        if self._test is not None:
            self.seen = None
            self._noted(self.probe.pause())

    def end(self, number):
        self._noted(self.probe.end())
        seen, self._test, self.seen = self._test or set(), None, None
        if _children() != self._children:
            self.gap("child processes")
        known = self._bits
        # Sorted, so that the lines of a file stand together and are sent once.
        for place in sorted(place for place in seen if place not in known):
            self._learn(place)
        bits = 0
        for place in seen:
            bits |= known[place]
        self.hits.append((number, "%x" % bits))

    def _learn(self, place):
        """Give a line its bit; none to what is not the project's or is one too many."""
        inside = self.relative(place[0])
        self._bits[place] = 0
        if inside is None:
            return
        location = (inside, place[1])
        at = self.index.get(location)
        if at is None:
            if len(self.index) >= MAX_LOCATIONS:
                self.gap("more than %d lines" % MAX_LOCATIONS)
                return
            at = self.index[location] = len(self.index)
            self._fresh.append(location)
        self._bits[place] = 1 << at

    def _noted(self, problem):
        if problem:
            self.gap(problem)

    def stop(self):
        self.probe.stop()

    def send(self, records):
        """What is new: locations as runs per path in order, then the bitmaps.

        Sent after each test, so that what a crash of the interpreter leaves behind is known.
        """
        runs = []
        for path, line in self._fresh:
            if runs and runs[-1][0] == path:
                runs[-1][1].append(line)
            else:
                runs.append([path, [line]])
        for at in range(0, len(runs), 200):
            records.send("lines", v=runs[at : at + 200])
        if self.hits:
            records.send("hits", v=self.hits)
        self._fresh, self.hits = [], []

    def send_gaps(self, records):
        """What was not observed; after the last test."""
        for kind, tests in self.gaps.items():
            records.send("gap", k=kind, c=len(tests), e=tests[0])


def _children():
    """Changes when a child process of ours has ended and was waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_minflt, used.ru_utime, used.ru_stime


class _Monitoring:
    """Each line of the project reports once per test; other code reports its first start, once.

    A line that has reported is disabled. To hear of it in the next test the events of its code
    object are taken away and given again: `restart_events` would make the interpreter go through
    all code that runs, the test runner's included.
    """

    def __init__(self, owner):
        self.owner = owner
        self.tool = None
        self.armed = {}
        self.touched = {}

    def start(self):
        monitoring = sys.monitoring
        for tool in (4, 3):
            if monitoring.get_tool(tool) is None:
                monitoring.use_tool_id(tool, "heal-bot")
                self.tool = tool
                break
        else:
            return "no free monitoring tool"
        events = monitoring.events
        disable = monitoring.DISABLE
        owner, armed, touched = self.owner, self.armed, self.touched
        files, relative = owner.files, owner.relative
        line_event, set_local = events.LINE, monitoring.set_local_events

        def starts(code, offset):
            path = code.co_filename
            inside = files.get(path, 0)
            if inside == 0:
                inside = relative(path)
            # Code objects of different files may be equal, so identity tells them apart.
            if inside is not None and id(code) not in armed:
                armed[id(code)] = code
                set_local(tool, code, line_event)
            return disable

        def lines(code, line):
            seen = owner.seen
            if seen is not None:
                path = code.co_filename
                seen.add((path, line))
                seen.add((path, code.co_firstlineno))
            touched[id(code)] = code
            return disable

        monitoring.register_callback(tool, events.PY_START, starts)
        monitoring.register_callback(tool, events.LINE, lines)
        monitoring.set_events(tool, events.PY_START)
        return None

    def begin(self):
        if self.tool is None:
            return
        tool, set_local = self.tool, sys.monitoring.set_local_events
        line_event = sys.monitoring.events.LINE
        again = list(self.touched.values())
        self.touched.clear()
        for code in again:
            set_local(tool, code, 0)
            set_local(tool, code, line_event)

    def resume(self):
        return None

    def pause(self):
        return None

    def end(self):
        if self.tool is not None and sys.monitoring.get_tool(self.tool) != "heal-bot":
            return "foreign monitoring tool"
        return None

    def stop(self):
        if self.tool is not None:
            monitoring = sys.monitoring
            monitoring.set_events(self.tool, 0)
            for code in self.armed.values():
                monitoring.set_local_events(self.tool, code, 0)
            for event in (monitoring.events.PY_START, monitoring.events.LINE):
                monitoring.register_callback(self.tool, event, None)
            monitoring.free_tool_id(self.tool)
            self.tool = None


class _Tracing:
    """A trace function that leaves a code object alone once a test has seen all its lines."""

    def __init__(self, owner):
        self.owner = owner
        self.codes = {}
        self.touched = []
        self.left = CALLS
        self._set = sys.settrace
        self._get = sys.gettrace
        self._thread_set = threading.settrace
        self.trace = self._make()

    def _make(self):
        owner, codes, touched = self.owner, self.codes, self.touched
        files, relative = owner.files, owner.relative

        def trace(frame, event, arg):
            # Called for each new frame. States are found by identity: code objects of different
            # files may be equal. Each state keeps its code alive, so no id is used twice.
            code = frame.f_code
            path = code.co_filename
            inside = files.get(path, 0)
            if inside is None:
                self.left -= 1
                if self.left <= 0:
                    self.tired()
                return None
            if inside == 0 and relative(path) is None:
                return None
            seen = owner.seen
            if seen is None:
                return None
            state = codes.get(id(code))
            if state is None:
                state = codes[id(code)] = _State(owner, code)
            todo = state.todo
            if todo is None:
                touched.append(state)
                todo = state.todo = set(state.lines)
                seen.add((path, code.co_firstlineno))
                todo.discard(code.co_firstlineno)
            return state.local if todo else None

        return trace

    def tired(self):
        """Leave the rest of the test's phase, in this thread."""
        self.owner.gap("long tests observed in part")
        if self._get() is self.trace:
            self._set(None)

    def start(self):
        return None

    def begin(self):
        for state in self.touched:
            state.todo = None
            state.left = IDLE_EVENTS
        self.touched.clear()
        self.left = CALLS

    def resume(self):
        if self._get() is not None:
            return "foreign tracer"
        if self.left > 0:
            self._thread_set(self.trace)
            self._set(self.trace)
        return None

    def pause(self):
        now = self._get()
        if now is self.trace:
            self._set(None)
        if getattr(threading, "_trace_hook", None) is self.trace:
            self._thread_set(None)
        return None if now is self.trace or self.left <= 0 else "foreign tracer"

    def end(self):
        return "hot functions sampled" if any(s.left <= 0 for s in self.touched) else None

    def stop(self):
        self.pause()


class _State:
    """What is still to be seen of one code object in the running test."""

    __slots__ = ("code", "left", "lines", "local", "todo")

    def __init__(self, owner, code):
        self.code = code
        self.lines = frozenset(_lines(code))
        self.todo = None
        self.left = IDLE_EVENTS
        path = code.co_filename

        def local(frame, event, arg):
            if event == "line":
                todo, seen = self.todo, owner.seen
                if todo and seen is not None:
                    line = frame.f_lineno
                    if line in todo:
                        todo.discard(line)
                        self.left = IDLE_EVENTS
                        seen.add((path, line))
                    else:
                        self.left -= 1
                        if self.left <= 0:
                            todo.clear()
                if not todo:
                    frame.f_trace_lines = False
            return local

        self.local = local


def _lines(code):
    if hasattr(code, "co_lines"):
        return {line for _, _, line in code.co_lines() if line}
    import dis

    return {line for _, line in dis.findlinestarts(code) if line}
