"""What sandboxed code may see: paths, environment, and what each isolation mode demands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from landlockpy import AccessFS, AccessNet, Ruleset, Scope

from heal_bot.sandbox.scratch_slots import Slot

_READ = AccessFS.READ_FILE | AccessFS.READ_DIR
_RUN = _READ | AccessFS.EXECUTE
_DEVICE = AccessFS.READ_FILE | AccessFS.WRITE_FILE | AccessFS.TRUNCATE | AccessFS.IOCTL_DEV
_SHARED = (
    AccessFS.READ_FILE
    | AccessFS.READ_DIR
    | AccessFS.WRITE_FILE
    | AccessFS.TRUNCATE
    | AccessFS.MAKE_REG
    | AccessFS.REMOVE_FILE
)
_SCRATCH = (
    _RUN
    | _SHARED
    | AccessFS.MAKE_DIR
    | AccessFS.REMOVE_DIR
    | AccessFS.MAKE_SYM
    | AccessFS.MAKE_FIFO
    | AccessFS.MAKE_SOCK
    | AccessFS.REFER
)

SYSTEM_RUN = ("/usr", "/lib", "/lib32", "/lib64", "/libx32", "/bin", "/sbin")
SYSTEM_READ = (
    "/etc/ld.so.cache",
    "/etc/passwd",
    "/etc/group",
    "/etc/nsswitch.conf",
    "/etc/hosts",
    "/etc/host.conf",
    "/etc/protocols",
    "/etc/services",
    "/etc/localtime",
    "/etc/timezone",
    "/etc/mime.types",
    "/etc/os-release",
    "/etc/debian_version",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
    "/etc/pki/tls/certs",
    "/proc/self",
    "/proc/cpuinfo",
    "/proc/meminfo",
    "/proc/stat",
    "/proc/version",
    "/proc/loadavg",
    "/proc/uptime",
    "/proc/filesystems",
    "/proc/sys/kernel",
    "/sys/devices/system/cpu",
)
# These count what the machine does, and so what others do.
_COUNTING = (
    "/proc/meminfo",
    "/proc/stat",
    "/proc/loadavg",
    "/proc/uptime",
    "/proc/sys/kernel",
    "/sys/devices/system/cpu",
)
_ONLINE = ("/sys/devices/system/cpu/online", "/sys/devices/system/cpu/possible")
# Bound to who opens it; a job that is alone gets what of it counts nothing.
_OWN = "/proc/self"
_OWN_UNCOUNTED = ("/proc/self/fd", "/proc/self/maps")
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
# A job's own ones alone: whoever opens the first owns what it makes in the second.
TERMINALS = ("/dev/ptmx", "/dev/pts", "/dev/tty")
SHARED_MEMORY = "/dev/shm"  # noqa: S108 - sem_open and shared_memory need it; purged by uid

# A server under test may listen here when there is no network namespace of its own.
LOOPBACK_PORTS = range(18_000, 18_100)

_SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin"


@dataclass(frozen=True, slots=True)
class Layers:
    """What this machine offers, as the supervisor found it; an empty reason means present.

    `landlock` is the ABI version (0: none), `namespace` whether a network namespace can be made.
    """

    landlock: int
    landlock_reason: str
    seccomp_reason: str
    uid_reason: str
    namespace: bool

    @property
    def signals_scoped(self) -> bool:
        """Whether Landlock keeps signals and abstract sockets inside (ABI 6)."""
        return self.landlock >= 6

    def present(self) -> tuple[str, ...]:
        """The layers that hold, in the order they are applied."""
        layers = ["rlimits", "environment"]
        if not self.uid_reason:
            layers.append("uid")
        layers.append("no_new_privs")
        if self.landlock:
            layers.append(f"landlock-{self.landlock}")
        if not self.seccomp_reason:
            layers.append("seccomp")
        return (*layers, "supervisor")

    def missing(self) -> tuple[str, ...]:
        """Each absent layer and what is weaker without it."""
        gaps = []
        if self.uid_reason:
            gaps.append(
                f"uid: {self.uid_reason}; modes and times of the user's own files can be changed, "
                "shared memory is not private, a process forking without end may outlive its run"
            )
        if not self.landlock:
            gaps.append(f"landlock: {self.landlock_reason}; files are guarded by owner alone")
        elif self.landlock < 3:
            gaps.append(f"landlock: ABI {self.landlock} cannot refuse truncation")
        if self.landlock and not self.signals_scoped:
            gaps.append(f"landlock: ABI {self.landlock} cannot scope signals")
        if self.seccomp_reason:
            gaps.append(f"seccomp: {self.seccomp_reason}; network and kernel calls are open")
        return tuple(gaps)

    def no_loopback(self, mode: str) -> str:
        """Why a job may not have a loopback here, or nothing."""
        if self.namespace:
            return ""
        if self.landlock < 4:
            return f"loopback needs a network namespace or Landlock ABI 4, not {self.landlock}"
        if mode == "strict":
            return "loopback has no network namespace here; choose `reduced` to open ports instead"
        return ""

    def loopback_gap(self) -> str:
        """What is weaker once a job had a loopback without a namespace, or nothing."""
        if self.namespace:
            return ""
        first, last = LOOPBACK_PORTS[0], LOOPBACK_PORTS[-1]
        return f"network: TCP ports {first}-{last} of any host were open to the tests"

    def refusal(self) -> str:
        """Why `strict` will not run code here, or nothing."""
        if not self.landlock:
            return f"Landlock is not available ({self.landlock_reason})"
        if self.seccomp_reason:
            return f"seccomp is not available ({self.seccomp_reason})"
        if self.uid_reason and not self.signals_scoped:
            return (
                f"neither a uid of its own ({self.uid_reason}) nor signal scoping "
                f"(Landlock ABI {self.landlock}, 6 needed) can be had"
            )
        return ""


def child_env(slot: Slot, extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """The whole environment of a sandboxed program: fixed names, then what `extra` names."""
    return {
        "PATH": _SYSTEM_PATH,
        "HOME": str(slot.home),
        "TMPDIR": str(slot.tmp),
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "CI": "true",
        # Git ends where it may not read the machine's configuration.
        "GIT_CONFIG_NOSYSTEM": "1",
        "USER": "heal-bot",
        "LOGNAME": "heal-bot",
        "PYTHONHASHSEED": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONNOUSERSITE": "1",
        **(extra or {}),
    }


def make_ruleset(
    read: tuple[Path, ...],
    write: tuple[Path, ...],
    *,
    ports: bool,
    network: bool = True,
    terminals: bool = False,
    alone: bool = False,
) -> Ruleset:
    """The Landlock rules of a job, but for its own entries in `/proc`; made before the fork.

    Handles every right the kernel knows; without `network` those on ports are left to a network
    namespace. OSError when one of `read` or `write` is not there.
    """
    rules = Ruleset(
        handled_net=None if network else AccessNet.NONE,
        scoped=Scope.ABSTRACT_UNIX_SOCKET | Scope.SIGNAL,
    )
    try:
        for path in write:
            rules.allow_path(path, _SCRATCH)
        for path in read:
            rules.allow_path(path, _fitting(str(path), _RUN))
        for name, access in _system(alone=alone):
            rules.allow_path(name, access)
        for name in TERMINALS if terminals else ():
            if Path(name).exists():
                rules.allow_path(name, _fitting(name, _DEVICE | AccessFS.READ_DIR))
        if ports:
            for port in LOOPBACK_PORTS:
                rules.allow_port(port, AccessNet.BIND_TCP | AccessNet.CONNECT_TCP)
    except BaseException:
        rules.close()
        raise
    return rules


def allow_own(rules: Ruleset, *, alone: bool) -> None:
    """Add what a process may see of itself; to be called by it, after the fork."""
    for name in _OWN_UNCOUNTED if alone else (_OWN,):
        rules.allow_path(name, _fitting(name, _READ))


@cache
def _system(*, alone: bool) -> tuple[tuple[str, AccessFS], ...]:
    """What of the system's paths is here, with the rights on each."""
    left_out = {_OWN, *(_COUNTING if alone else ())}
    known = [(name, _RUN) for name in SYSTEM_RUN]
    known += [(name, _READ) for name in (*SYSTEM_READ, *_ONLINE) if name not in left_out]
    known += [(name, _DEVICE) for name in DEVICES]
    known += [] if alone else [(SHARED_MEMORY, _SHARED)]
    return tuple((name, _fitting(name, access)) for name, access in known if Path(name).exists())


def _fitting(path: str, access: AccessFS) -> AccessFS:
    """Landlock refuses rights on entries of a folder for a rule on a file."""
    if Path(path).is_dir():
        return access
    return access & ~(AccessFS.READ_DIR | AccessFS.MAKE_REG | AccessFS.REMOVE_FILE)
