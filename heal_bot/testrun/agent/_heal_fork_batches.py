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
            pid, pipe = _begun(work, running)
            running[pipe] = _Fork(number, pid, pipe, time.monotonic() + seconds)
        if not running:
            return
        first = min(fork.ends for fork in running.values())
        ready = select.select(list(running), [], [], max(0.0, first - time.monotonic()))[0]
        for pipe, fork in list(running.items()):
            if (pipe in ready and fork.hears()) or time.monotonic() >= fork.ends:
                del running[pipe]
                yield fork.number, fork.result()


def _begun(work, others):
    """A child that writes what `work` returns: its number and the end to read from.

    It has none of the ends from which others are read.
    """
    pipe, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            for fd in (pipe, *others):
                os.close(fd)
            with os.fdopen(write, "w", encoding="utf-8") as told:
                json.dump(work(), told)
        finally:
            os._exit(0)
    os.close(write)
    return pid, pipe


class _Fork:
    """One child, and what it has said so far."""

    def __init__(self, number, pid, pipe, ends):
        self.number = number
        self.pid = pid
        self.pipe = pipe
        self.ends = ends
        self.parts = []

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
