"""The client of the sandbox: slots, jobs, and the supervisor process behind them."""

from __future__ import annotations

import contextlib
import os
import platform
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

from heal_bot.errors import SandboxError
from heal_bot.model import Isolation
from heal_bot.sandbox.job import Ended, Job, ended_from_wire, job_to_wire
from heal_bot.sandbox.policy import Layers, child_env
from heal_bot.sandbox.slots import Slot, choose_scratch, remove_scratch
from heal_bot.sandbox.wire import Wire

__all__ = ["Running", "Sandbox", "Slot", "child_env"]

Mode = Literal["strict", "reduced"]

_ANSWER = 30.0
# After a job's wall time the supervisor has this long to kill everything and say so.
_GRACE = 30.0
_REMEDY = (
    "run heal-bot's container (as root, on Linux 5.13 or newer), or choose `reduced` isolation "
    "for code you trust"
)


class Running:
    """A job that was started."""

    def __init__(self, link: _Link, number: int, job: Job, slot: Slot) -> None:
        self.slot = slot
        self._link = link
        self._number = number
        self._latest = time.monotonic() + job.limits.wall + _GRACE
        self._done = threading.Event()
        self._ended: Ended | None = None
        self.clean = True

    @property
    def ended(self) -> Ended | None:
        """The result if there is one yet."""
        return self._ended

    def wait(self, timeout: float | None = None) -> Ended:
        """The result; TimeoutError after `timeout` seconds, SandboxError when none can come."""
        left = max(0.0, self._latest - time.monotonic())
        if not self._done.wait(left if timeout is None else min(timeout, left)):
            if timeout is None or timeout > left:
                raise SandboxError("the sandbox supervisor does not answer; start the run again")
            raise TimeoutError(f"the job still runs after {timeout:g} s")
        assert self._ended is not None
        return self._ended

    def kill(self) -> None:
        """End the job and all its processes; `wait` then tells how."""
        if not self._done.is_set():
            self._link.send({"op": "kill", "id": self._number})

    def settle(self, ended: Ended, *, clean: bool) -> None:
        """Called by the link with the result; without `clean` something may still run."""
        if not self._done.is_set():
            self._ended, self.clean = ended, clean
            self._done.set()


class _Link:
    """A supervisor process and the thread that hears it."""

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
        self._wire = Wire(ours)
        self._lock = threading.Lock()
        self._running: dict[int, Running] = {}
        self._next = 0
        self._dead = False
        hello = self._hello()
        self.uids: tuple[int, ...] = tuple(hello.pop("uids"))
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
            running.settle(Ended("sandbox_error", -1, reason), clean=False)

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
            running = Running(self, self._next, job, slot)
            self._running[self._next] = running
            message = {"op": "start", "id": self._next, "slot": index, "root": str(slot.root)}
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                self._wire.send({**message, "job": job_to_wire(job)}, job.channels)
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


