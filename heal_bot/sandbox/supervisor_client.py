"""The connection to one supervisor process, and the jobs that run behind it."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any, Literal

from heal_bot.core.errors import SandboxError
from heal_bot.sandbox.job_spec import Job, JobResult, ended_from_wire, job_to_wire
from heal_bot.sandbox.landlock import Layers
from heal_bot.sandbox.scratch_slots import Slot
from heal_bot.sandbox.socket_ipc import SocketChannel

Mode = Literal["strict", "reduced"]

_ANSWER = 30.0
# After a job's wall time the supervisor has this long to kill everything and say so.
_GRACE = 30.0


class Running:
    """A job that was started; `ended` is its result once there is one."""

    def __init__(self, link: SupervisorLink, number: int, job: Job) -> None:
        self._link = link
        self._number = number
        self._latest = time.monotonic() + job.limits.wall + _GRACE
        self._done = threading.Event()
        self.ended: JobResult | None = None
        self.clean = True

    def wait(self, timeout: float | None = None) -> JobResult:
        """The result; TimeoutError after `timeout` seconds, SandboxError when none can come."""
        left = max(0.0, self._latest - time.monotonic())
        if not self._done.wait(left if timeout is None else min(timeout, left)):
            if timeout is None or timeout > left:
                raise SandboxError("the sandbox supervisor does not answer; start the run again")
            raise TimeoutError(f"the job still runs after {timeout:g} s")
        assert self.ended is not None
        return self.ended

    def kill(self) -> None:
        """End the job and all its processes; `wait` then tells how."""
        if not self._done.is_set():
            self._link.send({"op": "kill", "id": self._number})

    def settle(self, ended: JobResult, *, clean: bool) -> None:
        """Called by the link with the result; without `clean` something may still run."""
        if not self._done.is_set():
            self.ended, self.clean = ended, clean
            self._done.set()


class SupervisorLink:
    """A supervisor process and the thread that hears it.

    The process starts at once; nothing else may be asked of it before `greet` has returned.
    """

    def __init__(self, mode: Mode, slots: int, scratch: Path, name: str) -> None:
        ours, theirs = socket.socketpair()
        self._log = scratch / f"{name}.log"
        argv = [sys.executable, "-I", "-m", "heal_bot.sandbox.supervisor"]
        argv += [str(theirs.fileno()), mode, str(slots), str(scratch)]
        with theirs, self._log.open("wb") as log:
            self.process = subprocess.Popen(
                argv,
                env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8"},
                cwd="/",
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=(theirs.fileno(),),
                start_new_session=True,
            )
        self._wire = SocketChannel(ours)
        self._lock = threading.Lock()
        self._running: dict[int, Running] = {}
        self._next = 0
        self._dead = False
        self.uids: tuple[int, ...] = ()

    def greet(self) -> None:
        """Wait until it says what holds here; SandboxError when it does not."""
        hello = self._hello()
        self.uids = tuple(hello.pop("uids"))
        hello.pop("op")
        self.layers = Layers(**hello)
        self._thread = threading.Thread(target=self._hear, name="sandbox", daemon=True)
        self._thread.start()

    def _hello(self) -> dict[str, Any]:
        self._wire.socket.settimeout(_ANSWER)
        try:
            messages = self._wire.receive()
        except TimeoutError:
            messages = None
        self._wire.socket.settimeout(None)
        if not messages:
            reason = self.last_words()
            self.stop()
            raise SandboxError(
                f"the sandbox supervisor did not start: {reason}; see heal-bot doctor"
            )
        return messages[0][0]

    def last_words(self) -> str:
        """The last line the supervisor wrote, for an error message."""
        with contextlib.suppress(OSError):
            lines = self._log.read_text(errors="replace").strip().splitlines()
            if lines:
                return lines[-1][:300]
        return "no message"

    def _hear(self) -> None:
        while True:
            try:
                messages = self._wire.receive()
            except OSError:
                messages = None
            if messages is None:
                break
            for message, _ in messages:
                with self._lock:
                    running = self._running.pop(message["id"], None)
                if running is not None:
                    running.settle(ended_from_wire(message["ended"]), clean=message["clean"])
        with self._lock:
            self._dead = True
            left, self._running = list(self._running.values()), {}
        for running in left:
            reason = f"the supervisor ended early: {self.last_words()}"
            running.settle(JobResult("sandbox_error", -1, reason), clean=False)

    def send(self, message: dict[str, Any], fds: tuple[int, ...] = ()) -> None:
        """Tell the supervisor; quietly nothing when it is gone, its jobs are settled already."""
        with self._lock, contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self._wire.send(message, fds)

    def start(self, job: Job, slot: Slot, index: int) -> Running:
        """Have the supervisor start a job in its slot `index`."""
        with self._lock:
            if self._dead:
                raise SandboxError(f"the sandbox supervisor is gone: {self.last_words()}")
            self._next += 1
            running = Running(self, self._next, job)
            self._running[self._next] = running
            message = {"op": "start", "id": self._next, "slot": index, "root": str(slot.root)}
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                fds = job.channels if job.index < 0 else (*job.channels, job.index)
                self._wire.send({**message, "job": job_to_wire(job)}, fds)
        return running

    def stop(self) -> None:
        """End the supervisor, which ends its jobs; kill it when it takes too long."""
        with contextlib.suppress(OSError):
            self._wire.send({"op": "bye"})
        with contextlib.suppress(OSError):
            self._wire.socket.shutdown(socket.SHUT_RDWR)
        try:
            self.process.wait(_GRACE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(_GRACE)
        if thread := getattr(self, "_thread", None):
            thread.join(_GRACE)
        self._wire.close()
