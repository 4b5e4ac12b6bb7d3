"""What one job leaves for another to hear: heard by any job, and by none that is alone."""

from __future__ import annotations

import os
import sys
from dataclasses import replace

import pytest

from heal_bot.sandbox import processes
from heal_bot.sandbox.job_spec import Job
from heal_bot.sandbox.sandbox_client import child_env

whispers, world = sys.modules["whispers"], sys.modules["world"]
CLOSED, OPEN = whispers.CLOSED, whispers.OPEN
READ = [each for each in (*CLOSED, *OPEN) if "files" in each.speak]
pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="jobs share a uid without root")


@pytest.mark.parametrize("whisper", CLOSED, ids=lambda whisper: whisper.id)
def test_a_job_that_is_alone_hears_nothing(sandbox, whisper) -> None:
    assert not whispers.is_heard(sandbox, whisper, alone=True)


@pytest.mark.slow
@pytest.mark.parametrize("whisper", [*CLOSED, *OPEN], ids=lambda whisper: whisper.id)
def test_another_job_hears_it(sandbox, whisper) -> None:
    heard = whispers.is_heard(sandbox, whisper, alone=False)
    if not heard and whisper.absent:
        pytest.skip(f"nothing to hear here: {whisper.absent}")
    assert heard


@pytest.mark.slow
@pytest.mark.parametrize("whisper", READ, ids=lambda whisper: whisper.id)
def test_silence_is_not_heard(sandbox, whisper) -> None:
    assert not whispers.is_heard(sandbox, replace(whisper, speak="pass"), alone=False)


@pytest.mark.slow
@pytest.mark.parametrize("whisper", OPEN, ids=lambda whisper: whisper.id)
def test_what_remains_is_heard_by_a_job_that_is_alone(sandbox, whisper) -> None:
    heard = whispers.is_heard(sandbox, whisper, alone=True)
    if not heard:
        pytest.skip(f"nothing to hear here: {whisper.absent}")
    assert whisper.allowed


def test_a_job_that_is_alone_refuses_every_attack(sandbox) -> None:
    outcome = world.run_inside(sandbox, alone=True)
    table = world.attacks.ATTACKS
    assert [each.id for each in table if outcome[each.id] == "ok" and not each.allowed] == []


@pytest.mark.parametrize(
    "code",
    [
        "import resource; resource.getrusage(resource.RUSAGE_CHILDREN)",
        "import ctypes; assert ctypes.CDLL(None).sysinfo(ctypes.create_string_buffer(256)) == 0",
        "import ctypes; assert ctypes.CDLL(None).inotify_init1(0) > 0",
        "import os; os.wait3(0) if os.fork() else None",
        "import ctypes; assert ctypes.CDLL(None).madvise(None, 0, 25) == 0",
        "import os; open(f'/proc/{os.getpid()}/task/{os.getpid()}/stat').read()",
        "open('/proc/self/smaps').read()",
        "open('/proc/self/statm').read()",
        "open('/proc/self/schedstat').read()",
        "open('/proc/meminfo').read()",
        "open('/proc/stat').read()",
        "open('/proc/loadavg').read()",
        "open('/proc/uptime').read()",
        "open('/proc/sys/kernel/pty/nr').read()",
        "open('/sys/devices/system/cpu/present').read()",
    ],
)
def test_a_job_that_is_alone_is_not_told(sandbox, slot, code) -> None:
    for alone, code_of_end in ((False, 0), (True, 1)):
        job = Job((whispers.PYTHON, "-c", code), child_env(slot), slot.repo, alone=alone)
        assert sandbox.execute(job, slot).code == code_of_end


@pytest.mark.parametrize(
    "code",
    [
        "import subprocess; assert subprocess.run(['/bin/echo', 'x'], capture_output=True).stdout",
        "import os; assert os.waitpid(os.spawnl(os.P_NOWAIT, '/bin/true', 'true'), 0)[1] == 0",
        "import os; os.waitid(os.P_ALL, 0, os.WEXITED) if os.fork() else os._exit(0)",
        "import asyncio\nasync def f(made):\n    assert await (await made).wait() == 0\n"
        "asyncio.run(f(asyncio.create_subprocess_exec('/bin/true')))",
        "from concurrent.futures import *; ThreadPoolExecutor().submit(int, '7').result()",
        "import time, os; assert time.process_time() > 0; assert sum(os.times()) > 0",
        "import os; assert os.cpu_count() and len(os.listdir('/proc/self/fd')) > 2",
        "assert 'stack' in open('/proc/self/maps').read()",
        "import tempfile, platform, uuid, ssl; uuid.uuid4(); platform.uname(); tempfile.mkdtemp()",
    ],
)
def test_a_job_that_is_alone_can(sandbox, slot, code) -> None:
    job = Job((whispers.PYTHON, "-c", code), child_env(slot), slot.repo, alone=True)
    ended = sandbox.execute(job, slot)
    assert (ended.how, ended.code) == ("exited", 0), ended.output


def test_the_children_of_another_job_stay(sandbox) -> None:
    code = "import os, time\nif os.fork() == 0: os.write(3, b'x'); os.close(3)\ntime.sleep(60)"
    with sandbox.slot() as one, sandbox.slot() as other:
        reader, writer = os.pipe()
        argv = (whispers.PYTHON, "-I", "-c", code)
        running = sandbox.start_job(Job(argv, child_env(one), one.repo, channels=(writer,)), one)
        os.close(writer)
        assert os.read(reader, 1) == b"x"
        os.close(reader)
        job = Job((whispers.PYTHON, "-c", ""), child_env(other), other.repo, alone=True)
        assert sandbox.execute(job, other).code == 0
        table = processes.list_processes()
        assert len([pid for pid in table if processes.real_uid(pid) == one.uid]) == 2
        running.kill()
        running.wait(30)


def test_a_job_that_is_alone_has_no_shared_memory(sandbox, slot) -> None:
    code = "import multiprocessing; multiprocessing.Lock()"
    for alone, code_of_end in ((False, 0), (True, 1)):
        job = Job((whispers.PYTHON, "-c", code), child_env(slot), slot.repo, alone=alone)
        assert sandbox.execute(job, slot).code == code_of_end
