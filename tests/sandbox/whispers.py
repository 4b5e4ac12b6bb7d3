"""What a search could leave for the process that answers the oracle: who speaks and who hears.

`speak` runs in a process that outlives its parent, in one slot; `hear` in another slot, in a job
that is `alone`, and ends with 0 when it has heard. In a job that is not, each is heard.

None of the files that both may read is in the page cache; a speaker reads every second one, and a
hearer has heard when it is right about three quarters of them.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from heal_bot.sandbox.job_spec import Job, Limits
from heal_bot.sandbox.sandbox_client import Sandbox, child_env

PYTHON = shutil.which("python3", path="/usr/bin:/usr/local/bin") or "/usr/bin/python3"


@dataclass(frozen=True, slots=True)
class Whisper:
    """One way to tell a bit; `allowed` says why a job that is alone hears it all the same."""

    id: str
    speak: str
    hear: str
    allowed: str = ""

    @property
    def absent(self) -> str:
        """Why some machines have nothing to hear."""
        return _IN_MEMORY if _READ in self.speak else self.allowed and "file systems differ"


_IN_MEMORY = "a file in memory alone is in no cache, and some mounts keep no access times"
_LOCK = "fcntl.fcntl(file, {}, struct.pack('hhqqi4x', {}, 0, 7, 1, 0))"
_READ = "[open(name, 'rb').read() for name in F['files'][1::2]]"


def _counted(count: str) -> str:
    """Touch a page of each file, and compare a count with that before."""
    return f"""
def told(name):
    before = {count}
    touched(name)
    return {count} > before
agree([told(name) for name in files])"""


CLOSED = (
    Whisper(
        "content of shared memory",
        "open(F['shm'], 'w').write('yes')\nos.chmod(F['shm'], 0o644)",
        "must(open(F['shm']).read() == 'yes')",
    ),
    Whisper("name in shared memory", "open(F['shm'], 'w')", "os.stat(F['shm'])"),
    Whisper(
        "list of shared memory",
        "open(F['shm'], 'w')",
        "must(os.path.basename(F['shm']) in os.listdir('/dev/shm'))",
    ),
    Whisper(
        "lock of a system's file",
        "fcntl.flock(file, fcntl.LOCK_EX)",
        """
try:
    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
except BlockingIOError:
    sys.exit(0)
sys.exit(1)""",
    ),
    Whisper(
        "lock of a system's record",
        _LOCK.format("fcntl.F_SETLK", "fcntl.F_RDLCK"),
        f"must(struct.unpack('hhqqi4x', {_LOCK.format('fcntl.F_GETLK', 'fcntl.F_WRLCK')})[0] != 2)",
    ),
    Whisper(
        "lock of an open file",
        _LOCK.format("37", "fcntl.F_RDLCK"),
        f"must(struct.unpack('hhqqi4x', {_LOCK.format('36', 'fcntl.F_WRLCK')})[0] != 2)",
    ),
    Whisper("process that is there", "pass", "os.stat('/proc/%d' % F['pid'])"),
    Whisper(
        "priority of a process",
        "os.nice(7)",
        "must(os.getpriority(os.PRIO_PROCESS, F['pid']) > os.getpriority(os.PRIO_PROCESS, 0))",
    ),
    Whisper(
        "processors of a process",
        "os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})",
        "must(len(os.sched_getaffinity(F['pid'])) == 1)",
    ),
    Whisper("group of a process", "pass", "must(os.getsid(F['pid']) > 0)"),
    Whisper(
        "terminals in use",
        "held = [os.openpty() for _ in range(9)]",
        "must(int(open('/proc/sys/kernel/pty/nr').read()) >= F['terminals'] + 9)",
    ),
    Whisper("major faults", _READ, _counted("resource.getrusage(resource.RUSAGE_SELF).ru_majflt")),
    Whisper("blocks read", _READ, _counted("resource.getrusage(resource.RUSAGE_SELF).ru_inblock")),
    Whisper("waits", _READ, _counted("resource.getrusage(resource.RUSAGE_THREAD).ru_nvcsw")),
    Whisper(
        "faults of a child",
        _READ,
        "agree([os.wait4(child(name), 0)[2].ru_majflt for name in files])",
    ),
    Whisper(
        "faults of a child by number",
        _READ,
        """
def faults(name):
    used = ctypes.create_string_buffer(144)
    check(libc.syscall(247, 1, child(name), ctypes.create_string_buffer(128), 4, used))
    return struct.unpack_from('q', used, 72)[0]
agree([faults(name) for name in files])""",
    ),
    Whisper("faults in proc", _READ, _counted("int(open('/proc/self/stat').read().split()[11])")),
    Whisper(
        "faults of a thread in proc",
        _READ,
        _counted("int(open('/proc/thread-self/stat').read().split()[11])"),
    ),
    Whisper(
        "bytes read in proc",
        _READ,
        _counted("int(open('/proc/self/io').read().split('read_bytes: ')[1].split()[0])"),
    ),
    Whisper(
        "waits in proc",
        _READ,
        _counted(
            "int(open('/proc/self/status').read().split('\\nvoluntary_ctxt_switches:')[1].split()[0])"
        ),
    ),
    Whisper(
        "pages mapped around a fault",
        _READ,
        """
