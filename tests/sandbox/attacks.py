# ruff: noqa: E501 - the payloads are data, one line each where they fit
"""The attacks: what code under test might try, and the layers each of which stops it alone.

`code` runs in a forked child of `harness` with the names of `PRELUDE` and `F`, the facts. It
succeeded when it ends without an exception. `layers` name those that stop it when they are the
only one applied: environment, descriptors, uid, landlock, seccomp, limits. An attack that is allowed by
design has no layers and says why; `absent` says why some machines have nothing to attack. Numbers are those of docs/security.md.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Attack:
    """One payload."""

    number: int
    name: str
    layers: tuple[str, ...]
    code: str
    allowed: str = ""
    absent: str = ""

    @property
    def id(self) -> str:
        """How the test is named."""
        return f"{self.number:03d}-{self.name.replace(' ', '-')}"


PRELUDE = r"""
import ctypes, errno, fcntl, os, resource, signal, socket, struct, sys, time
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
def check(result):
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result
def call(number, *args):
    return check(libc.syscall(ctypes.c_long(number), *[
        ctypes.c_long(a) if isinstance(a, int) else a for a in args]))
def read(path):
    with open(path, 'rb') as file:
        data = file.read(4096)
    if not data:
        raise OSError(errno.ENODATA, 'empty')
    return data
def append(path, text='planted\n'):
    with open(path, 'a') as file:
        file.write(text)
def must(condition):
    if not condition:
        raise OSError(errno.EPERM, 'no effect')
"""

HARNESS = r"""
import json, os, signal, sys
def attempt(code, facts):
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reader)
        text = 'ok'
        try:
            signal.alarm(5)
            os.dup2(os.open(os.devnull, os.O_RDWR), 2)
            exec(compile(code, 'attack', 'exec'), {'F': facts})
        except BaseException as error:
            text = '%s: %s' % (type(error).__name__, error)
        os.write(writer, text.encode(errors='replace')[:300])
        os._exit(0)
    os.close(writer)
    text = os.read(reader, 400).decode()
    os.close(reader)
    _, status = os.waitpid(pid, 0)
    return text or 'died: %d' % status
given = json.load(open(sys.argv[1]))
results = {name: attempt(given['prelude'] + code, given['facts']) for name, code in given['codes']}
channel = int(sys.argv[2])
data = json.dumps(results).encode()
while data:
    data = data[os.write(channel, data):]
"""

ALL = ("uid", "landlock", "seccomp")

ATTACKS = (
    # Secrets
    Attack(1, "environment tokens", ("environment",), "os.environ['HEAL_TEST_SECRET']"),
    Attack(
        2,
        "environ of another process",
        ("uid", "landlock"),
        "read('/proc/%d/environ' % F['victim'])",
    ),
    Attack(
        3,
        "environ of pid 1",
        ("uid", "landlock"),
        "read('/proc/1/environ')",
        absent="pid 1 may belong to another domain",
    ),
    Attack(
        4,
        "memory of another process",
        ("uid", "landlock"),
        "open('/proc/%d/mem' % F['victim'], 'rb')",
    ),
    Attack(
        5,
        "command line of another process",
        ("landlock",),
        "read('/proc/%d/cmdline' % F['victim'])",
    ),
    Attack(6, "list the processes", ("landlock",), "os.listdir('/proc')"),
    Attack(
        7,
        "descriptors of another process",
        ("uid", "landlock"),
        "os.listdir('/proc/%d/fd' % F['victim'])",
    ),
    Attack(8, "ptrace attach", ALL, "check(libc.ptrace(16, F['victim'], 0, 0))"),
    Attack(
        9,
        "read memory by system call",
        ALL,
        """
