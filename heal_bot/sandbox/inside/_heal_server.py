"""The loops of the zygote: the root's, the warm server's, and one child's judgement."""

from __future__ import annotations

import contextlib
import gc
import os
import resource
import select
import signal
import sys
import threading
import time

import _heal_calls
import _heal_canary
import _heal_driver
import _heal_record
import _heal_session
import _heal_swap
import pytest

MEMORY = 1 << 30
_ENOUGH_BROKEN = 3
# How often its limit a child may take that got too little of a processor.
_LOADED = 8


class Root:
    """Reads the client's orders, hands swaps to the warm server, serves the rest itself."""

    def __init__(self, order, records, source, buffer):
        self.order = order
        self.records = records
        self.source = source
        self.buffer = buffer
        self.warm = None

    def serve(self):
        if self.order["warm"]:
            self._start_warm()
        self.records.send("ready", warm=self.warm is not None)
        while True:
            order = _heal_record.read_line(self.source, self.buffer)
            if order is None:
                self.records._exit(0)
            if order["kind"] == "fresh":
                self._fresh(order)
            elif not self._warm(order):
                self.records.nonce = order["nonce"]
                self.records.send("unsound", m="the warm process is gone")
                self.records.send("done", st=0, how="exited", s=0.0)

    def _start_warm(self):
        """Fork the warm server and wait until it has collected; leave it out when it cannot."""
        down_read, down_write = os.pipe()
        up_read, up_write = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(down_write)
            os.close(up_read)
            os.close(self.source)
            self.records.adopt(self.order["nonce"])
            Warm(self.order, self.records, down_read, up_write).run()
        os.close(down_read)
        os.close(up_write)
        if os.read(up_read, 1) == b"+":
            self.warm = pid, down_write, up_read
        else:
            self._reap(pid, down_write, up_read)

    def _reap(self, pid, *fds):
        for fd in fds:
            os.close(fd)
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        self.warm = None

    def _warm(self, order):
        """Have the warm server judge; False when it is gone (a candidate may kill it)."""
        if self.warm is None:
            return False
        pid, down, up = self.warm
        line = _heal_record.encode(order)
        try:
            while line:
                line = line[os.write(down, line) :]
            answered = os.read(up, 1) == b"."
        except BrokenPipeError:
            answered = False
        if not answered:
            self._reap(pid, down, up)
        return answered

    def _fresh(self, order):
        """Judge in a fork that imports the project with the changed files in place."""
        kept = {}
        for path in order["files"]:
            name = os.path.join(self.order["repo"], path)
            with open(name, "rb") as file:
                kept[name] = file.read()
        try:
            for path, text in order["files"].items():
                _replace(os.path.join(self.order["repo"], path), text.encode("utf-8"))
            fork_and_wait(self.records, order, lambda bell: self._collect(order, bell))
        finally:
            for name, data in kept.items():
                _replace(name, data)

    def _collect(self, order, bell):
        def serve(plugin, session):
            Judge(plugin, session, order, bell).run()
            return True

        asked = {"mode": "run", "tests": self.order["tests"], "shuffle": None, "canaries": []}
        plugin = _heal_session.Plugin(asked, self.records, self.order["repo"], None, serve)
        code = int(pytest.main(_heal_driver.ARGUMENTS, plugins=plugin.all()))
        self.records.send("stopped", rc=code)


