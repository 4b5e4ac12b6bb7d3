"""The loops of the fork server: the root's and the warm server's."""

from __future__ import annotations

import contextlib
import gc
import itertools

import pytest

import _heal_batch_prefilter
import _heal_call_probe
import _heal_canary
import _heal_driver
import _heal_hot_swap
import _heal_importlog
import _heal_judge
import _heal_module_snapshot
import _heal_pytest_reporter
import _heal_record_writer
from _heal_pristine_stdlib import io, os, signal, threading, time


class Root:
    """Reads the client's orders, hands swaps to the warm server, serves the rest itself."""

    def __init__(self, order, records, source, buffer):
        self.order = order
        self.records = records
        self.source = source
        self.buffer = buffer
        self.warm = None

    def serve(self):
        self._start_warm()
        self.records.send("ready")
        while True:
            order = _heal_record_writer.read_line(self.source, self.buffer)
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
        line = _heal_record_writer.encode(order)
        said = b""
        try:
            while line:
                line = line[os.write(down, line) :]
            while not said.endswith(b"."):
                part = os.read(up, 64)
                if not part:
                    break
                said += part
        except BrokenPipeError:
            pass
        answered = said.endswith(b".")
        if not answered:
            self._reap(pid, down, up)
            if b"\n" in said:
                _heal_judge.end(int(said.partition(b"\n")[0]))
        return answered

    def _fresh(self, order):
        """Judge in a fork that imports what its tests need, the changed files in place."""
        kept = {}
        for path in order["files"]:
            name = os.path.join(self.order["repo"], path)
            with io.open(name, "rb") as file:
                kept[name] = file.read()
        try:
            for path, text in order["files"].items():
                _replace(os.path.join(self.order["repo"], path), text.encode("utf-8"))
            _heal_judge.fork_and_wait(self.records, order, lambda bell: self._collect(order, bell))
        finally:
            for name, data in kept.items():
                _replace(name, data)

    def _collect(self, order, bell):
        def serve(plugin, session):
            _heal_judge.Judge(plugin, session, order, bell).run()
            return True

        tests = [*order["first"], *order["rest"], *order["guards"]]
        asked = {**self.order, "tests": tests}
        plugin = _heal_pytest_reporter.Plugin(asked, self.records, serve=serve)
        code = int(pytest.main(_heal_driver.ARGUMENTS, plugins=plugin.all()))
        self.records.send("stopped", rc=code)


class Warm:
    """Has the project imported; forks a child per order, which swaps functions and runs tests."""

    def __init__(self, order, records, down, up):
        self.order = order
        self.records = records
        self.down = down
        self.up = up
        self.log = _heal_importlog.CallLog(order["repo"])

    def run(self):
        plugin = _heal_pytest_reporter.Plugin(self.order, self.records, serve=self.serve)
        # Reports go over the channel; what pytest would print is nobody's to read.
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1)
        os.dup2(quiet, 2)
        with contextlib.suppress(_heal_importlog.NoTool):
            with self.log:
                pytest.main(_heal_driver.ARGUMENTS, plugins=plugin.all())
        self.records._exit(1)

    def serve(self, plugin, session):
        """Called by pytest in place of its run loop; never returns while orders come."""
        self.log.stop()
        if threading.active_count() > 1:
            # Threads do not survive a fork; whoever waits for one would wait for ever.
            self.records._exit(1)
        factory = getattr(session.config, "_tmp_path_factory", None)
        if factory is not None:
            factory.getbasetemp()
        # Whatever pytest loads or caches at its first test and its first failure is then there
        # for every fork.
        for product in (4, 5):
            _heal_canary.run(_heal_canary.make(session, [2, 2, product]))
        plugin.settle(session)
        swapper = _heal_hot_swap.Swapper(self.order["repo"], self.log.codes)
        # Taken here once: to look at all modules in a fork copies the memory they lie in.
        state = _heal_module_snapshot.State(self.order["repo"])
        gc.collect()
        gc.freeze()
        os.write(self.up, b"+")
        buffer = bytearray()
        while True:
            order = _heal_record_writer.read_line(self.down, buffer)
            if order is None:
                self.records._exit(0)
            for edit in itertools.chain(order["edits"], *order["candidates"]):
                swapper.prepare(edit)

            def child(bell, order=order):
                judge = _heal_judge.Judge(plugin, session, order, bell)
                self._answer(order, judge, swapper, state, plugin.name)

            _heal_judge.fork_and_wait(self.records, order, child)
            os.write(self.up, b".")

    def _answer(self, order, judge, swapper, state, name):
        """Do in a fork what an order asks for."""
        # A candidate may kill this server; the root then ends who is left.
        os.write(self.up, b"%d\n" % os.getpid())
        os.close(self.down)
        os.close(self.up)
        if order["kind"] == "calls":
            _heal_call_probe.serve(judge.rerun, swapper, state, order, self.records)
            self.records.send("judged")
        elif order["kind"] == "prefilter":
            tests = judge.items("first")
            _heal_batch_prefilter.serve(tests, swapper, state, order, self.records, name)
        elif self._swap(swapper, order["edits"]):
            judge.run()

    def _swap(self, swapper, edits):
        try:
            swapper.apply(edits)
        except _heal_hot_swap.Unsound as reason:
            self.records.send("unsound", m=str(reason)[:300])
        except _heal_hot_swap.Rejected as reason:
            self.records.send("rejected", m=str(reason)[:300])
        else:
            return True
        return False


def _replace(name, data):
    """A new file in place of the old one, so that neither links nor modes matter."""
    os.unlink(name)
    with io.open(name, "wb") as file:
        file.write(data)
    now = time.time()
    os.utime(name, (now, now))