buf = ctypes.create_string_buffer(8)
local = struct.pack('QQ', ctypes.addressof(buf), 8)
remote = struct.pack('QQ', F['address'], 8)
check(libc.process_vm_readv(F['victim'], local, 1, remote, 1, 0))""",
    ),
    Attack(10, "copy a descriptor by pidfd", ALL, "call(438, os.pidfd_open(F['victim']), 0, 0)"),
    Attack(11, "credentials in a home", ("landlock",), "read(F['home'] + '/.netrc')"),
    Attack(12, "token in .git/config", ("landlock",), "read(F['work'] + '/.git/config')"),
    Attack(13, "list the workspace", ("landlock",), "os.listdir(F['work'])"),
    Attack(14, "list the root folder", ("landlock",), "os.listdir('/')"),
    Attack(15, "shadow passwords", ("uid", "landlock"), "read('/etc/shadow')"),
    Attack(16, "event payload", ("landlock",), "read(F['work'] + '/event.json')"),
    Attack(
        17,
        "leaked descriptor",
        ("descriptors",),
        "must(os.read(F['leak'], 6) == b'secret' or os.lseek(F['leak'], 0, 0) == 0)",
    ),
    Attack(18, "compare kernel objects", ALL, "call(312, F['victim'], os.getpid(), 0, 1, 1)"),
    # Network
    Attack(
        19,
        "TCP connection",
        ("seccomp", "landlock"),
        "socket.create_connection(('127.0.0.1', F['tcp']), 2)",
    ),
    Attack(
        20,
        "UDP datagram",
        ("seccomp",),
        "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', F['udp']))",
    ),
    Attack(
        21,
        "DNS query",
        ("seccomp",),
        "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.connect(('127.0.0.1', 53)); s.send(b'x' * 12)",
    ),
    Attack(
        22,
        "IPv6 datagram",
        ("seccomp",),
        "socket.socket(socket.AF_INET6, socket.SOCK_DGRAM).sendto(b'x', ('::1', F['udp']))",
    ),
    Attack(23, "docker socket", ("seccomp",), "socket.socket(socket.AF_UNIX).connect(F['docker'])"),
    Attack(
        24,
        "abstract socket",
        ("seccomp", "landlock"),
        r"socket.socket(socket.AF_UNIX).connect('\0' + F['abstract'])",
    ),
    Attack(
        25,
        "datagram pair to an abstract socket",
        ("seccomp", "landlock"),
        r"socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)[0].sendto(b'x', '\0' + F['abstract_dgram'])",
    ),
    Attack(
        26,
        "datagram pair to a socket file",
        ("seccomp",),
        "socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)[0].sendto(b'x', F['dgram'])",
    ),
    Attack(
        27,
        "raw pair to a socket file",
        ("seccomp",),
        "socket.socketpair(socket.AF_UNIX, socket.SOCK_RAW)[0].sendto(b'x', F['dgram'])",
    ),
    Attack(
        28,
        "netlink",
        ("seccomp",),
        "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0).bind((0, 0))",
    ),
    Attack(
        29, "packet socket", ("uid", "seccomp"), "socket.socket(socket.AF_PACKET, socket.SOCK_RAW)"
    ),
    Attack(30, "vsock", ("seccomp",), "socket.socket(40, socket.SOCK_STREAM)"),
    Attack(31, "kernel crypto socket", ("seccomp",), "socket.socket(38, socket.SOCK_SEQPACKET)"),
    Attack(32, "ICMP", ("uid", "seccomp"), "socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)"),
    Attack(33, "io_uring", ("seccomp",), "call(425, 1, ctypes.create_string_buffer(256))"),
    Attack(34, "x32 socket", ("seccomp",), "call(0x40000000 | 41, 2, 1, 0)"),
    Attack(35, "listen", ("seccomp",), "s = socket.socket(); s.listen()"),
    Attack(
        36,
        "child that connects",
        ("seccomp", "landlock"),
        """
