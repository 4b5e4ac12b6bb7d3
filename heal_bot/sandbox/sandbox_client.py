"""The client of the sandbox: slots, jobs, and the supervisors behind them."""

from __future__ import annotations

import contextlib
import os
import platform
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Self

from heal_bot.core.errors import SandboxError
from heal_bot.core.model import Isolation
from heal_bot.sandbox.job_spec import Job, JobResult
from heal_bot.sandbox.landlock import child_env
from heal_bot.sandbox.scratch_slots import Slot, choose_scratch, remove_scratch
from heal_bot.sandbox.supervisor_client import Mode, Running, SupervisorLink

if TYPE_CHECKING:
    from heal_bot.core.settings import Settings

__all__ = ["Launch", "Running", "Sandbox", "Slot", "child_env", "launch_sandbox"]

# A warm session keeps a slot per core while the confirmation of its winner needs its own.
_SLOTS = 4

_REMEDY = (
    "run heal-bot's container (as root, on Linux 5.13 or newer), or choose `reduced` isolation "
    "for code you trust"
)


class Launch:
    """The supervisors of a sandbox while they start; a context manager.

    They load beside their client: whoever has something else to load does that before `ready`.
    Without root every slot has its own supervisor, so that whatever descends from it belongs to
    one job; with root one serves all slots, each with a uid of its own.
    """

    def __init__(self, mode: Mode = "strict", slots: int = 2, scratch: Path | None = None) -> None:
        if platform.system() != "Linux":
            raise SandboxError(f"the sandbox needs Linux, not {platform.system()}; {_REMEDY}")
        if mode not in {"strict", "reduced"}:
            raise SandboxError(f"unknown isolation {mode!r}; choose strict or reduced")
        if slots < 1:
            raise SandboxError(f"the sandbox needs at least one slot, not {slots}")
        self._mode, self._slots = mode, slots
        self._folder = choose_scratch(scratch)
        self._links: list[SupervisorLink] = []
        self._taken = False
        with contextlib.ExitStack() as stack:
            stack.callback(self.stop)
            own, count = (slots, 1) if os.geteuid() == 0 else (1, slots)
            for number in range(count):  # one by one, so that a failure stops the others
                name = f"supervisor-{number}"
                self._links.append(SupervisorLink(mode, own, self._folder, name))
            stack.pop_all()

    def ready(self) -> Sandbox:
        """The sandbox; SandboxError when its mode cannot be had."""
        with contextlib.ExitStack() as stack:
            stack.callback(self.stop)
            for link in self._links:
                link.greet()
            refusal = self._links[0].layers.refusal()
            if self._mode == "strict" and refusal:
                raise SandboxError(f"{refusal}; {_REMEDY}")
            slots = _make_slots(self._links, self._slots, self._folder)
            sandbox = Sandbox(self._mode, self._links, slots, self._folder)
            self._taken = True
            stack.pop_all()
        return sandbox

    def stop(self) -> None:
        """End what was started, unless it has become a sandbox."""
        if not self._taken:
            self._taken = True
            for link in self._links:
                link.stop()
            remove_scratch(self._folder)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()


class Sandbox:
    """Runs jobs in isolated slots; a context manager, shared by threads.

    `count` is how many slots can be used, free or not.
    """

    def __init__(
        self, mode: Mode, links: list[SupervisorLink], slots: list[Slot], scratch: Path
    ) -> None:
        self._mode = mode
        self._links = links
        self.scratch = scratch
        self._free = slots
        self._changed = threading.Condition()
        self.count = len(slots)
        self._busy: dict[int, Running] = {}
        self.proven: dict[object, Isolation] = {}
        self._closing = contextlib.ExitStack()
        layers = links[0].layers
        self.layers = layers
        self.isolation = Isolation(mode, layers.present(), layers.missing())

    @staticmethod
    def start(mode: Mode = "strict", slots: int = 2, scratch: Path | None = None) -> Sandbox:
        """Start the supervisor and make the slots; SandboxError when `mode` cannot be had."""
        return Launch(mode, slots, scratch).ready()

    @contextlib.contextmanager
    def slot(self) -> Iterator[Slot]:
        """A slot for this caller alone, with fresh folders; waits until one is free."""
        with self._changed:
            while not self._free:
                if not self.count:
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
                    self.count -= 1
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
        gap = self.layers.loopback_gap() if job.profile == "loopback" else ""
        if gap and gap not in self.isolation.missing:
            self.isolation = replace(self.isolation, missing=(*self.isolation.missing, gap))
        return running

    def execute(self, job: Job, slot: Slot) -> JobResult:
        """Run a job to its end."""
        return self.start_job(job, slot).wait()

    def supervisors(self) -> tuple[int, ...]:
        """The pids of the supervisor processes."""
        return tuple(link.process.pid for link in self._links)

    def before_close(self, action: Callable[[], None]) -> None:
        """Have something done while slots can still be given back."""
        self._closing.callback(action)

    def close(self) -> None:
        """End all jobs and the supervisor, remove the scratch folder."""
        self._closing.close()
        links, self._links = self._links, []
        for link in links:
            link.stop()
        if links:
            remove_scratch(self.scratch)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def _make_slots(links: list[SupervisorLink], count: int, folder: Path) -> list[Slot]:
    layers, uids = links[0].layers, links[0].uids
    slots = []
    for index in range(count):
        uid = None if layers.uid_reason else uids[index]
        slot = Slot(index, uid, folder / f"slot-{index}")
        slot.renew()
        slots.append(slot)
    return slots


def launch_sandbox(settings: Settings) -> Launch:
    """The sandbox that the settings ask for, starting."""
    place = Path(settings.scratch_dir) if settings.scratch_dir else None
    return Launch(settings.sandbox, _SLOTS, place)
