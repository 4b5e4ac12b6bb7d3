"""One candidate's judgement: a fork under its limits, and the tests that it runs."""

from __future__ import annotations

import contextlib
import resource

import _heal_failure
from _heal_pristine_stdlib import os, select, signal, time

MEMORY = 1 << 30
_ENOUGH_BROKEN = 3
# How often its limit a child may take that got too little of a processor.
_LOADED = 8
# Seconds that a killed process may take to be gone.
_GONE = 5


class Judge:
    """Runs the failing tests, the rest of them when one of those passes, then the guards."""

    def __init__(self, plugin, session, order, bell):
        self.plugin = plugin
        self.order = order
        self.bell = bell
        self.session = session
        self.bad = set()
        self.good = set()
        plugin.watch = self._watch

    def run(self):
        first, rest, guards = map(self.items, ("first", "rest", "guards"))
        every = first + rest + guards
        follows = dict(zip(map(id, every), every[1:]))
        for item in first:
            self._one(item, follows)
        if self.good or self.order["all_tests"]:
            os.write(self.bell, b"+")
            for item in rest:
                self._one(item, follows)
            broken = 0
            for item in guards:
                broken += not self._one(item, follows)
                if broken >= _ENOUGH_BROKEN and not self.order["all_tests"]:
                    break
            else:
                # Where the last test has another one to come, fixtures are still up: no canary.
                self.plugin.canaries(self.session, self.order["canaries"], 0)
        self.plugin.records.send("judged")

    def rerun(self, enough):
        """Run every test of the order once, whatever comes of it, until `enough` says so.

        It is told whether the next test is one that passed before.
        """
        for name in ("first", "rest", "guards"):
            for item in self.items(name):
                if enough(name == "guards"):
                    break
                self._one(item, {})

    def items(self, which):
        """The items of a list of the order; the id of a file or class stands for all of its own."""
        by_name = self.plugin.by_name
        found = []
        for test in self.order[which]:
            if test in by_name:
                found.append(by_name[test])
            else:
                starts = (test + "::", test + "[")
                found += [i for n, i in by_name.items() if n.startswith(starts)]
        return list(dict.fromkeys(found))

    def _one(self, item, follows):
        """Run a test by pytest's own protocol; whether it passed (or failed as expected)."""
        item.repr_failure = _unread
        item.ihook.pytest_runtest_protocol(item=item, nextitem=follows.get(id(item)))
        number = self.plugin.numbers[id(item)]
        if number in self.bad:
            return False
        self.good.add(number)
        return True

    def _watch(self, number, report):
        # A test whose parts are skipped ran all the same.
        part = report.skipped and _heal_failure.is_subtest(report)
        if not (report.passed or part or hasattr(report, "wasxfail")):
            self.bad.add(number)


def _unread(excinfo, style=None):
    """No text: what failed is read off the exception, and pytest's words take their time."""
    return ""


def fork_and_wait(records, order, work):
    """Run `work(bell)` in a child under the order's limits; end all of it, then say `done`.

    A byte on the bell says that the candidate is promising: it gets the longer limit from then on.
    """
    began = records.clock()
    ring, bell = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(ring)
        _child(records, order, work, bell)
    os.close(bell)
    how, limit = "exited", order["limit"]
    watched = os.pidfd_open(pid)
    poll = select.poll()
    poll.register(watched, select.POLLIN)
    poll.register(ring, select.POLLIN)
    deadline = began + limit
    while True:
        ready = poll.poll(max(0.0, deadline - records.clock()) * 1000 + 1)
        if any(fd == watched for fd, _ in ready):
            break
        if ready and os.read(ring, 16):
            deadline = records.clock() + order["longer"]
        elif ready:
            poll.unregister(ring)
        elif records.clock() >= deadline:
            # What a loaded machine withholds is given back, up to a point: a test may sleep.
            owed = min(order["limit"] - _worked(pid), began + _LOADED * order["limit"] - deadline)
            if owed > 0.01:
                deadline += owed
                continue
            how = "timeout"
            break
    os.close(watched)
    os.close(ring)
    _kill(pid)
    _, status = os.waitpid(pid, 0)
    # The child may have been ended inside of a record.
    os.write(records.fd, b"\n")
    records.nonce = order["nonce"]
    records.send("done", st=status if how == "exited" else 0, how=how, s=records.clock() - began)


def end(pid):
    """Kill the child of a process that is gone, and wait until it can write no more."""
    try:
        watched = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    _kill(pid)
    poll = select.poll()
    poll.register(watched, select.POLLIN)
    poll.poll(_GONE * 1000)
    os.close(watched)


def _kill(pid):
    for kill in (os.killpg, os.kill):
        with contextlib.suppress(ProcessLookupError):
            kill(pid, signal.SIGKILL)


def _worked(pid):
    """Seconds of processor time that a child had: its own CPU clock, numbered as Linux does."""
    try:
        return time.clock_gettime((~pid << 3) | 2)
    except OSError:
        return 0.0


def _child(records, order, work, bell):
    code = 1
    try:
        os.setsid()
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
        records.adopt(order["nonce"])
        work(bell)
        code = 0
    finally:
        records._exit(code)