import subprocess
code = 'import socket,sys; socket.create_connection(("127.0.0.1", int(sys.argv[1])), 2)'
subprocess.run([sys.executable, '-c', code, str(F['tcp'])], check=True, stderr=-3)""",
    ),
    # Files
    Attack(37, "workflow environment file", ("landlock",), "append(F['work'] + '/github_env')"),
    Attack(38, "workflow path file", ("landlock",), "append(F['work'] + '/github_path')"),
    Attack(39, "workflow output file", ("landlock",), "append(F['work'] + '/github_output')"),
    Attack(40, "git hook", ("landlock",), "append(F['work'] + '/.git/hooks/pre-commit')"),
    Attack(41, "git filter", ("landlock",), "append(F['work'] + '/.git/config', '[filter]')"),
    Attack(
        42, "git alternates", ("landlock",), "append(F['work'] + '/.git/objects/info/alternates')"
    ),
    Attack(43, "source file", ("landlock",), "append(F['work'] + '/module.py')"),
    Attack(
        44,
        "sitecustomize of the environment",
        ("landlock",),
        "append(F['work'] + '/venv/sitecustomize.py')",
    ),
    Attack(
        45,
        "pth file of the environment",
        ("landlock",),
        "append(F['work'] + '/venv/planted.pth', 'import os')",
    ),
    Attack(46, "edit a library", ("landlock",), "append(F['work'] + '/venv/library.py')"),
    Attack(
        47,
        "write through a symbolic link",
        ("landlock",),
        "os.symlink(F['work'] + '/module.py', 'link47'); append('link47')",
    ),
    Attack(
        48,
        "read through a symbolic link",
        ("landlock",),
        "os.symlink(F['secret'], 'link48'); read('link48')",
    ),
    Attack(49, "hard link to a file outside", ("landlock",), "os.link(F['secret'], 'hard49')"),
    Attack(
        50,
        "rename a file outside into scratch",
        ("landlock",),
        "os.rename(F['work'] + '/moved50', 'moved50')",
    ),
    Attack(
        51,
        "swap of a folder and a link",
        ("landlock",),
        """
os.mkdir('swap51'); os.symlink(F['work'], 'link51')
call(316, -100, b'swap51', -100, b'link51', 2)
append('swap51/module.py')""",
    ),
    Attack(
        52, "conftest in the parent folder", ("landlock",), "append(F['work'] + '/../conftest.py')"
    ),
    Attack(53, "mode of a file outside", ("uid",), "os.chmod(F['secret'], 0o666)"),
    Attack(54, "unlink a file outside", ("landlock",), "os.unlink(F['work'] + '/gone54')"),
    Attack(
        55, "truncate a file outside", ("landlock",), "os.truncate(F['work'] + '/module.py', 1)"
    ),
    Attack(56, "times of a file outside", ("uid",), "os.utime(F['secret'], (0, 0))"),
    Attack(
        57, "extended attribute", ("seccomp",), "append('x57'); os.setxattr('x57', 'user.x', b'1')"
    ),
    Attack(58, "device file", ("uid", "landlock"), "os.mknod('null58', 0o20666, os.makedev(1, 3))"),
    Attack(
        59,
        "set-uid bit",
        ("seccomp",),
        "append('x59'); os.chmod('x59', 0o4755); must(os.stat('x59').st_mode & 0o4000)",
    ),
    Attack(
        60,
        "open by handle",
        ("uid", "landlock", "seccomp"),
        """
