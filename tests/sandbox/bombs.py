"""The resource attacks: what each does, and how the supervisor or a limit ends it."""

from __future__ import annotations

import concurrent.futures
import dataclasses
import shutil
from dataclasses import dataclass
from pathlib import Path

from heal_bot.sandbox import processes
from heal_bot.sandbox.job_spec import Job, JobResult, Limits
from heal_bot.sandbox.sandbox_client import Sandbox, child_env

PYTHON = shutil.which("python3", path="/usr/bin:/usr/local/bin") or "/usr/bin/python3"
MIB = 1 << 20
# Only what never ends by itself waits for the wall; the others must meet their own bound first.
PATIENCE = 20.0
LIMITS = Limits(
    wall=0.8,
    cpu=5,
    memory=300 * MIB,
    data=200 * MIB,
    processes=40,
    open_files=128,
    file_bytes=20 * MIB,
    scratch_bytes=30 * MIB,
    scratch_files=2_000,
    output_bytes=4 * MIB,
    kept_bytes=1 << 16,
)


@dataclass(frozen=True)
class Bomb:
    """One payload and how it may end; `contained` is how it may end in a container besides."""

    number: int
    name: str
    code: str
    ends: tuple[str, ...]
    contained: str = ""

    @property
    def id(self) -> str:
        return f"{self.number:03d}-{self.name.replace(' ', '-')}"


BOMBS = (
    Bomb(96, "fork bomb", "while True:\n try: os.fork()\n except OSError: pass", ("timeout",)),
    Bomb(
        97,
        "hydra",
        """
def head():
    while True:
        try:
            pid = os.fork()
        except OSError:
            continue
        if pid == 0:
            os.setsid()
            continue
        try: os.waitpid(pid, 0)
        except OSError: pass
head()""",
        ("timeout",),
    ),
    Bomb(
        98,
        "daemons by double fork",
        """
for _ in range(10):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            for s in range(1, 32):
                try: signal.signal(s, signal.SIG_IGN)
                except (OSError, ValueError): pass
            time.sleep(600)
        os._exit(0)
    os.wait()""",
        ("exited",),
    ),
    Bomb(99, "memory", "try: bytearray(1 << 33)\nexcept MemoryError: sys.exit(9)", ("exited",)),
    Bomb(
        100,
        "shared anonymous memory",
        "m = mmap.mmap(-1, 1 << 30)\nfor i in range(0, 1 << 30, 4096): m[i] = 1\ntime.sleep(60)",
        ("memory",),
    ),
    Bomb(
        101,
        "anonymous file",
        "try: os.memfd_create('x')\nexcept OSError: sys.exit(9)\ntime.sleep(60)",
        ("exited",),
    ),
    Bomb(
        102,
        "processes times memory",
        "for _ in range(30):\n if os.fork() == 0: break\nb = b'x' * (50 << 20)\ntime.sleep(60)",
        ("memory",),
    ),
    Bomb(
        103,
        "shared memory files",
        """
for n in range(100):
    with open('/dev/shm/heal-bot-%d-%d' % (os.getuid(), n), 'wb') as f: f.write(bytes(15 << 20))
    time.sleep(0.01)
time.sleep(60)""",
        ("memory",),
        contained="exited",  # the engine's /dev/shm holds 64 MiB, which ends it first
    ),
    Bomb(
        104,
        "big file",
        "f = open('big', 'wb')\ntry:\n while True: f.write(bytes(1 << 20))\n"
        "except OSError: os._exit(9)",
        ("exited",),
    ),
    Bomb(
        105,
        "many big files",
        "for n in range(99):\n open('f%d' % n, 'wb').write(bytes(9 << 20)); time.sleep(0.05)",
        ("scratch",),
    ),
    Bomb(
        106,
        "inodes",
        "for n in range(10 ** 6):\n os.mkdir('d%d' % n)\n time.sleep(0.0001)",
        ("scratch",),
    ),
    Bomb(
        107,
        "sparse file",
        "try: open('s', 'wb').truncate(1 << 40)\nexcept OSError: sys.exit(9)\ntime.sleep(60)",
        ("exited",),
    ),
    Bomb(
        108,
        "descriptors",
        "l = []\ntry:\n while True: l.append(os.open('/dev/null', 0))\nexcept OSError: os._exit(9)",
        ("exited",),
    ),
    Bomb(
        109,
        "threads",
        """
try:
    for _ in range(500): threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
except RuntimeError: os._exit(9)
time.sleep(60)""",
        ("exited",),
    ),
    Bomb(
        110,
        "loop that ignores signals",
        """
for s in range(1, 32):
    try: signal.signal(s, signal.SIG_IGN)
    except (OSError, ValueError): pass
while True: pass""",
        ("timeout",),
    ),
    Bomb(
        111,
        "processor burners",
        "for _ in range(32):\n if os.fork() == 0: break\nwhile True: pass",
        ("timeout",),
    ),
    Bomb(112, "stops itself", "os.kill(os.getpid(), signal.SIGSTOP)", ("timeout",)),
    Bomb(113, "waits for a pipe", "os.mkfifo('f'); open('f')", ("timeout",)),
    Bomb(
        114,
        "drips output",
        "while True: os.write(1, b'.'); time.sleep(0.05)",
        ("timeout",),
    ),
    Bomb(
        115,
        "segmentation fault",
        "import ctypes; ctypes.string_at(0)",
        ("signalled",),
    ),
    Bomb(116, "flood of output", "while True: os.write(1, b'x' * 65536)", ("output",)),
    Bomb(
        137,
        "folders nested deep",
        "for n in range(3000):\n os.mkdir('d'); os.chdir('d')",
        ("exited", "scratch"),
    ),
    Bomb(
        138,
        "folders locked and nested",
        "for n in range(50):\n os.mkdir('d'); os.chdir('d')\n"
        "for n in range(50):\n os.chdir('..'); os.chmod('d', 0)",
        ("exited",),
    ),
    Bomb(139, "closes its channels", "os.closerange(0, 100); time.sleep(60)", ("timeout",)),
    Bomb(
        140,
        "hides by not being dumpable",
        "import ctypes; ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)\n"
        "if os.fork() == 0: os.setsid()\nb = b'x' * (180 << 20)\ntime.sleep(60)",
        ("memory",),
    ),
    Bomb(
        141,
        "comet",
        "while True:\n try:\n  if os.fork(): os._exit(0)\n except OSError: pass\n os.setsid()",
        ("exited",),
    ),
    Bomb(
        171,
        "terminals",
        "for n in range(10):\n if os.fork() == 0: break\n"
        "while True:\n try: os.open('/dev/ptmx', os.O_RDWR)\n except OSError: time.sleep(0.01)",
        ("terminals",),
        "timeout",
    ),
)


