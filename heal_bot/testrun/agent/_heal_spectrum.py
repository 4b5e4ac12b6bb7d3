"""Which test executed which line: sys.monitoring on 3.12 and later, sys.settrace before."""

from __future__ import annotations

import resource
import sys

from _heal_pristine_stdlib import os

MAX_LOCATIONS = 400_000
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
        self.probe = _probe(self)

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


def _probe(owner):
    """What hears of lines here: the monitoring of 3.12 and later, a trace function before."""
    if hasattr(sys, "monitoring"):
        from _heal_monitoring import Monitoring

        return Monitoring(owner)
    from _heal_tracing import Tracing

    return Tracing(owner)


def _children():
    """Changes when a child process of ours has ended and was waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_minflt, used.ru_utime, used.ru_stime
