"""One job in the supervisor's hands: running, then lingering, dying, and over."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from dataclasses import dataclass, field
from pathlib import Path

from heal_bot.sandbox import child_setup, processes, resource_monitor
from heal_bot.sandbox.job_spec import Job, JobResult

# An honest helper (a resource tracker) ends by itself a moment after its program.
_LINGER = 0.3
_DYING = 15.0
_CHUNK = 1 << 16


@dataclass(slots=True)
class JobState:
    """State of a job; the supervisor reads its pipes and calls `step` until `over`.

    `uid` None means without root: then every descendant of the supervisor belongs to the job,
    because such a supervisor has one slot only. `helper` is the pid of the job's proxy, if it has
    one; it ends with the program.
    """

    id: int
    slot: int
    job: Job
    uid: int | None
    roots: tuple[Path, ...]
    pid: int
    output: int
    errors: int
    kept: resource_monitor.Output
    started: float = field(default_factory=time.monotonic)
    status: int | None = None
    how: str = ""
    detail: str = ""
    survivors: int = 0
    peak: int = 0
    complaint: bytearray = field(default_factory=bytearray)
    linger_until: float = 0.0
    dying_until: float = 0.0
    over: bool = False
    clean: bool = True
    helper: int = 0
    scratch_pace: resource_monitor.SamplingInterval = field(
        default_factory=lambda: resource_monitor.SamplingInterval(0.5)
    )

    def read(self, fd: int) -> bool:
        """Take what a pipe has; False at its end."""
        try:
            data = os.read(fd, _CHUNK)
        except BlockingIOError:
            return True
        if fd == self.errors:
            self.complaint += data[:4096]
        else:
            self.kept.add(data)
            if self.kept.total > self.job.limits.output_bytes:
                self.end("output", f"more than {self.job.limits.output_bytes} bytes of output")
        return bool(data)

    def end(self, how: str, detail: str) -> None:
        """Decide, once, why the job ends before its program did."""
        if not self.how:
            self.how, self.detail = how, detail

    def members(self, table: dict[int, processes.Process]) -> list[int]:
        """The job's live processes."""
        found = [
            pid
            for pid in processes.list_descendants(os.getpid(), table)
            if not table[pid].zombie and pid != self.helper
        ]
        if self.uid is None:
            return found
        # Between fork and the uid drop the program's own process still has ours.
        return [pid for pid in found if pid == self.pid or processes.real_uid(pid) == self.uid]

    def measure(self, table: dict[int, processes.Process], available: int) -> None:
        """Compare memory and disk with the limits; `available` is what the machine has left."""
        if self.how or self.status is not None:
            return
        limits = self.job.limits
        used = sum(table[pid].memory for pid in self.members(table))
        used += resource_monitor.shared_memory(self.uid)
        self.peak = max(self.peak, used)
        if used > limits.memory:
            self.end("memory", f"more than {limits.memory >> 20} MiB resident in all processes")
        elif available < resource_monitor.MEMORY_FLOOR:
            self.end("memory", "the machine had less than 256 MiB left")
        elif self.job.terminals and resource_monitor.count_terminals(self.uid) > limits.terminals:
            self.end("terminals", f"more than {limits.terminals} pseudo-terminals open")
        now = time.monotonic()
        if self.scratch_pace.due(now):
            excess = resource_monitor.excess_scratch(self.roots, limits)
            self.scratch_pace.done()
            if excess:
                self.end("scratch", excess)

    def step(self, now: float) -> None:
        """Go on to the next phase when this one is done."""
        if not self.how and self.status is None and now - self.started > self.job.limits.wall:
            self.end("timeout", f"still running after {self.job.limits.wall:g} s")
        if self.helper and (self.how or self.status is not None):
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.helper, signal.SIGKILL)
            self.helper = 0
        if self.dying_until:
            self._die(now)
        elif self.how:
            self._kill(now)
        elif self.status is not None:
            self._linger(now)

    def _alone(self) -> bool:
        """Whether nothing of the job is left, not even a zombie; exact and cheap."""
        if self.uid is None:
            return processes.has_no_child()
        return processes.has_no_process(self.uid)

    def _linger(self, now: float) -> None:
        """The program ended by itself: give what it left behind a moment, then count it."""
        if self._alone():
            self.over = True
        elif not self.linger_until:
            self.linger_until = now + _LINGER
        elif now > self.linger_until:
            self.survivors = max(1, len(self.members(processes.list_processes())))
            self._kill(now)

    def _kill(self, now: float) -> None:
        self.dying_until = now + _DYING
        self._die(now)

    def _die(self, now: float) -> None:
        """Kill until nothing is left; give up after a while, which spoils the slot."""
        if self.status is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)
        if self.uid is None:
            processes.kill_below(os.getpid())
        else:
            processes.kill_uid(self.uid)
        if self.status is not None and self._alone():
            self.over = True
        elif now > self.dying_until:
            self.over, self.clean = True, False
            self.how, self.detail = (
                "sandbox_error",
                f"processes could not be killed within {_DYING:g} s",
            )

    def ended(self) -> JobResult:
        """The result, after the last bytes of the pipes were read."""
        for fd in (self.output, self.errors):
            os.set_blocking(fd, False)
            with contextlib.suppress(OSError):
                for _ in range(64):
                    if not self.read(fd):
                        break
        how, code, detail = self._verdict()
        return JobResult(
            how=how,
            code=code,
            detail=detail,
            output=self.kept.kept(),
            seconds=time.monotonic() - self.started,
            peak_memory=self.peak,
            survivors=self.survivors,
        )

    def _verdict(self) -> tuple[str, int, str]:
        status = self.status or 0
        code = os.waitstatus_to_exitcode(status)
        complaint = bytes(self.complaint)
        if self.how == "sandbox_error":
            return self.how, code, self.detail
        if self.how == "killed" and not complaint.startswith(child_setup.READY):
            return self.how, code, self.detail
        if complaint != child_setup.READY:
            reason = complaint.removeprefix(child_setup.READY).decode(errors="replace")
            return "sandbox_error", code, reason or f"set-up ended early with code {code}"
        if self.how:
            return self.how, code, self.detail
        return ("exited" if code >= 0 else "signalled"), code, ""