handle = ctypes.create_string_buffer(struct.pack('Ii', 120, 0) + b'x' * 128)
mount = ctypes.c_int()
check(libc.name_to_handle_at(-100, F['secret'].encode(), handle, ctypes.byref(mount), 0))
folder = os.open(F['work'], os.O_RDONLY)
check(libc.open_by_handle_at(folder, handle, 0))""",
    ),
    Attack(61, "kernel log", ("seccomp",), "check(libc.klogctl(10, None, 0))"),
    Attack(62, "core pattern", ("uid", "landlock"), "open('/proc/sys/kernel/core_pattern', 'r+')"),
    Attack(
        63,
        "sysrq",
        ("uid", "landlock"),
        "open('/proc/sysrq-trigger', 'w')",
        absent="kernel without sysrq",
    ),
    Attack(
        64,
        "lower own oom score",
        ("landlock",),
        "with open('/proc/self/oom_score_adj', 'w') as file: file.write('0')",
    ),
    Attack(65, "control group", ("uid", "landlock"), "open(F['cgroup'], 'r+')"),
    Attack(
        66,
        "file in shared memory",
        (),
        "append(F['shm'])",
        "semaphores need it; purged by uid afterwards",
    ),
    Attack(
        67,
        "plant a conftest in scratch",
        (),
        "append('conftest.py')",
        "scratch is its own; every run gets a fresh copy",
    ),
    # Kernel
    Attack(68, "become root", ("uid",), "os.setuid(0)"),
    Attack(
        69,
        "root by su",
        ("uid",),
        "import subprocess; subprocess.run(['/bin/su', '-c', 'true'], check=True, stdin=-3, stdout=-3, stderr=-3, timeout=0.5)",
    ),
    Attack(70, "user namespace by unshare", ("seccomp",), "check(libc.unshare(0x10000000))"),
    Attack(
        71,
        "user namespace by clone3",
        ("seccomp",),
        """
args = struct.pack('Q' * 8, 0x10000000, 0, 0, 0, 17, 0, 0, 0)
pid = call(435, args, len(args))
if pid == 0: os._exit(0)""",
    ),
    Attack(
        72,
        "user namespace by clone",
        ("seccomp",),
        """
pid = call(56, 0x10000000 | 17, 0, 0, 0, 0)
if pid == 0: os._exit(0)""",
    ),
    Attack(
        73,
        "mount",
        ("uid", "landlock", "seccomp"),
        """
check(libc.unshare(0x20000))
check(libc.mount(b'none', b'/', None, 0x44000, None))
check(libc.mount(b'none', F['work'].encode(), b'tmpfs', 0, None))""",
    ),
    Attack(74, "change the root folder", ("uid", "seccomp"), "os.chroot(F['work'])"),
    Attack(75, "keyring", ("seccomp",), "call(250, 0, -3, 1)"),
    Attack(76, "add a key", ("seccomp",), "call(248, b'user', b'heal', b'x', 1, -1)"),
    Attack(
        77,
        "bpf",
        ("uid", "seccomp"),
        "call(321, 0, struct.pack('IIIII', 2, 4, 8, 1, 0) + bytes(100), 120)",
    ),
    Attack(78, "userfaultfd", ("seccomp",), "call(323, 1)"),
    Attack(
        79,
        "perf events",
        ("uid", "seccomp"),
        "call(298, struct.pack('IIQ', 1, 112, 0) + bytes(96), -1, 0, -1, 0)",
    ),
    Attack(
        80,
        "System V shared memory",
        ("seccomp",),
        "i = check(libc.shmget(0, 4096, 0o1600)); libc.shmctl(i, 0, None)",
    ),
    Attack(
        81,
        "System V semaphores",
        ("seccomp",),
        "i = check(libc.semget(0, 1, 0o1600)); libc.semctl(i, 0, 0)",
    ),
    Attack(
        82,
        "System V messages",
        ("seccomp",),
        "i = check(libc.msgget(0, 0o1600)); libc.msgctl(i, 0, None)",
    ),
    Attack(
        83,
        "POSIX message queue",
        ("landlock", "seccomp"),
        "call(240, b'heal-bot-83', 0o102, 0o600, 0); call(241, b'heal-bot-83')",
    ),
    Attack(84, "signal another process", ("uid", "landlock"), "os.kill(F['victim'], 0)"),
    Attack(
        85,
        "signal by pidfd",
        ("uid", "landlock"),
        "signal.pidfd_send_signal(os.pidfd_open(F['victim']), 0)",
    ),
    Attack(
        86,
        "priority of another process",
        ("uid", "seccomp"),
        "os.setpriority(os.PRIO_PROCESS, F['victim'], 1)",
    ),
    Attack(
        87,
        "limits of another process",
        ("uid", "seccomp"),
        "resource.prlimit(F['victim'], resource.RLIMIT_CORE, (0, 0))",
    ),
    Attack(
        88,
        "raise an own limit",
        ("limits",),
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 40, 1 << 40))",
    ),
    Attack(
        89,
        "type into a terminal",
        ("seccomp",),
        """
