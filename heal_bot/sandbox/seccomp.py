"""The seccomp filters: which system calls sandboxed code is refused, compiled once per profile."""

from __future__ import annotations

import errno
import tempfile

import pyseccomp as seccomp

from heal_bot.sandbox.job_spec import PROFILES, Profile

# Calls with numbers from 424 on are the same on all architectures, and libseccomp of a stable
# distribution does not know their names.
_BY_NUMBER = {
    "io_uring_setup": 425,
    "io_uring_enter": 426,
    "io_uring_register": 427,
    "open_tree": 428,
    "move_mount": 429,
    "fsopen": 430,
    "fsconfig": 431,
    "fsmount": 432,
    "fspick": 433,
    "clone3": 435,
    "openat2": 437,
    "pidfd_getfd": 438,
    "process_madvise": 440,
    "mount_setattr": 442,
    "memfd_secret": 447,
    "cachestat": 451,
    "process_mrelease": 448,
    "fchmodat2": 452,
    "setxattrat": 463,
    "removexattrat": 466,
    "open_tree_attr": 467,
    "file_setattr": 469,
}
_FORBIDDEN = (
    # Other processes' memory and descriptors.
    "ptrace",
    "process_vm_readv",
    "process_vm_writev",
    "pidfd_getfd",
    "kcmp",
    "process_madvise",
    "process_mrelease",
    # Large kernel surfaces with a history, keys, kernel log.
    "io_uring_setup",
    "io_uring_enter",
    "io_uring_register",
    "bpf",
    "perf_event_open",
    "userfaultfd",
    "add_key",
    "request_key",
    "keyctl",
    "syslog",
    "fanotify_init",
    "quotactl",
    "acct",
    "swapon",
    "swapoff",
    "reboot",
    "init_module",
    "finit_module",
    "delete_module",
    "kexec_load",
    # File systems and namespaces.
    "mount",
    "umount2",
    "pivot_root",
    "chroot",
    "unshare",
    "setns",
    "open_tree",
    "move_mount",
    "fsopen",
    "fsconfig",
    "fsmount",
    "fspick",
    "mount_setattr",
    "open_tree_attr",
    "name_to_handle_at",
    "open_by_handle_at",
    # Objects that outlive their processes or escape the memory count.
    *("shmget", "shmat", "shmctl", "shmdt"),
    *("semget", "semop", "semctl", "semtimedop"),
    *("msgget", "msgsnd", "msgrcv", "msgctl"),
    *("mq_open", "mq_unlink", "mq_timedsend", "mq_timedreceive", "mq_notify", "mq_getsetattr"),
    *("memfd_create", "memfd_secret"),
)
_MISSING = ("clone3", "fchmodat2", "openat2", "file_setattr")
# What is in the page cache, which all processes share; contexts of which the machine has few.
_TELLING = ("mincore", "cachestat")
# Of a job that is alone: counts of what it and the machine did, whether its own pages are there,
# and what others open.
_COUNTING = ("getrusage", "sysinfo", "move_pages", "inotify_init", "inotify_init1")
_ASYNCHRONOUS = ("io_setup", "io_submit", "io_getevents", "io_pgetevents", "io_cancel")
_NO_XATTR = (
    "setxattr",
    "lsetxattr",
    "fsetxattr",
    "removexattr",
    "lremovexattr",
    "fremovexattr",
    "setxattrat",
    "removexattrat",
)
_NAMESPACES = (
    0x00020000,  # mount
    0x02000000,  # cgroup
    0x04000000,  # uts
    0x08000000,  # ipc
    0x10000000,  # user
    0x20000000,  # pid
    0x40000000,  # net
)
_SET_ID_BITS = (0o4000, 0o2000)
# Typing into a terminal, the console, line disciplines (any of which the kernel would load).
_TERMINAL_REQUESTS = (0x5412, 0x541C, 0x541D, 0x5423)
# Requests of this kind to a pidfd tell the parent, the owner and the group of any process.
_ABOUT_A_PROCESS = 0xFF00
_PRIO_USER, _IOPRIO_WHO_USER = 2, 3
_AF_UNIX, _AF_INET, _AF_INET6 = 1, 2, 10
_STREAM, _DGRAM, _SEQPACKET = 1, 2, 5
_TCP, _UDP = 6, 17
_FAST_OPEN = 0x20000000
_LOW32 = 0xFFFFFFFF
# Of fcntl: locks of a process and of an open file, and leases; whoever opens the file hears them.
_LOCKS = (5, 6, 7, 36, 37, 38, 1024, 1025)
_O_CREAT = 0o100
_MADV_COLLAPSE = 25


