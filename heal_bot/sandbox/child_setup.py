"""The steps from a fork to the sandboxed program, in the one order in which they work."""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import resource
import signal
import socket
import struct
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NoReturn

from landlockpy import Ruleset

from heal_bot.sandbox.job_spec import Job, Limits
from heal_bot.sandbox.landlock import allow_own
from heal_bot.sandbox.prctl import LIBC, PR_SET_DUMPABLE, check_result, prctl

SETUP_FAILED = 126
# Written to the error pipe just before exec: without it the program never ran.
READY = b"ready\n"

_PR_SET_PDEATHSIG = 1
_PR_SET_SECCOMP = 22
_PR_CAPBSET_DROP = 24
_PR_SET_NO_NEW_PRIVS = 38
_SECCOMP_MODE_FILTER = 2
_CLONE_NEWNET = 0x40000000
_SIOCGIFFLAGS, _SIOCSIFFLAGS, _IFF_UP = 0x8913, 0x8914, 0x1
_SET_MODE_FILTER, _NEW_LISTENER = 1, 8
_SECCOMP_NUMBER = {"x86_64": 317, "aarch64": 277}
# landlock_restrict_self(2), the same number on every architecture.
_RESTRICT_SELF = 446
_HIGH_FD = 200
_LAST_FD = 1024


class _Program(ctypes.Structure):
    """struct sock_fprog."""

    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))


@dataclass(frozen=True, slots=True)
class Plan:
    """All the child needs, prepared before the fork.

    An empty `bpf`, no `rules` or `uid` None leaves that layer out; the supervisor allows
    this only where the isolation mode does. Through the
    descriptor `door` the job's proxy gets its calls.
    """

    job: Job
    uid: int | None
    bpf: bytes
    rules: Ruleset | None
    own_network: bool
    thread_count: int
    supervisor: int
    door: int = -1


def end_with_parent() -> None:
    """The kernel kills this process when its parent dies; changing the uid undoes it."""
    prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def seccomp_absent() -> str:
    """Why the kernel takes no filters, or nothing."""
    try:
        prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, None)
    except OSError as error:
        # A null program is refused as a bad address by a kernel that has filters.
        return "" if error.errno in {14, 13} else f"kernel: {error.strerror}"
    return "kernel accepted an empty filter"


def uid_absent(uid: int) -> str:
    """Why this process cannot give a child that uid, or nothing; tried in a child."""
    if os.geteuid() != 0:
        return "not started as root"
    possible = _is_possible(partial(drop_to_uid, uid))
    return "" if possible else f"root may not change to uid {uid} here"


def namespace_possible() -> bool:
    """Whether a network namespace with a loopback of its own can be made; tried in a child."""
    return _is_possible(_private_network)