def told(name):
    with open('/proc/self/pagemap', 'rb') as file:
        file.seek((touched(name) + 4096) // 4096 * 8)
        return not file.read(8)[7] & 0x80
agree([told(name) for name in files])""",
    ),
    Whisper(
        "place of pages around a fault",
        _READ,
        """
def told(name):
    pages, status = ctypes.c_void_p(touched(name) + 4096), ctypes.c_int(0)
    check(libc.syscall(279, 0, 1, ctypes.byref(pages), None, ctypes.byref(status), 0))
    return status.value < 0
agree([told(name) for name in files])""",
    ),
)
# What remains: docs/security.md names it.
OPEN = (
    Whisper(
        "time of a read",
        _READ,
        """
def spent(name):
    began = time.perf_counter()
    touched(name)
    return time.perf_counter() - began
times = [spent(name) for name in files]
agree([each > sorted(times)[len(times) // 2 - 1] for each in times])""",
        "a program can measure its own pace by a clock, and by a loop where there is no clock",
    ),
    Whisper(
        "access times",
        _READ,
        "agree([os.stat(name).st_atime < time.time() - 3600 for name in files])",
        "Landlock does not mediate stat, and imports need it",
    ),
    Whisper(
        "inode numbers",
        "held = [open(str(number), 'w') for number in range(64)]",
        """
made = [open(str(number), 'w') for number in range(64)]
must(len({os.stat(file.fileno()).st_ino for file in made} & set(F['inodes'])) < 32)""",
        "a file system numbers the files of all jobs in one row",
    ),
)
_HEAD = """
import ctypes, fcntl, json, os, resource, struct, sys, time
F = json.loads(sys.argv[1])
files = F['files']
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
file = os.open('/usr/bin/env', os.O_RDONLY)
def must(held):
    if not held:
        raise OSError('nothing heard')
def check(result):
    must(result >= 0)
def agree(cold):
    right = sum(bool(told) == (place % 2 == 0) for place, told in enumerate(cold))
    must(right >= 0.75 * len(files))
def touched(name):
    place = libc.mmap(None, 65536, 1, 1, os.open(name, os.O_RDONLY), 0)
    libc.madvise(ctypes.c_void_p(place), 65536, 1)
    ctypes.string_at(place + 8192, 1)
    return place + 8192
def child(name):
    pid = os.fork()
    if pid == 0:
        touched(name)
        os._exit(0)
    return pid
"""
_STRAY = """
if os.fork() == 0:
    os.setsid()
    {speak}
    os.write(3, str(os.getpid()).encode())
    os.close(3)
    time.sleep(60)
    os._exit(0)
"""


def is_heard(sandbox: Sandbox, whisper: Whisper, *, alone: bool) -> bool:
    """Whether it crosses from one slot to another."""
    folder = sandbox.scratch / "shared"
    facts = {
        "shm": f"/dev/shm/heal-bot-whisper-{os.getpid()}",
        "terminals": _terminals(),
        "files": _cold_files(folder),
    }
    with sandbox.slot() as one, sandbox.slot() as other:
        facts["inodes"] = _next_inodes(other.repo)
        reader, writer = os.pipe()
        speak = _STRAY.format(speak=whisper.speak.replace("\n", "\n    "))
        # The one in between ends at once, as the parent of a daemon does.
        speak = speak.replace("\n", "\n    ")
        code = f"{_HEAD}\nif os.fork() == 0:{speak}\n    os._exit(0)\nos.close(3)\ntime.sleep(60)"
        argv = (PYTHON, "-I", "-c", code, json.dumps(facts))
        shared = (folder,)
        running = sandbox.start_job(
            Job(argv, child_env(one), one.repo, shared, channels=(writer,), terminals=True), one
        )
        os.close(writer)
        with os.fdopen(reader) as told:
            facts["pid"] = int(told.read())
        argv = (PYTHON, "-I", "-c", _HEAD + whisper.hear, json.dumps(facts))
        job = Job(argv, child_env(other), other.repo, shared, limits=Limits(wall=30), alone=alone)
        ended = sandbox.execute(job, other)
        assert running.ended is None, running.ended
        running.kill()
        running.wait(30)
    return ended.code == 0


def _cold_files(folder: Path) -> list[str]:
    """Files that every job may read, none of them in the page cache."""
    names = [folder / str(number) for number in range(16)]
    folder.mkdir(exist_ok=True)
    for name in names:
        if not name.exists():
            name.write_bytes(bytes(65536))
        file = os.open(name, os.O_RDWR)
        os.fsync(file)
        os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(file)
        os.utime(name, (time.time() - 7200, time.time()))
    return [str(name) for name in names]


def _next_inodes(folder: Path) -> list[int]:
    """The numbers that new files have there."""
    with contextlib.ExitStack() as held:
        files = [held.enter_context(tempfile.TemporaryFile(dir=folder)) for _ in range(64)]
        return [os.fstat(file.fileno()).st_ino for file in files]


def _terminals() -> int:
    with open("/proc/sys/kernel/pty/nr") as file:  # noqa: PTH123 - beside the payloads
        return int(file.read())