def _number(name: str) -> int | None:
    """The call's number here; None where this architecture never had the call."""
    if name in _BY_NUMBER:
        return _BY_NUMBER[name]
    number = seccomp.resolve_syscall(seccomp.Arch.NATIVE, name)
    if number == -1:
        raise ValueError(f"libseccomp does not know the system call {name!r}; update libseccomp2")
    return number if number >= 0 else None


class _Filter:
    """A deny list under construction."""

    def __init__(self) -> None:
        self.raw = seccomp.SyscallFilter(seccomp.ALLOW)
        self.raw.set_attr(seccomp.Attr.ACT_BADARCH, seccomp.KILL_PROCESS)
        self.raw.set_attr(seccomp.Attr.CTL_NNP, 0)

    def deny(self, name: str, *args: seccomp.Arg, code: int = errno.EPERM) -> None:
        """Refuse the call when all `args` match."""
        number = _number(name)
        if number is not None:
            self.raw.add_rule(seccomp.ERRNO(code), number, *args)

    def blob(self) -> bytes:
        """The program as the kernel takes it."""
        with tempfile.TemporaryFile() as file:
            self.raw.export_bpf(file)
            file.seek(0)
            return file.read()


def _has(position: int, bits: int) -> seccomp.Arg:
    """All of `bits` are set. Masked, because the kernel ignores an int's upper half."""
    return seccomp.Arg(position, seccomp.MASKED_EQ, bits, bits)


def _is(position: int, value: int, mask: int = _LOW32) -> seccomp.Arg:
    return seccomp.Arg(position, seccomp.MASKED_EQ, mask, value)


def _isnt(position: int, value: int) -> seccomp.Arg:
    return seccomp.Arg(position, seccomp.NE, value)


def compile_filter(
    profile: Profile, *, own_network: bool = False, proxied: bool = False, own_uid: bool = True,
    alone: bool = False,
) -> bytes:  # fmt: skip
    """The filter of a profile; with `own_network` (a private namespace) `loopback` gets UDP too.

    Without `own_uid` the user's other processes are guarded where only their owner would be asked.

    With `proxied` a call for a TCP socket is handed over to the proxy, and `connect` does nothing
    and succeeds: the sockets there are have a connection already.

    With `alone` no file is locked: a lock is seen by all who may open the file, and it lasts as
    long as anyone who inherited it. Nor is told what was counted of reads and faults.

    ValueError for an unknown profile or a call that libseccomp cannot name.
    """
    if profile not in PROFILES:
        raise ValueError(f"unknown sandbox profile {profile!r}; one of {PROFILES}")
    built = _Filter()
    for name in _FORBIDDEN:
        built.deny(name)
    for name in (*_MISSING, *_TELLING, *_ASYNCHRONOUS):
        built.deny(name, code=errno.ENOSYS)
    for name in _NO_XATTR:
        built.deny(name, code=errno.ENOTSUP)
    _hide_cache(built)
    if alone:
        built.deny("flock", code=errno.ENOLCK)
        for command in _LOCKS:
            built.deny("fcntl", _is(1, command), code=errno.ENOLCK)
        _hide_counts(built)
    for flag in _NAMESPACES:
        built.deny("clone", _has(0, flag))
    _deny_modes(built)
    for request in _TERMINAL_REQUESTS:
        built.deny("ioctl", _is(1, request))
    built.deny("personality", _isnt(0, _LOW32))
    built.deny("prlimit64", _isnt(0, 0))
    _deny_priorities(built, own_uid=own_uid)
    built.deny("ioctl", _is(1, _ABOUT_A_PROCESS, 0xFF00))
    if proxied:
        _hand_over_sockets(built)
    else:
        _deny_sockets(built, loopback=profile == "loopback", own_network=own_network)
    return built.blob()


def _hide_cache(built: _Filter) -> None:
    """No message through the page cache: whether a read would wait is not told, advice is ignored.

    A flag is answered as by a file system that lacks it. Advice may be ignored anyway.
    """
    for name in ("preadv2", "pwritev2"):
        built.deny(name, _isnt(5, 0), code=errno.EOPNOTSUPP)
    built.deny("fadvise64", code=0)


