"""Work in forks of this process, a few at a time, each ended after some seconds."""

from __future__ import annotations

import contextlib
import itertools

from _heal_pristine_stdlib import json, os, select, signal, time


def results(jobs, seconds, width):
    """(number, what the job returned) as they end, `width` at a time; [] of one that says nothing.

    A job returns what JSON can hold.
    """
    waiting = iter(enumerate(jobs))
    running = {}
    while True:
        for number, work in itertools.islice(waiting, width - len(running)):
            fork = _Fork(number, work, running, time.monotonic() + seconds)
            running[fork.pipe] = fork
        if not running:
            return
        first = min(fork.ends for fork in running.values())
        ready = select.select(list(running), [], [], max(0.0, first - time.monotonic()))[0]
        for pipe, fork in list(running.items()):
            if (pipe in ready and fork.hears()) or time.monotonic() >= fork.ends:
                del running[pipe]
                yield fork.number, fork.result()


class _Fork:
    """A child that writes what `work` returns, and what it has said so far.

    It has none of the ends from which others are read.
    """

    def __init__(self, number, work, others, ends):
        self.number = number
        self.ends = ends
        self.parts = []
        self.pipe, write = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            try:
                for fd in (self.pipe, *others):
                    os.close(fd)
                with os.fdopen(write, "w", encoding="utf-8") as told:
                    json.dump(work(), told)
            finally:
                os._exit(0)
        os.close(write)

    def hears(self):
        """Take what there is; whether that was all."""
        part = os.read(self.pipe, 1 << 16)
        self.parts.append(part)
        return not part

    def result(self):
        """What it said, once it is gone."""
        os.close(self.pipe)
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        try:
            return json.loads(b"".join(self.parts))
        except ValueError:
            return []