class Warm:
    """Has the project imported; forks a child per order, which swaps functions and runs tests."""

    def __init__(self, order, records, down, up):
        self.order = order
        self.records = records
        self.down = down
        self.up = up
        self.log = _heal_swap.CallLog(order["repo"])

    def run(self):
        asked = {"mode": "run", "tests": self.order["tests"], "shuffle": None, "canaries": []}
        plugin = _heal_session.Plugin(asked, self.records, self.order["repo"], None, self.serve)
        # Reports go over the channel; what pytest would print is nobody's to read.
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1)
        os.dup2(quiet, 2)
        with contextlib.suppress(_heal_swap.Unsound):
            with self.log:
                pytest.main(_heal_driver.ARGUMENTS, plugins=plugin.all())
        self.records._exit(1)

    def serve(self, plugin, session):
        """Called by pytest in place of its run loop; never returns while orders come."""
        if hasattr(sys, "monitoring"):
            sys.monitoring.set_events(self.log.tool, 0)
        else:
            sys.setprofile(None)
        if threading.active_count() > 1:
            # Threads do not survive a fork; whoever waits for one would wait for ever.
            self.records._exit(1)
        factory = getattr(session.config, "_tmp_path_factory", None)
        if factory is not None:
            factory.getbasetemp()
        # Nobody reads pytest's own rendering of a failure here, and it takes most of the time.
        session.config.option.tbstyle = "no"
        # Whatever pytest loads or caches at its first test and its first failure is then there
        # for every fork.
        for product in (4, 5):
            _heal_canary.run(_heal_canary.make(session, [2, 2, product]))
        swapper = _heal_swap.Swapper(self.order["repo"], self.log.codes)
        gc.collect()
        gc.freeze()
        os.write(self.up, b"+")
        buffer = bytearray()
        while True:
            order = _heal_record.read_line(self.down, buffer)
            if order is None:
                self.records._exit(0)
            for edit in order["edits"]:
                swapper.prepare(edit)

            def child(bell, order=order):
                os.close(self.down)
                os.close(self.up)
                judge = Judge(plugin, session, order, bell)
                if order["kind"] == "calls":
                    _heal_calls.serve(judge.rerun, swapper, order, self.records)
                    self.records.send("judged")
                elif self._swap(swapper, order["edits"]):
                    judge.run()

            fork_and_wait(self.records, order, child)
            os.write(self.up, b".")

    def _swap(self, swapper, edits):
        try:
            swapper.apply(edits)
        except _heal_swap.Unsound as reason:
            self.records.send("unsound", m=str(reason)[:300])
        except _heal_swap.Rejected as reason:
            self.records.send("rejected", m=str(reason)[:300])
        else:
            return True
        return False


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
        first, rest, guards = (self._items(self.order[k]) for k in ("first", "rest", "guards"))
        every = first + rest + guards
        follows = dict(zip(map(id, every), every[1:]))
        for item in first:
            self._one(item, follows)
        if self.good or self.order["all"]:
            os.write(self.bell, b"+")
            for item in rest:
                self._one(item, follows)
            broken = 0
            for item in guards:
                broken += not self._one(item, follows)
                if broken >= _ENOUGH_BROKEN and not self.order["all"]:
                    break
            self.plugin.canaries(self.session, self.order["canaries"], 0)
        self.plugin.records.send("judged")

    def rerun(self):
        """Run every test of the order once, whatever comes of it."""
        for name in ("first", "rest", "guards"):
            for item in self._items(self.order[name]):
                self._one(item, {})

    def _items(self, tests):
        """The items of these ids; an id of a file or class stands for all of its items."""
        by_name = {item.nodeid: item for item in self.plugin.items}
        found = []
        for test in tests:
            if test in by_name:
                found.append(by_name[test])
            else:
                starts = (test + "::", test + "[")
                found += [i for n, i in by_name.items() if n.startswith(starts)]
        return list(dict.fromkeys(found))

    def _one(self, item, follows):
        """Run a test by pytest's own protocol; whether it passed (or failed as expected)."""
        item.ihook.pytest_runtest_protocol(item=item, nextitem=follows.get(id(item)))
        number = self.plugin.numbers[id(item)]
        if number in self.bad:
            return False
        self.good.add(number)
        return True

    def _watch(self, number, report):
        if not report.passed and not hasattr(report, "wasxfail"):
            self.bad.add(number)


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
    for kill in (os.killpg, os.kill):
        with contextlib.suppress(ProcessLookupError):
            kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    # The child may have been ended inside of a record.
    os.write(records.fd, b"\n")
    records.nonce = order["nonce"]
    records.send("done", st=status if how == "exited" else 0, how=how, s=records.clock() - began)


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


def _replace(name, data):
    """A new file in place of the old one, so that neither links nor modes matter."""
    os.unlink(name)
    with open(name, "wb") as file:
        file.write(data)
    now = time.time()
    os.utime(name, (now, now))