def _is_possible(step: Callable[[], None]) -> bool:
    """Whether a step that nothing undoes succeeds in a child."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            step()
            code = 0
        finally:
            os._exit(code)
    _, status = os.waitpid(pid, 0)
    return status == 0


def run_isolated(plan: Plan, output: int, errors: int) -> NoReturn:
    """In a forked child: apply every layer of the plan, then become the job's program.

    Whatever goes wrong is written to `errors` and ends with code 126; nothing runs half isolated.
    """
    try:
        if plan.rules is not None:
            allow_own(plan.rules, alone=plan.job.alone)
        errors, door, rules = _arrange(plan, output, errors)
        limit_resources(plan.job.limits, plan.thread_count if plan.uid is None else 0)
        if plan.own_network:
            _private_network()
        os.chdir(plan.job.cwd)
        if plan.uid is not None:
            drop_to_uid(plan.uid)
        elif os.geteuid() == 0:
            _drop_capabilities()
        # Changing the uid clears the death signal; a parent gone before it was set sends none.
        end_with_parent()
        if os.getppid() != plan.supervisor:
            raise OSError(0, "the supervisor is gone")
        prctl(_PR_SET_NO_NEW_PRIVS, 1)
        if plan.rules is not None:
            apply_landlock(rules)
            os.close(rules)
        if plan.door >= 0:
            install_notify_filter(plan.bpf, door)
        elif plan.bpf:
            load_filter(plan.bpf)
        os.write(errors, READY)
        os.execve(plan.job.argv[0], plan.job.argv, dict(plan.job.env))  # noqa: S606
    except (OSError, ValueError, TypeError, OverflowError, MemoryError) as error:
        os.write(errors, f"{type(error).__name__}: {error}".encode(errors="replace")[:2000])
    finally:
        os._exit(SETUP_FAILED)


def _arrange(plan: Plan, output: int, errors: int) -> tuple[int, int, int]:
    """A session of its own, signals as a program expects them, and no descriptor but its own.

    stdin is /dev/null, 1 and 2 the output, 3 and up the channels, then what closes at exec and
    whose numbers are returned: the error pipe, the door and the rules, -1 for one there is not.
    Everything is moved up first, so that no target number is still in use.
    """
    os.setsid()
    give_way(plan.job.limits.nice)
    for number in (signal.SIGINT, signal.SIGPIPE, signal.SIGXFSZ, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    os.umask(0o022)
    # Inherited from the supervisor; without root our own entries in /proc would not be ours.
    prctl(PR_SET_DUMPABLE, 1)
    score = os.open("/proc/self/oom_score_adj", os.O_WRONLY)
    os.write(score, b"1000")
    os.close(score)
    null = os.open("/dev/null", os.O_RDONLY)
    wanted = (null, output, output, *plan.job.channels)
    theirs = (errors, plan.door, -1 if plan.rules is None else plan.rules.fileno())
    parked = [fcntl.fcntl(fd, fcntl.F_DUPFD, _HIGH_FD) for fd in (*wanted, *theirs) if fd >= 0]
    for target, fd in enumerate(parked):
        os.dup2(fd, target, inheritable=target < len(wanted))
    os.closerange(len(parked), _LAST_FD)
    numbers = iter(range(len(wanted), len(parked)))
    kept, door, rules = (next(numbers) if fd >= 0 else -1 for fd in theirs)
    return kept, door, rules


def give_way(nice: int) -> None:
    """Let others go first: among the tasks of this session, and where sessions share evenly, too.

    Linux divides the processors among sessions before it looks at the priorities inside of them
    (sched(7), autogroup), except in a container.
    """
    if nice:
        os.nice(nice)
        with contextlib.suppress(OSError):
            Path("/proc/self/autogroup").write_text(str(nice))


def apply_landlock(rules: int) -> None:
    """Hold this process to the Landlock rules behind a descriptor, for good."""
    call = ctypes.c_long(_RESTRICT_SELF)
    check_result(LIBC.syscall(call, ctypes.c_int(rules), ctypes.c_uint(0)), "landlock")


def limit_resources(limits: Limits, others: int) -> None:
    """Hard resource limits; `others` are threads the uid already has outside the sandbox."""
    for which, value in (
        (resource.RLIMIT_CPU, limits.cpu),
        (resource.RLIMIT_DATA, limits.data),
        (resource.RLIMIT_FSIZE, limits.file_bytes),
        (resource.RLIMIT_NOFILE, limits.open_files),
        (resource.RLIMIT_NPROC, limits.processes + others),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_MEMLOCK, 0),
    ):
        most = resource.getrlimit(which)[1]
        capped = value if most == resource.RLIM_INFINITY else min(value, most)
        resource.setrlimit(which, (capped, capped))


def _private_network() -> None:
    """A network namespace that holds nothing but its own loopback."""
    check_result(LIBC.unshare(_CLONE_NEWNET), "unshare network")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        request = struct.pack("16sh14x", b"lo", 0)
        _, flags = struct.unpack("16sh14x", fcntl.ioctl(probe, _SIOCGIFFLAGS, request))
        fcntl.ioctl(probe, _SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", flags | _IFF_UP))


def drop_to_uid(uid: int) -> None:
    """Become that uid for good; all capabilities go with it."""
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)


def _drop_capabilities() -> None:
    """Root without a uid to change to (reduced mode): at least without capabilities."""
    for number in range(64):
        try:
            prctl(_PR_CAPBSET_DROP, number)
        except OSError:
            break
    header = struct.pack("Ii", 0x20080522, 0)
    check_result(LIBC.capset(header, b"\0" * 24), "capset")


def load_filter(bpf: bytes) -> None:
    """Install a compiled seccomp filter (8 bytes an instruction)."""
    buffer = ctypes.create_string_buffer(bpf, len(bpf))
    program = _Program(len(bpf) // 8, ctypes.addressof(buffer))
    prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(program))


def install_notify_filter(bpf: bytes, door: int) -> None:
    """Install a filter that hands calls over, and send what answers them through the door."""
    outside = socket.socket(fileno=door)
    buffer = ctypes.create_string_buffer(bpf, len(bpf))
    program = _Program(len(bpf) // 8, ctypes.addressof(buffer))
    calls = LIBC.syscall(
        ctypes.c_long(_SECCOMP_NUMBER[os.uname().machine]),
        ctypes.c_ulong(_SET_MODE_FILTER),
        ctypes.c_ulong(_NEW_LISTENER),
        ctypes.byref(program),
    )
    check_result(calls, "seccomp listener")
    socket.send_fds(outside, [b"+"], [calls])
    # Nobody inside may hold it: whoever does could answer for the proxy.
    os.close(calls)
    outside.close()