class Sandbox:
    """Runs jobs in isolated slots; a context manager, shared by threads.

    With root one supervisor serves all slots, each with a uid of its own. Without root every
    slot has its own supervisor, so that whatever descends from it belongs to one job.
    """

    def __init__(self, mode: Mode, links: list[_Link], slots: list[Slot], scratch: Path) -> None:
        self._mode = mode
        self._links = links
        self._scratch = scratch
        self._free = slots
        self._changed = threading.Condition()
        self._count = len(slots)
        self._busy: dict[int, Running] = {}
        self._proven: dict[object, Isolation] = {}
        layers = links[0].layers
        self.layers = layers
        self.isolation = Isolation(mode, layers.present(), layers.missing())

    @classmethod
    def start(cls, mode: Mode = "strict", slots: int = 2, scratch: Path | None = None) -> Self:
        """Start the supervisor and make the slots; SandboxError when `mode` cannot be had."""
        if platform.system() != "Linux":
            raise SandboxError(f"the sandbox needs Linux, not {platform.system()}; {_REMEDY}")
        if mode not in {"strict", "reduced"}:
            raise SandboxError(f"unknown isolation {mode!r}; choose strict or reduced")
        if slots < 1:
            raise SandboxError(f"the sandbox needs at least one slot, not {slots}")
        folder = choose_scratch(scratch)
        links: list[_Link] = []
        try:
            if os.geteuid() == 0:
                links.append(_Link(mode, slots, folder, "supervisor"))
            else:
                for number in range(slots):  # one by one, so that a failure stops the others
                    links.append(_Link(mode, 1, folder, f"supervisor-{number}"))  # noqa: PERF401
            refusal = links[0].layers.refusal()
            if mode == "strict" and refusal:
                raise SandboxError(f"{refusal}; {_REMEDY}")
            return cls(mode, links, _make_slots(links, slots, folder), folder)
        except BaseException:
            for link in links:
                link.stop()
            remove_scratch(folder)
            raise

    @contextlib.contextmanager
    def slot(self) -> Iterator[Slot]:
        """A slot for this caller alone, with fresh folders; waits until one is free."""
        with self._changed:
            while not self._free:
                if not self._count:
                    raise SandboxError("no usable sandbox slot is left; start the run again")
                self._changed.wait(1.0)
            slot = self._free.pop()
        try:
            slot.renew()
            yield slot
        finally:
            self._leave(slot)

    def _leave(self, slot: Slot) -> None:
        """Take a slot back, empty of processes and files; else it is never used again."""
        running = self._busy.pop(slot.index, None)
        usable = False
        try:
            if running is not None:
                running.kill()
                running.wait()
            slot.renew()
            usable = running is None or running.clean
        finally:
            with self._changed:
                if usable:
                    self._free.append(slot)
                else:
                    self._count -= 1
                self._changed.notify()

    def start_job(self, job: Job, slot: Slot) -> Running:
        """Start a job in a slot that has none; the caller closes its copies of the channels."""
        before = self._busy.get(slot.index)
        if before is not None and before.ended is None:
            raise SandboxError(f"slot {slot.index} already runs a job")
        if not os.path.isabs(job.argv[0]):  # noqa: PTH117 - argv is text, not a path object
            raise SandboxError(f"{job.argv[0]!r} is not an absolute path; name the program in full")
        link = self._links[0] if len(self._links) == 1 else self._links[slot.index]
        running = link.start(job, slot, 0 if len(self._links) > 1 else slot.index)
        self._busy[slot.index] = running
        return running

    def execute(self, job: Job, slot: Slot) -> Ended:
        """Run a job to its end."""
        return self.start_job(job, slot).wait()

    def supervisors(self) -> tuple[int, ...]:
        """The pids of the supervisor processes."""
        return tuple(link.process.pid for link in self._links)

    def preflight(
        self, python: str, expected: Mapping[str, str], read: tuple[Path, ...] = ()
    ) -> Isolation:
        """Prove the layers and the interpreter from inside, once per (python, read).

        `expected` holds `version`, `prefix`, `base_prefix` as read outside. SandboxError when an
        escape succeeds in strict mode, or another interpreter answers.
        """
        from heal_bot.sandbox.preflight import prove

        key = (python, read, tuple(sorted(expected.items())))
        if key not in self._proven:
            self._proven[key] = prove(self, python, expected, read)
        return self._proven[key]

    def close(self) -> None:
        """End all jobs and the supervisor, remove the scratch folder."""
        links, self._links = self._links, []
        for link in links:
            link.stop()
        if links:
            remove_scratch(self._scratch)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _make_slots(links: list[_Link], count: int, folder: Path) -> list[Slot]:
    layers = links[0].layers
    uids = links[0].uids
    slots = []
    for index in range(count):
        uid = None if layers.uid_reason else uids[index]
        slots.append(Slot(index, uid, folder / f"slot-{index}"))
    for slot in slots:
        slot.renew()
    return slots