try:
    fcntl.ioctl(0, 0x5412, b'x')
except OSError as error:
    must(error.errno == errno.ENOTTY)""",
    ),
    Attack(
        90,
        "run from anonymous memory",
        ("seccomp",),
        "fd = os.memfd_create('x'); os.write(fd, b'#!/bin/true')",
    ),
    Attack(
        91,
        "enter a namespace",
        ("uid", "landlock", "seccomp"),
        "check(libc.setns(os.open('/proc/%d/ns/net' % F['victim'], os.O_RDONLY), 0))",
    ),
    Attack(92, "personality", ("seccomp",), "check(libc.personality(0x0040000))"),
    Attack(
        93,
        "real-time scheduling",
        ("uid",),
        "os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))",
    ),
    Attack(94, "another's terminal", ("uid", "landlock"), "os.open(F['terminal'], os.O_RDWR)"),
    Attack(
        95,
        "run an own program",
        (),
        """
with open('own95', 'w') as file: file.write('#!/bin/sh\\ntrue\\n')
os.chmod('own95', 0o755)
import subprocess; subprocess.run(['./own95'], check=True)""",
        "code under test may build and run programs; they inherit every layer",
    ),
    # Of our own, beyond the reference list
    Attack(
        122,
        "socket pair with flags and a datagram type",
        ("seccomp",),
        "call(53, 1, 2 | 0o4000, 0, ctypes.create_string_buffer(8))",
    ),
    Attack(
        123,
        "socket pair type in high bits",
        ("seccomp",),
        "call(53, 1, 2 | (1 << 40), 0, ctypes.create_string_buffer(8))",
    ),
    Attack(
        170,
        "line discipline",
        ("seccomp",),
        """
_, own = os.openpty()
fcntl.ioctl(own, 0x5423, struct.pack('i', 0))""",
    ),
    Attack(
        124,
        "terminal request in high bits",
        ("seccomp",),
        """
try:
    call(16, 0, 0x5412 | (1 << 40), b'x')
except OSError as error:
    must(error.errno == errno.ENOTTY)""",
    ),
    Attack(
        125,
        "set-uid bit at creation",
        ("seccomp",),
        "os.umask(0); os.close(os.open('x125', os.O_CREAT | os.O_WRONLY, 0o4755)); must(os.stat('x125').st_mode & 0o4000)",
    ),
    Attack(
        126,
        "set-uid bit by fchmodat2",
        ("seccomp",),
        "append('x126'); call(452, -100, b'x126', 0o4755, 0); must(os.stat('x126').st_mode & 0o4000)",
    ),
    Attack(
        127,
        "set-gid bit by descriptor",
        ("seccomp",),
        "f = os.open('x127', os.O_CREAT | os.O_WRONLY); os.fchmod(f, 0o2755); must(os.stat('x127').st_mode & 0o2000)",
    ),
    Attack(128, "secret memory", ("seccomp",), "os.ftruncate(call(447, 0), 4096)"),
    Attack(129, "new mount interface", ("uid", "seccomp"), "call(430, b'tmpfs', 0)"),
    Attack(
        130,
        "advise another process",
        ("uid", "seccomp"),
        "call(440, os.pidfd_open(F['victim']), struct.pack('QQ', F['address'] & ~4095, 4096), 1, 20, 0)",
    ),
    Attack(
        131,
        "exchange with a folder outside",
        ("landlock",),
        "os.mkdir('x131'); call(316, -100, b'x131', -100, (F['work'] + '/swap').encode(), 2)",
    ),
    Attack(
        132,
        "socket file outside",
        ("seccomp", "landlock"),
        "socket.socket(socket.AF_UNIX).bind(F['work'] + '/planted.sock')",
    ),
    Attack(133, "owner of a file", ("uid",), "append('x133'); os.chown('x133', 12345, 12345)"),
    Attack(
        134,
        "watch the workspace",
        (),
        """
