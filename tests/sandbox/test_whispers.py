"""What one job leaves for another to hear: heard by any job, and by none that is alone."""

from __future__ import annotations

import os
import sys

import pytest

from heal_bot.sandbox import processes
from heal_bot.sandbox.job_spec import Job
from heal_bot.sandbox.sandbox_client import child_env

whispers = sys.modules["whispers"]
pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="jobs share a uid without root")


@pytest.mark.parametrize("whisper", whispers.WHISPERS, ids=lambda whisper: whisper.id)
def test_a_job_that_is_alone_hears_nothing(sandbox, whisper) -> None:
    assert not whispers.is_heard(sandbox, whisper, alone=True)


@pytest.mark.slow
@pytest.mark.parametrize("whisper", whispers.WHISPERS, ids=lambda whisper: whisper.id)
def test_another_job_hears_it(sandbox, whisper) -> None:
    assert whispers.is_heard(sandbox, whisper, alone=False)


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
