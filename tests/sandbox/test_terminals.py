"""Pseudo-terminals: a test job opens its own, within a limit, and nobody else's."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

import pytest

from heal_bot.sandbox.job_spec import Job, JobResult, Limits
from heal_bot.sandbox.sandbox_client import Sandbox, Slot, child_env

PYTHON = sys.modules["bombs"].PYTHON
DIALOGUE = """
import getpass, os, pty, sys
pid, master = pty.fork()
if pid == 0:
    os.write(1, b'tty' if os.isatty(0) and os.ttyname(0) else b'none')
    said = getpass.getpass('name? ')
    print(' told', said, os.get_terminal_size().columns >= 0)
    sys.stdout.flush()
    os._exit(0)
said = b''
while b'name?' not in said:
    said += os.read(master, 100)
os.write(master, b'ada\\n')
try:
    while True:
        said += os.read(master, 100)
except OSError:
    pass
os.waitpid(pid, 0)
os.write(1, said)
"""

needs_uid = pytest.mark.skipif(os.geteuid() != 0, reason="only a uid of its own owns a terminal")


@pytest.fixture
def started(sandbox: Sandbox, slot: Slot) -> Callable[..., JobResult]:
    """Run Python text as a job with or without terminals."""

    def start(code: str, *, terminals: bool, limits: Limits | None = None) -> JobResult:
        job = Job((PYTHON, "-I", "-c", code), child_env(slot), slot.repo,
                  limits=limits or Limits(wall=30), terminals=terminals)  # fmt: skip
        return sandbox.execute(job, slot)

    return start


@needs_uid
def test_a_test_job_talks_to_a_child_on_a_terminal(started: Callable[..., JobResult]) -> None:
    ended = started(DIALOGUE, terminals=True)
    assert (ended.how, ended.code) == ("exited", 0), ended
    assert ended.output.startswith(b"tty")
    assert b"told ada True" in ended.output


def test_other_jobs_have_no_terminals(started: Callable[..., JobResult]) -> None:
    ended = started("import os; os.openpty()", terminals=False)
    assert (ended.how, ended.code) == ("exited", 1), ended


@needs_uid
def test_a_job_with_too_many_terminals_ends(started: Callable[..., JobResult]) -> None:
    code = "import os, time\nheld = [os.openpty() for _ in range(9)]\ntime.sleep(60)"
    ended = started(code, terminals=True, limits=Limits(wall=30, terminals=8))
    assert (ended.how, ended.detail) == ("terminals", "more than 8 pseudo-terminals open")


@needs_uid
def test_nobody_opens_the_terminal_of_another_job(sandbox: Sandbox, slot: Slot) -> None:
    code = (
        "import os, time\n_, own = os.openpty()\nprint(os.ttyname(own), flush=True)\ntime.sleep(60)"
    )
    environ = child_env(slot)
    holder = sandbox.start_job(
        Job((PYTHON, "-I", "-c", code.replace("print", "open('name', 'w').write").replace(
            ", flush=True", "")), environ, slot.repo, terminals=True), slot,
    )  # fmt: skip
    named = slot.repo / "name"
    while not (named.exists() and named.read_text()):
        assert holder.ended is None
    with sandbox.slot() as other:
        code = f"import os; os.open({named.read_text()!r}, os.O_RDWR)"
        job = Job((PYTHON, "-I", "-c", code), child_env(other), other.repo, terminals=True)
        ended = sandbox.execute(job, other)
    holder.kill()
    holder.wait()
    assert (ended.how, ended.code) == ("exited", 1)
    assert b"PermissionError" in ended.output
