"""The supervisor: starts, limits, kills and reaps sandboxes for one client; holds no secret.

A separate program (`python -I -m heal_bot.sandbox.supervisor FD MODE SLOTS SCRATCH`) with one
thread. It never waits for its client nor, without a bound, for a job.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import gc
import os
import resource
import selectors
import signal
import socket
import sys
import time
from pathlib import Path
from typing import Any

from heal_bot.sandbox import child_setup, egress_proxy, landlock, prctl, processes, resource_monitor
from heal_bot.sandbox.job_lifecycle import JobState
from heal_bot.sandbox.job_spec import Job, JobResult, Profile, ended_to_wire, job_from_wire
from heal_bot.sandbox.scratch_slots import SCRATCH_PARTS, purge_shared_memory, remove_scratch
from heal_bot.sandbox.socket_ipc import SocketChannel
from heal_bot.sandbox.uid_pool import claim_uids
from heal_bot.sandbox.watchdog import fork_watchdog

_OPEN_FILES = 1024
_TICK, _BUSY_TICK = 0.1, 0.01


def probe(uid: int) -> landlock.Layers:
    """What this machine offers; each attempt is made, none is assumed."""
    abi, landlock_reason = 0, ""
    try:
        import landlockpy

        abi = landlockpy.abi_version()
        landlock_reason = "" if abi else "the kernel has none or it is switched off"
    except OSError as error:
        landlock_reason = error.strerror or str(error)
    seccomp_reason = child_setup.seccomp_absent()
    try:
        from heal_bot.sandbox.seccomp import compile_filter

        compile_filter("test")
    except (RuntimeError, OSError, ValueError) as error:
        seccomp_reason = seccomp_reason or str(error)
    return landlock.Layers(
        landlock=abi,
        landlock_reason=landlock_reason,
        seccomp_reason=seccomp_reason,
        uid_reason=child_setup.uid_absent(uid),
        namespace=child_setup.namespace_possible(),
    )


class Supervisor:
    """The event loop and the jobs in it."""

    def __init__(self, wire: SocketChannel, mode: str, slots: int, scratch: Path) -> None:
        self._wire = wire
        self._mode = mode
        self._scratch = scratch
        self._uids, self._locks = claim_uids(slots)
        self._layers = probe(self._uids[0])
        self._cases: dict[int, JobState] = {}
        self._spoiled: set[int] = set()
        self._filters: dict[tuple[Profile, bool, bool], bytes] = {}
        self._selector = selectors.DefaultSelector()
        self._pace = resource_monitor.SamplingInterval(_TICK)
        self._guard, self._guard_line = (
            (-1, -1) if self._layers.uid_reason else fork_watchdog(self._uids)
        )
        self._polite = False

    def serve(self) -> None:
        """Answer the client until it goes; then end every job and, if it died, its scratch."""
        self._wire.queue({"op": "hello", "uids": self._uids, **dataclasses.asdict(self._layers)})
        self._selector.register(self._wire.socket, selectors.EVENT_READ)
        wake = self._wake_on_child()
        # What a collection would touch, every fork would have to copy.
        gc.freeze()
        serving = True
        while serving or self._cases:
            for key, _ in self._selector.select(self._patience()):
                if key.fileobj is self._wire.socket:
                    serving = self._listen()
                elif key.fd == wake:
                    with contextlib.suppress(BlockingIOError):
                        os.read(wake, 4096)
                else:
                    self._drain(key)
            self._reap()
            self._step()
            with contextlib.suppress(OSError):
                self._wire.flush()
            if not serving:
                for case in self._cases.values():
                    case.end("killed", "the client is gone")
        if not self._polite:
            with contextlib.suppress(OSError):
                remove_scratch(self._scratch)
        if self._guard_line >= 0:
            os.close(self._guard_line)

    def _wake_on_child(self) -> int:
        reader, writer = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
        self._selector.register(reader, selectors.EVENT_READ)
        return reader

    def _patience(self) -> float | None:
        """How long nothing may happen before we look ourselves."""
        if not self._cases:
            return None if self._wire.flush() else _BUSY_TICK
        ending = any(case.how or case.status is not None for case in self._cases.values())
        return _BUSY_TICK if ending else _TICK

    def _listen(self) -> bool:
        """Take the client's messages; False when it is gone."""
        messages = self._wire.receive()
        if messages is None:
            self._selector.unregister(self._wire.socket)
            return False
        for message, fds in messages:
            if message["op"] == "start":
                self._start(message, fds)
            elif message["op"] == "kill" and message["id"] in self._cases:
                self._cases[message["id"]].end("killed", "ended by the caller")
            elif message["op"] == "bye":
                self._polite = True
        return True

    def _start(self, message: dict[str, Any], fds: tuple[int, ...]) -> None:
        try:
            job = job_from_wire(message["job"], fds)
            if refusal := self._refusal(message["slot"], job):
                self._tell(message["id"], JobResult("sandbox_error", -1, refusal))
                return
            case = self._launch(message["id"], message["slot"], Path(message["root"]), job)
            if not self._cases:
                self._pace.begin(time.monotonic())
            self._cases[case.id] = case
            for fd in (case.output, case.errors):
                os.set_blocking(fd, False)
                self._selector.register(fd, selectors.EVENT_READ, case)
        except (OSError, ValueError, TypeError, KeyError) as error:
            self._tell(message["id"], JobResult("sandbox_error", -1, f"not started: {error}"))
        finally:
            for fd in fds:
                os.close(fd)

    def _refusal(self, slot: int, job: Job) -> str:
        if slot in self._spoiled:
            return f"slot {slot} holds processes that could not be killed"
        if any(case.slot == slot for case in self._cases.values()):
            return f"slot {slot} already runs a job"
        if job.proxied and self._layers.seccomp_reason:
            return "without seccomp a job's network cannot be held to its hosts"
        if job.profile == "loopback" and (refusal := self._layers.no_loopback(self._mode)):
            return refusal
        return self._layers.refusal() if self._mode == "strict" else ""

    def _launch(self, number: int, slot: int, root: Path, job: Job) -> JobState:
        uid = None if self._layers.uid_reason else self._uids[slot]
        roots = tuple(root / part for part in SCRATCH_PARTS)
        served = job.profile == "loopback"
        own = served and self._layers.namespace
        bpf = self._filter(job)
        if job.alone and uid is not None:
            self._silence()
        helper, door = 0, None
        # The parent's ends of what the job takes along are closed whatever happens here.
        with contextlib.ExitStack() as passed:
            if job.proxied:
                helper, door, named = _fork_proxy(job, uid)
                passed.callback(door.close)
                job = dataclasses.replace(job, env={**job.env, **named})
            rules = None
            if self._layers.landlock:
                # Without a uid of its own it could open the terminals of its user as well.
                terminals = job.terminals and uid is not None
                rules = landlock.make_ruleset(
                    job.read, roots, ports=served, network=not own, terminals=terminals,
                    alone=job.alone,
                )  # fmt: skip
                passed.callback(rules.close)
            plan = child_setup.Plan(
                job=job,
                uid=uid,
                bpf=bpf,
                rules=rules,
                own_network=own,
                thread_count=0 if uid is not None else processes.threads_of(os.getuid()),
                supervisor=os.getpid(),
                door=-1 if door is None else door.fileno(),
            )
            out_read, out_write = os.pipe2(os.O_CLOEXEC)
            passed.callback(os.close, out_write)
            err_read, err_write = os.pipe2(os.O_CLOEXEC)
            passed.callback(os.close, err_write)
            pid = os.fork()
            if pid == 0:
                child_setup.run_isolated(plan, out_write, err_write)
        kept = resource_monitor.Output(job.limits.kept_bytes)
        return JobState(number, slot, job, uid, roots, pid, out_read, err_read, kept, helper=helper)

    def _silence(self) -> None:
        """Leave nobody in the other jobs who could tell the next one what they know.

        What the programs of these jobs know and whom they started stays; what outlived its parent
        goes, and with it its locks, and the files that any of them left for others to see.
        """
        ours = {case.pid for case in self._cases.values()}
        ours |= {case.helper for case in self._cases.values()} | {self._guard}
        processes.kill_orphans(os.getpid(), frozenset(ours))
        for case in self._cases.values():
            if case.uid is not None:
                purge_shared_memory(case.uid)

    def _filter(self, job: Job) -> bytes:
        if self._layers.seccomp_reason:
            return b""
        kind = job.profile, job.proxied, job.alone
        if kind not in self._filters:
            from heal_bot.sandbox.seccomp import compile_filter

            self._filters[kind] = compile_filter(
                job.profile,
                own_network=self._layers.namespace,
                proxied=job.proxied,
                own_uid=not self._layers.uid_reason,
                alone=job.alone,
            )
        return self._filters[kind]

    def _drain(self, key: selectors.SelectorKey) -> None:
        case: JobState = key.data
        if not case.read(key.fd) or (case.how and key.fd == case.output):
            self._selector.unregister(key.fd)

    def _reap(self) -> None:
        """Collect every dead child, orphans of the jobs included: zombies count as processes."""
        owners = {case.pid: case for case in self._cases.values()}
        with contextlib.suppress(ChildProcessError):
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if pid == 0:
                    break
                if pid in owners:
                    owners[pid].status = status
                elif pid == self._guard:
                    os.close(self._guard_line)
                    self._guard, self._guard_line = fork_watchdog(self._uids)

    def _step(self) -> None:
        """Measure when it is time, let each job go on, tell of those that are over."""
        now = time.monotonic()
        if self._cases and self._pace.due(now):
            table, available = processes.list_processes(), processes.available_memory()
            for case in self._cases.values():
                case.measure(table, available)
            self._pace.done()
        for case in list(self._cases.values()):
            case.step(now)
            if case.over:
                self._close(case)

    def _close(self, case: JobState) -> None:
        self._reap()
        del self._cases[case.id]
        if not case.clean:
            self._spoiled.add(case.slot)
        for fd in (case.output, case.errors):
            with contextlib.suppress(KeyError):
                self._selector.unregister(fd)
        self._tell(case.id, case.ended(), clean=case.clean)
        os.close(case.output)
        os.close(case.errors)

    def _tell(self, number: int, ended: JobResult, *, clean: bool = True) -> None:
        result = ended_to_wire(ended)
        self._wire.queue({"op": "ended", "id": number, "clean": clean, "ended": result})