def _hide_counts(built: _Filter) -> None:
    """Whether a page had to be fetched tells who read it before; waiting without counts stays."""
    for name in _COUNTING:
        built.deny(name)
    # It gives up where a file's page is not in memory.
    built.deny("madvise", _is(2, _MADV_COLLAPSE))
    built.deny("wait4", _isnt(3, 0))
    built.deny("waitid", _isnt(4, 0))


def _deny_priorities(built: _Filter, *, own_uid: bool) -> None:
    """No priority but a process's own: 0 stands for all processes of the user as well."""
    built.deny("setpriority", _isnt(1, 0))
    built.deny("setpriority", _is(0, _PRIO_USER))
    built.deny("ioprio_set", _is(0, _IOPRIO_WHO_USER))
    if own_uid:
        return
    built.deny("ioprio_set", _isnt(1, 0))
    for name in ("sched_setscheduler", "sched_setparam", "sched_setattr", "sched_setaffinity"):
        built.deny(name, _isnt(0, 0))


def _deny_modes(built: _Filter) -> None:
    """No file with a set-id bit, whichever call makes it."""
    for bit in _SET_ID_BITS:
        for name, position in (("chmod", 1), ("fchmod", 1), ("fchmodat", 2), ("creat", 1)):
            built.deny(name, _has(position, bit))
        for name, position in (("mknod", 1), ("mknodat", 2)):
            built.deny(name, _has(position, bit))
        built.deny("open", _has(1, _O_CREAT), _has(2, bit))
        built.deny("openat", _has(2, _O_CREAT), _has(3, bit))


def _hand_over_sockets(built: _Filter) -> None:
    """TCP over IPv4 is asked of the proxy; every other socket, and every server, is refused."""
    _only_connected_pairs(built)
    for name in ("bind", "listen", "accept", "accept4"):
        built.deny(name, code=errno.EACCES)
    built.deny("connect", code=0)
    _deny_fast_open(built)
    built.deny("socket", seccomp.Arg(0, seccomp.NE, _AF_INET), code=errno.EACCES)
    for kind in set(range(16)) - {_STREAM}:
        built.deny("socket", _is(1, kind, 0xF), code=errno.EACCES)
    number = _number("socket")
    built.raw.add_rule(seccomp.NOTIFY, number, _is(0, _AF_INET), _is(1, _STREAM, 0xF))


def _deny_fast_open(built: _Filter) -> None:
    """No connection by sending data: neither Landlock nor a denied `connect` would see it."""
    for name, position in (("sendto", 3), ("sendmsg", 2), ("sendmmsg", 3)):
        built.deny(name, _has(position, _FAST_OPEN), code=errno.EACCES)


def _only_connected_pairs(built: _Filter) -> None:
    """A datagram pair can still send to any named socket, so pairs are streams or packets only
    (type 3 is a datagram too for AF_UNIX). The low four bits are the type, the rest flags.
    """
    built.deny("socketpair", _isnt(0, _AF_UNIX), code=errno.EACCES)
    for kind in set(range(16)) - {_STREAM, _SEQPACKET}:
        built.deny("socketpair", _is(1, kind, 0xF), code=errno.EACCES)


def _deny_sockets(built: _Filter, *, loopback: bool, own_network: bool) -> None:
    """No socket but a connected pair; `loopback` gets INET streams, behind Landlock's ports."""
    _only_connected_pairs(built)
    if not loopback:
        for name in ("socket", "connect", "bind", "listen", "accept", "accept4"):
            built.deny(name, code=errno.EACCES)
        return
    allowed = {_STREAM, _DGRAM} if own_network else {_STREAM}
    for kind in set(range(16)) - allowed:
        built.deny("socket", _is(1, kind, 0xF), code=errno.EACCES)
    built.deny("socket", seccomp.Arg(0, seccomp.LT, _AF_INET), code=errno.EACCES)
    built.deny("socket", seccomp.Arg(0, seccomp.GT, _AF_INET6), code=errno.EACCES)
    for family in range(_AF_INET + 1, _AF_INET6):
        built.deny("socket", _is(0, family), code=errno.EACCES)
    # Landlock knows TCP alone: MPTCP and SCTP streams would pass it by.
    for protocol in set(range(1, _UDP)) - {_TCP}:
        built.deny("socket", _is(2, protocol), code=errno.EACCES)
    built.deny("socket", seccomp.Arg(2, seccomp.GT, _UDP), code=errno.EACCES)
    _deny_fast_open(built)