def explode_all() -> dict[str, tuple[JobResult, JobResult, list[int]]]:
    """Every bomb in a slot, an honest program in the same slot, and the pids left of the uid."""
    with Sandbox.start(slots=2) as sandbox, concurrent.futures.ThreadPoolExecutor(2) as pool:

        def explode(bomb: Bomb) -> tuple[str, tuple[JobResult, JobResult, list[int]]]:
            code = f"import os, sys, time, signal, mmap, threading\n{bomb.code}"
            endless = bomb.ends == ("timeout",)
            limits = LIMITS if endless else dataclasses.replace(LIMITS, wall=PATIENCE)
            with sandbox.slot() as slot:
                argv = (PYTHON, "-I", "-c", code)
                first = sandbox.execute(
                    Job(argv, child_env(slot), slot.repo, limits=limits, terminals=True), slot
                )
                slot.renew()
                again = sandbox.execute(
                    Job(("/bin/true",), child_env(slot), slot.repo, limits=LIMITS), slot
                )
                alive = [
                    pid
                    for pid in processes.list_processes()
                    if slot.uid is not None and processes.real_uid(pid) == slot.uid
                ]
                left = [p.name for p in Path("/dev/shm").glob(f"heal-bot-{slot.uid}-*")]
                assert not left
            return bomb.id, (first, again, alive)

        return dict(pool.map(explode, BOMBS))