def _fork_proxy(job: Job, uid: int | None) -> tuple[int, socket.socket, dict[str, str]]:
    """The proxy that a job has; its pid, its door, and the variables that tell of it."""
    if job.index < 0:
        gate = egress_proxy.Gate(frozenset(host.lower() for host in job.hosts))
        serve = functools.partial(egress_proxy.serve_tunnel, gate)
        return *egress_proxy.fork_proxy(lambda: serve, uid), egress_proxy.TUNNEL

    def load() -> egress_proxy.Serve:
        # Loaded in the proxy alone: the supervisor stays small.
        from heal_bot.sandbox.index_gateway import open_gateway

        return open_gateway(socket.socket(fileno=job.index)).serve

    many = egress_proxy.MANY
    return *egress_proxy.fork_proxy(load, uid, job.index, many), egress_proxy.IN_THE_CLEAR


def main(argv: list[str]) -> int:
    """Serve the client behind descriptor `argv[0]`; the rest is mode, slots, scratch."""
    fd, mode, slots, scratch = argv
    if mode not in {"strict", "reduced"}:
        raise ValueError(f"unknown isolation mode {mode!r}; strict or reduced")
    prctl.become_subreaper()
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    files = _OPEN_FILES if most == resource.RLIM_INFINITY else min(_OPEN_FILES, most)
    resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    connection = socket.socket(fileno=int(fd))
    connection.set_inheritable(False)
    Supervisor(SocketChannel(connection), mode, int(slots), Path(scratch)).serve()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
