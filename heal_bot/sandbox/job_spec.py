"""What is asked of the sandbox and what comes back: plain values that cross a socket as JSON."""

from __future__ import annotations

import base64
import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from heal_bot.core.model.regression import MAX_FILES

Profile = Literal["test", "setup", "loopback"]
PROFILES: tuple[Profile, ...] = ("test", "setup", "loopback")


@dataclass(frozen=True, slots=True)
class Limits:
    """What a job may use; seconds and bytes.

    `memory` bounds the resident memory of all its processes together, `data` is RLIMIT_DATA of
    each (not the address space: interpreters reserve far more than they touch), `cpu` is per
    process (only `wall` bounds all of them), `output_bytes` ends the job, `kept_bytes` of it
    (half head, half tail) come back. `terminals` are pseudo-terminals open at a time. `nice` says
    how far it gives way to other jobs, 0 to 19.
    """

    wall: float = 600.0
    cpu: int = 600
    memory: int = 4 << 30
    data: int = 2 << 30
    processes: int = 128
    open_files: int = 512
    file_bytes: int = 256 << 20
    scratch_bytes: int = 1 << 30
    scratch_files: int = 2 * MAX_FILES
    output_bytes: int = 64 << 20
    kept_bytes: int = 1 << 20
    terminals: int = 32
    nice: int = 0


@dataclass(frozen=True, slots=True)
class Job:
    """A program to run in a slot.

    `read` are roots it may read and execute beyond the system's own. `channels` are descriptors
    of the caller that the program gets as 3, 4, …; the caller closes its own copies. `hosts` are
    the names a `setup` job may reach by TLS through the supervisor's proxy; none by default.
    `index` is a socket of the caller by which the job's own gateway is told of an index
    (`index_gateway`) and tells what it refused: then the gateway is all that a `setup` job reaches.
    Before one that is `alone` starts, every process that outlived its parent in another job is
    killed and the files of the others in `/dev/shm` are removed; it has none of its own there,
    locks no file, and is told no count of what it and the machine read or waited for. Where jobs
    share a uid nobody is killed.
    With `terminals` it may open pseudo-terminals, where it has a uid of its own to own them.
    """

    argv: tuple[str, ...]
    env: Mapping[str, str]
    cwd: Path
    read: tuple[Path, ...] = ()
    channels: tuple[int, ...] = ()
    limits: Limits = field(default_factory=Limits)
    profile: Profile = "test"
    hosts: tuple[str, ...] = ()
    index: int = -1
    alone: bool = False
    terminals: bool = False

    @property
    def proxied(self) -> bool:
        """Whether it has sockets, each of which leads to a proxy."""
        return bool(self.hosts) or self.index >= 0


@dataclass(frozen=True, slots=True)
class JobResult:
    """How a job ended.

    how: exited | signalled | timeout | memory | scratch | output | terminals | killed |
    sandbox_error.
    `code` is the exit code, or minus the signal. `output` is stdout and stderr as written,
    clipped in the middle. `survivors` counts processes left behind when the program ended by
    itself (all killed). After `sandbox_error` nothing that ran can be believed.
    """

    how: str
    code: int
    detail: str = ""
    output: bytes = b""
    seconds: float = 0.0
    peak_memory: int = 0
    survivors: int = 0


def job_to_wire(job: Job) -> dict[str, Any]:
    """The job without its descriptors, which travel beside the message."""
    fields = dataclasses.asdict(job)
    del fields["channels"]
    read = [str(path) for path in job.read]
    return {**fields, "cwd": str(job.cwd), "read": read, "index": job.index >= 0}


def job_from_wire(data: Mapping[str, Any], fds: tuple[int, ...]) -> Job:
    """The job as the supervisor sees it; ValueError for an unknown profile."""
    if data["profile"] not in PROFILES:
        raise ValueError(f"unknown sandbox profile {data['profile']!r}; one of {PROFILES}")
    if (data["hosts"] or data["index"]) and data["profile"] != "setup":
        raise ValueError(f"a {data['profile']} job has no network; only `setup` may name hosts")
    if data["hosts"] and data["index"]:
        raise ValueError("a job reaches hosts or an index, not both")
    return Job(
        argv=tuple(data["argv"]),
        env=data["env"],
        cwd=Path(data["cwd"]),
        read=tuple(Path(path) for path in data["read"]),
        channels=fds[:-1] if data["index"] else fds,
        limits=Limits(**data["limits"]),
        profile=data["profile"],
        hosts=tuple(data["hosts"]),
        index=fds[-1] if data["index"] else -1,
        alone=data["alone"] is True,
        terminals=data["terminals"] is True,
    )


def ended_to_wire(ended: JobResult) -> dict[str, Any]:
    """The result with its output in base64."""
    fields = dataclasses.asdict(ended)
    fields["output"] = base64.b64encode(ended.output).decode("ascii")
    return fields


def ended_from_wire(data: Mapping[str, Any]) -> JobResult:
    """The inverse of `ended_to_wire`."""
    return JobResult(**{**data, "output": base64.b64decode(data["output"])})
