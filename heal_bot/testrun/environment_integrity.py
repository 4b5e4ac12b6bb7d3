"""Whether an environment is still as it was laid out, looked at beside the runs in it."""

from __future__ import annotations

import contextlib
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor

from heal_bot.core.errors import SandboxError
from heal_bot.core.model import Environment


class Vigil:
    """Has a look taken after every run; the look after one run is that before the next.

    What `changed` says cannot become false again, so a look stands for all runs that ended before
    it: runs side by side share the one after the last of them, and no run waits for it.
    """

    def __init__(self, changed: Callable[[Environment], bool]) -> None:
        self._changed = changed
        self._thread = ThreadPoolExecutor(1, "vigil")
        self._active: Counter[str] = Counter()
        self._waiting: dict[str, Future[None]] = {}
        self._broken: set[str] = set()
        self._closed = False
        self._lock = threading.Lock()

    @contextlib.contextmanager
    def during(self, env: Environment) -> Iterator[None]:
        """A run takes place; SandboxError when a look has shown another environment before it."""
        if env.prefix in self._broken:
            raise SandboxError(
                f"files of the environment {env.prefix} changed while tests ran: nothing they say"
                " counts; see what else writes there, remove that folder and run again"
            )
        with self._lock:
            self._active[env.prefix] += 1
        try:
            yield
        finally:
            self._due(env)

    def close(self) -> None:
        """Wait for the looks that are due; no run counts any more."""
        with self._lock:
            self._closed = True
        self._thread.shutdown()

    def _due(self, env: Environment) -> None:
        with self._lock:
            self._active[env.prefix] -= 1
            if self._active[env.prefix] or self._closed:
                return
            last = self._waiting.get(env.prefix)
            if last is None or last.running() or last.done():
                self._waiting[env.prefix] = self._thread.submit(self._look, env)

    def _look(self, env: Environment) -> None:
        if self._changed(env):
            self._broken.add(env.prefix)