fd = check(libc.inotify_init())
check(libc.inotify_add_watch(fd, F['work'].encode(), 0xfff))""",
        "Landlock does not mediate watches; they tell names and times, not contents",
    ),
    Attack(135, "other slot's folder", ("landlock", "uid"), "os.listdir(F['other_slot'])"),
    Attack(
        136,
        "link a nameless file outside",
        ("landlock",),
        """
fd = os.open('.', os.O_TMPFILE | os.O_RDWR)
call(265, -100, b'/proc/self/fd/%d' % fd, -100, (F['work'] + '/x136').encode(), 0x400)""",
    ),
    Attack(
        142,
        "socket of the container engine",
        ("seccomp",),
        "socket.socket(socket.AF_UNIX).connect('/var/run/docker.sock')",
        absent="no engine's socket here; runners mount one into every container action",
    ),
    Attack(
        143,
        "file by way of the root of another process",
        ("landlock", "uid"),
        "os.open('/proc/%d/root/etc/shadow' % F['victim'], os.O_RDONLY)",
    ),
    Attack(
        144,
        "working folder of another process",
        ("landlock", "uid"),
        "os.listdir('/proc/%d/cwd' % F['victim'])",
    ),
    Attack(
        145,
        "more descriptors than allowed",
        ("limits",),
        """
most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
for _ in range(600): os.open('/dev/null', os.O_RDONLY)""",
    ),
    Attack(
        149, "processors of another process", ("uid",), "os.sched_setaffinity(F['victim'], {0})"
    ),
    Attack(
        150,
        "scheduling of another process",
        ("uid",),
        "os.sched_setscheduler(F['victim'], os.SCHED_IDLE, os.sched_param(0))",
    ),
    Attack(151, "disk priority of another process", ("uid",), "call(251, 1, F['victim'], 3 << 13)"),
    Attack(
        152,
        "priority of all that the user runs",
        ("seccomp",),
        """
if os.getuid() == 0: os.setuid(65152)
other = os.fork()
if other == 0:
    time.sleep(3)
    os._exit(0)
os.setpriority(os.PRIO_USER, 0, 19)
must(os.getpriority(os.PRIO_PROCESS, other) == 19)""",
    ),
    Attack(
        153,
        "32-bit system call",
        ("seccomp",),
        """
libc.mmap.argtypes = [ctypes.c_void_p] + [ctypes.c_size_t] * 5
code = libc.mmap(0, 4096, 7, 0x22, 2 ** 64 - 1, 0)
ctypes.memmove(code, bytes.fromhex('53b814000000cd805bc3'), 10)
must(ctypes.CFUNCTYPE(ctypes.c_int)(code)() == os.getpid())""",
        absent="a kernel without 32-bit programs has no such calls",
    ),
    Attack(
        154,
        "facts of another process by pidfd",
        ("seccomp",),
        """
told = bytearray(struct.pack('Q', 3) + bytes(56))
fcntl.ioctl(os.pidfd_open(F['victim']), 0xC040FF0B, told)
must(struct.unpack_from('I', told, 16)[0] == F['victim'])""",
        absent="kernels before 6.13 tell nothing there",
    ),
    Attack(
        155,
        "lock a file of the system",
        (),
        "fcntl.flock(os.open('/usr/bin/env', os.O_RDONLY), fcntl.LOCK_EX | fcntl.LOCK_NB)",
        "who may read a file may lock it; the lock ends with the job",
    ),
    Attack(
        156,
        "ask whether a read would wait",
        ("seccomp",),
        """
file = os.open('/usr/bin/env', os.O_RDONLY)
os.read(file, 1)
os.preadv(file, [bytearray(1)], 0, os.RWF_NOWAIT)""",
    ),
    Attack(
        157,
        "write with flags",
        ("seccomp",),
        "os.pwritev(os.open('own', os.O_WRONLY | os.O_CREAT), [b'x'], 0, os.RWF_DSYNC)",
    ),
    Attack(
        158,
        "ask which pages are cached",
        ("seccomp",),
        """
