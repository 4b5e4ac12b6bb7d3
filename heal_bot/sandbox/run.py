"""The client of the sandbox: slots, jobs, and the supervisors behind them."""

from __future__ import annotations

import contextlib
import os
import platform
import threading
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Self

from heal_bot.errors import SandboxError
from heal_bot.model import Isolation
from heal_bot.sandbox.job import Ended, Job
from heal_bot.sandbox.link import Link, Mode, Running
from heal_bot.sandbox.policy import child_env
from heal_bot.sandbox.slots import Slot, choose_scratch, remove_scratch

__all__ = ["Running", "Sandbox", "Slot", "child_env"]

_REMEDY = (
    "run heal-bot's container (as root, on Linux 5.13 or newer), or choose `reduced` isolation "
    "for code you trust"
)


class Sandbox:
    """Runs jobs in isolated slots; a context manager, shared by threads.

    With root one supervisor serves all slots, each with a uid of its own. Without root every
    slot has its own supervisor, so that whatever descends from it belongs to one job.
    """

    def __init__(self, mode: Mode, links: list[Link], slots: list[Slot], scratch: Path) -> None:
        self._mode = mode
        self._links = links
        self.scratch = scratch
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
        links: list[Link] = []
        try:
            if os.geteuid() == 0:
                links.append(Link(mode, slots, folder, "supervisor"))
            else:
                for number in range(slots):  # one by one, so that a failure stops the others
                    links.append(Link(mode, 1, folder, f"supervisor-{number}"))  # noqa: PERF401
            refusal = links[0].layers.refusal()
            if mode == "strict" and refusal:
                raise SandboxError(f"{refusal}; {_REMEDY}")
            return cls(mode, links, _make_slots(links, slots, folder), folder)
        except BaseException:
            for link in links:
                link.stop()
            remove_scratch(folder)
            raise

    @property
    def count(self) -> int:
        """How many slots can be used, free or not."""
        return self._count

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
        gap = self.layers.loopback_gap() if job.profile == "loopback" else ""
        if gap and gap not in self.isolation.missing:
            self.isolation = replace(self.isolation, missing=(*self.isolation.missing, gap))
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
            remove_scratch(self.scratch)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _make_slots(links: list[Link], count: int, folder: Path) -> list[Slot]:
    layers = links[0].layers
    uids = links[0].uids
    slots = []
    for index in range(count):
        uid = None if layers.uid_reason else uids[index]
        slots.append(Slot(index, uid, folder / f"slot-{index}"))
    for slot in slots:
        slot.renew()
    return slots
