"""Lines as a trace function hears of them, below 3.12."""

from __future__ import annotations

import sys

from _heal_pristine_stdlib import threading

# Below 3.12 each traced line costs a Python call. A function that brought nothing new in this many
# events of one test is left alone until the next test, and the gap is said.
IDLE_EVENTS = 20_000
# Below 3.12 each call costs a Python call as well, whoever's function it is. After so many (about a
# second) the rest of the test goes unobserved, and the gap is said.
CALLS = 1_000_000


class Tracing:
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