place = libc.mmap(0, 4096, 1, 2, os.open('/usr/bin/env', os.O_RDONLY), 0)
check(libc.mincore(ctypes.c_void_p(place), 4096, ctypes.create_string_buffer(1)))""",
    ),
    Attack(
        159,
        "ask how much of a file is cached",
        ("seccomp",),
        """
call(451, os.open('/usr/bin/env', os.O_RDONLY), ctypes.create_string_buffer(16),
     ctypes.create_string_buffer(40), 0)""",
    ),
    Attack(
        160,
        "drop a file from the cache",
        ("seccomp",),
        """
file = os.open('dropped', os.O_RDWR | os.O_CREAT)
os.write(file, bytes(65536))
os.fsync(file)
os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
before = resource.getrusage(resource.RUSAGE_SELF).ru_inblock
os.pread(file, 65536, 0)
must(resource.getrusage(resource.RUSAGE_SELF).ru_inblock > before)""",
        absent="a file in memory alone is in no cache",
    ),
    Attack(
        161,
        "contexts of asynchronous reads",
        ("seccomp",),
        "call(206, 128, ctypes.create_string_buffer(8))",
    ),
    Attack(
        162,
        "locks of the machine",
        ("landlock",),
        "read('/proc/locks')",
        absent="not every kernel has it",
    ),
    Attack(
        163,
        "counts of the memory's pages",
        ("landlock",),
        "read('/proc/vmstat')",
        absent="not every kernel has it",
    ),
    Attack(
        164,
        "counts of a disk",
        ("landlock",),
        "read('/proc/diskstats')",
        absent="not every kernel has it",
    ),
    Attack(
        165,
        "pressure on the processors",
        ("landlock",),
        "read('/proc/pressure/cpu')",
        absent="not every kernel has it",
    ),
    Attack(
        166,
        "sockets of the machine",
        ("landlock",),
        "read('/proc/net/unix')",
        absent="not every kernel has it",
    ),
    Attack(
        167,
        "open files of the machine",
        ("landlock",),
        "read('/proc/sys/fs/file-nr')",
        absent="not every kernel has it",
    ),
    Attack(
        168,
        "inodes in use",
        ("landlock",),
        "read('/proc/sys/fs/inode-nr')",
        absent="not every kernel has it",
    ),
    Attack(
        169,
        "interrupts",
        ("landlock",),
        "read('/proc/interrupts')",
        absent="not every kernel has it",
    ),
    Attack(
        171,
        "kernel objects in use",
        ("uid", "landlock"),
        "read('/proc/slabinfo')",
        absent="not every kernel has it",
    ),
    Attack(
        172,
        "keys of all users",
        ("landlock",),
        "read('/proc/key-users')",
        absent="not every kernel has it",
    ),
    Attack(
        173,
        "shared memory of all users",
        ("landlock",),
        "read('/proc/sysvipc/shm')",
        absent="not every kernel has it",
    ),
    Attack(
        174,
        "lease of a system's file",
        ("uid",),
        """
file = os.open('/usr/bin/env', os.O_RDONLY)
fcntl.fcntl(file, 1024, fcntl.F_RDLCK)""",
        absent="a file that somebody writes cannot be leased",
    ),
    Attack(
        175,
        "free space of the disk",
        (),
        "os.statvfs('/tmp')",
        "programs ask for it; it tells what others have written lately",
    ),
    Attack(
        176,
        "load of the machine",
        (),
        "read('/proc/loadavg')",
        "programs ask for it; any program can measure as much by its own pace",
    ),
    Attack(
        177,
        "number of the next process",
        (),
        """
pid = os.fork()
if pid == 0:
    os._exit(0)
os.waitpid(pid, 0)""",
        "numbers are given out in order; how many others took in between is told",
    ),
)
