"""What a search could leave for the process that answers the oracle: who speaks and who hears.

`speak` runs in a process that outlives its parent, in one slot; `hear` in another slot, in a job
that is `alone`, and ends with 0 when it has heard. In a job that is not, each is heard.
"""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import dataclass

from heal_bot.sandbox.job_spec import Job, Limits
from heal_bot.sandbox.sandbox_client import Sandbox, child_env

PYTHON = shutil.which("python3", path="/usr/bin:/usr/local/bin") or "/usr/bin/python3"


@dataclass(frozen=True, slots=True)
class Whisper:
    """One way to tell a bit; with `stays` a file does it, whoever made it."""

    id: str
    speak: str
    hear: str


_LOCK = "fcntl.fcntl(file, {}, struct.pack('hhqqi4x', {}, 0, 7, 1, 0))"
WHISPERS = (
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
)
_HEAD = """
import fcntl, json, os, struct, sys, time
F = json.loads(sys.argv[1])
file = os.open('/usr/bin/env', os.O_RDONLY)
def must(held):
    if not held:
        raise OSError('nothing heard')
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
    facts = {"shm": f"/dev/shm/heal-bot-whisper-{os.getpid()}", "terminals": _terminals()}
    with sandbox.slot() as one, sandbox.slot() as other:
        reader, writer = os.pipe()
        speak = _STRAY.format(speak=whisper.speak.replace("\n", "\n    "))
        # The one in between ends at once, as the parent of a daemon does.
        speak = speak.replace("\n", "\n    ")
        code = f"{_HEAD}\nif os.fork() == 0:{speak}\n    os._exit(0)\nos.close(3)\ntime.sleep(60)"
        argv = (PYTHON, "-I", "-c", code, json.dumps(facts))
        running = sandbox.start_job(
            Job(argv, child_env(one), one.repo, channels=(writer,), terminals=True), one
        )
        os.close(writer)
        with os.fdopen(reader) as told:
            facts["pid"] = int(told.read())
        argv = (PYTHON, "-I", "-c", _HEAD + whisper.hear, json.dumps(facts))
        job = Job(argv, child_env(other), other.repo, limits=Limits(wall=30), alone=alone)
        ended = sandbox.execute(job, other)
        assert running.ended is None, running.ended
        running.kill()
        running.wait(30)
    return ended.code == 0


def _terminals() -> int:
    with open("/proc/sys/kernel/pty/nr") as file:  # noqa: PTH123 - beside the payloads
        return int(file.read())
