"""The client: what a program gets, how it ends, and what becomes of it when others die."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from heal_bot.core.errors import ProvisionError, SandboxError
from heal_bot.sandbox import processes
from heal_bot.sandbox.job_spec import Job, Limits
from heal_bot.sandbox.sandbox_client import Launch, Sandbox, child_env

PYTHON = shutil.which("python3", path="/usr/bin:/usr/local/bin") or "/usr/bin/python3"
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="slots have uids only as root")


def sleeper(slot, seconds: float = 60.0, channels: tuple[int, ...] = ()) -> Job:
    code = f"import os,time\nif os.fork() == 0: os.setsid()\ntime.sleep({seconds})"
    return Job((PYTHON, "-I", "-c", code), child_env(slot), slot.repo, channels=channels)


def alive(uid: int) -> list[int]:
    return [pid for pid in processes.list_processes() if processes.real_uid(pid) == uid]


def until(condition, seconds: float = 10.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_a_program_gets_exactly_the_environment_of_its_job(run_code, slot) -> None:
    ended = run_code("import os,json; print(json.dumps(dict(os.environ)))")
    assert json.loads(ended.output) == {**child_env(slot)}


def test_git_works_whatever_the_machine_configures(run_code) -> None:
    # The machine's configuration is a file that no program here may read.
    code = "import subprocess; print(subprocess.run(['git', 'init', 'new']).returncode)"
    assert run_code(code).output.splitlines()[-1] == b"0"


def test_a_program_has_no_descriptor_but_its_own(sandbox, slot) -> None:
    reader, writer = os.pipe()
    code = "import os; os.write(3, str(sorted(os.listdir('/proc/self/fd'))).encode())"
    ended = sandbox.execute(
        Job((PYTHON, "-c", code), child_env(slot), slot.repo, channels=(writer,)), slot
    )
    os.close(writer)
    assert ended.code == 0, ended
    assert os.read(reader, 1000) == b"['0', '1', '2', '3', '4']"  # 4 is the listing's own
    os.close(reader)


@needs_root
def test_a_program_has_the_slots_uid_and_no_group_or_capability(run_code, slot) -> None:
    ended = run_code("import os; print(os.getresuid(), os.getresgid(), os.getgroups())")
    trio = f"({slot.uid}, {slot.uid}, {slot.uid})"
    assert ended.output.decode().strip() == f"{trio} {trio} []"
    ended = run_code("print(open('/proc/self/status').read())")
    assert b"CapPrm:\t0000000000000000" in ended.output
    assert b"NoNewPrivs:\t1" in ended.output


@pytest.mark.parametrize(
    ("code", "how", "value"),
    [
        ("pass", "exited", 0),
        ("raise SystemExit(7)", "exited", 7),
        ("raise SystemExit(126)", "exited", 126),
        ("import os; os.kill(os.getpid(), 9)", "signalled", -9),
        ("import os; os.abort()", "signalled", -6),
    ],
)
def test_an_end_is_told_as_it_was(run_code, code, how, value) -> None:
    ended = run_code(code)
    assert (ended.how, ended.code) == (how, value)


def test_a_program_that_is_not_there_is_a_sandbox_error_and_the_slot_goes_on(
    sandbox, slot, run_code
) -> None:
    ended = sandbox.execute(Job(("/usr/bin/none",), child_env(slot), slot.repo), slot)
    assert (ended.how, ended.code) == ("sandbox_error", 126)
    assert "/usr/bin/none" in ended.detail
    assert run_code("pass").code == 0


def test_a_read_root_that_is_not_there_runs_nothing(sandbox, slot) -> None:
    job = Job(("/bin/true",), child_env(slot), slot.repo, read=(Path("/nowhere"),))
    ended = sandbox.execute(job, slot)
    assert ended.how == "sandbox_error"
    assert "/nowhere" in ended.detail


def test_a_read_root_can_be_read_and_not_written(sandbox, slot, world) -> None:
    root = Path(str(world["work"])) / "venv"
    (root / "library.py").write_text("x = 1\n")
    (root / "library.py").chmod(0o666)
    code = f"p = {str(root / 'library.py')!r}; open(p).read(); open(p, 'a')"
    job = Job((PYTHON, "-c", code), child_env(slot), slot.repo, read=(root,))
    ended = sandbox.execute(job, slot)
    assert b"line 1" in ended.output
    assert b"PermissionError" in ended.output
    assert (root / "library.py").read_text() == "x = 1\n"


def test_a_relative_program_is_refused_before_anything_starts(sandbox, slot) -> None:
    with pytest.raises(SandboxError, match="absolute"):
        sandbox.start_job(Job(("true",), child_env(slot), slot.repo), slot)


def test_a_slot_runs_one_job_at_a_time(sandbox, slot) -> None:
    running = sandbox.start_job(sleeper(slot), slot)
    with pytest.raises(SandboxError, match="already runs"):
        sandbox.start_job(sleeper(slot), slot)
    running.kill()
    assert running.wait().how == "killed"


def test_waiting_for_a_moment_does_not_end_the_job(sandbox, slot) -> None:
    running = sandbox.start_job(sleeper(slot), slot)
    with pytest.raises(TimeoutError):
        running.wait(0.05)
    assert running.ended is None
    running.kill()
    assert running.wait().how == "killed"


def test_wall_time_ends_a_job(sandbox, slot) -> None:
    job = Job(("/bin/sleep", "60"), child_env(slot), slot.repo, limits=Limits(wall=0.2))
    ended = sandbox.execute(job, slot)
    assert ended.how == "timeout"
    assert 0.2 <= ended.seconds < 5


@pytest.mark.parametrize("nice", [0, 5])
@needs_root
def test_a_job_gives_way_as_far_as_it_is_told(sandbox, slot, nice) -> None:
    before = os.nice(0)
    job = Job(("/bin/sleep", "60"), child_env(slot), slot.repo, limits=Limits(nice=nice))
    running = sandbox.start_job(job, slot)
    until(lambda: alive(slot.uid))
    (pid,) = alive(slot.uid)
    assert os.getpriority(os.PRIO_PROCESS, pid) == min(19, before + nice)
    session = Path(f"/proc/{pid}/autogroup")
    if session.exists():
        until(lambda: session.read_text().endswith(f"nice {nice}\n"))
    running.kill()


def test_slots_are_exclusive_and_fresh(sandbox) -> None:
    order = []
    with sandbox.slot() as first, sandbox.slot() as second:
        assert first.root != second.root
        (first.repo / "left").write_text("x")

        def third() -> None:
            with sandbox.slot() as taken:
                order.append(sorted(taken.repo.iterdir()))

        thread = threading.Thread(target=third)
        thread.start()
        time.sleep(0.1)
        assert order == []
    thread.join(10)
    assert order == [[]]


def test_leaving_a_slot_ends_what_runs_in_it(sandbox) -> None:
    with sandbox.slot() as slot:
        running = sandbox.start_job(sleeper(slot), slot)
        uid = slot.uid
    assert running.wait(1).how == "killed"
    assert uid is None or alive(uid) == []


@pytest.mark.long
@needs_root
def test_a_killed_supervisor_takes_its_jobs_with_it() -> None:
    with Sandbox.start(slots=1) as sandbox:
        with sandbox.slot() as slot:
            running = sandbox.start_job(sleeper(slot), slot)
            until(lambda: len(alive(slot.uid)) == 2)
            os.kill(sandbox.supervisors()[0], signal.SIGKILL)
            ended = running.wait(10)
            uid = slot.uid
        assert ended.how == "sandbox_error"
        until(lambda: alive(uid) == [])
        with pytest.raises(SandboxError, match="no usable"), sandbox.slot():
            pass


@needs_root
def test_a_killed_client_takes_supervisor_jobs_and_scratch_with_it(tmp_path) -> None:
    script = tmp_path / "client.py"
    script.write_text(
        "import time, os\nfrom heal_bot.sandbox.sandbox_client import *\n"
        "from heal_bot.sandbox.job_spec import *\n"
        "from heal_bot.testrun.scratch_dirs import driver_files\n"
        "s = Sandbox.start(slots=1)\n"
        "with driver_files(s.scratch), s.slot() as slot:\n"
        "    r = s.start_job(Job(('/bin/sleep', '60'), child_env(slot), slot.repo), slot)\n"
        "    print(slot.uid, slot.root, flush=True)\n    time.sleep(60)\n"
    )
    client = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True)
    assert client.stdout is not None
    uid, root = client.stdout.readline().split()
    until(lambda: alive(int(uid)) != [])
    client.kill()
    client.wait(10)
    client.stdout.close()
    until(lambda: alive(int(uid)) == [] and not Path(root).parent.exists())


@needs_root
def test_two_sandboxes_never_share_a_uid(sandbox) -> None:
    with Sandbox.start(slots=1) as other, other.slot() as mine, sandbox.slot() as theirs:
        assert mine.uid != theirs.uid


def test_the_supervisor_stays_small(sandbox) -> None:
    table = processes.list_processes()
    assert all(table[pid].memory < 64 << 20 for pid in sandbox.supervisors())


def test_closing_leaves_nothing() -> None:
    sandbox = Sandbox.start(slots=1)
    with sandbox.slot() as slot:
        scratch = slot.root.parent
        pids = sandbox.supervisors()
    sandbox.close()
    assert not scratch.exists()
    assert all(pid not in processes.list_processes() for pid in pids)


@pytest.mark.parametrize(("mode", "slots"), [("strickt", 1), ("strict", 0)])
def test_nonsense_is_refused_by_name(mode, slots) -> None:
    with pytest.raises(SandboxError, match=r"strickt|not 0"):
        Sandbox.start(mode, slots=slots)


def test_a_scratch_folder_nobody_may_enter_is_refused(tmp_path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    with pytest.raises(ProvisionError, match="cannot be entered"):
        Sandbox.start(scratch=closed)


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder that every user may enter."""
    with tempfile.TemporaryDirectory(prefix="heal-bot-test-", dir="/tmp") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


def test_a_sandbox_that_nobody_waits_for_leaves_nothing(place) -> None:
    with Launch("reduced", 1, place) as launch:
        (folder,) = place.iterdir()
        pids = [link.process.pid for link in launch._links]
        assert all(Path(f"/proc/{pid}").exists() for pid in pids)
    assert not folder.exists()
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)


def test_a_sandbox_that_was_waited_for_outlives_its_start(place) -> None:
    with Launch("reduced", 1, place) as launch:
        sandbox = launch.ready()
    with sandbox, sandbox.slot() as slot:
        argv = (PYTHON, "-I", "-c", "print(6 * 7)")
        assert sandbox.execute(Job(argv, child_env(slot), slot.repo), slot).output == b"42\n"
    assert list(place.iterdir()) == []


def test_reads_and_advice_that_tell_nothing_of_the_cache_work(run_code) -> None:
    code = """
import mmap, os
with open("file", "wb+") as file:
    file.write(b"text" * 2_000)
    file.flush()
    os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_SEQUENTIAL)
    buffer = bytearray(4)
    print(os.preadv(file.fileno(), [buffer], 0), os.preadv(file.fileno(), [buffer], 4, 0), buffer)
    print(os.pwritev(file.fileno(), [b"more"], 0), os.pread(file.fileno(), 4, 0))
    mmap.mmap(file.fileno(), 0).madvise(mmap.MADV_WILLNEED)
"""
    ended = run_code(code)
    assert ended.code == 0, ended
    assert ended.output == b"4 4 bytearray(b'text')\n4 b'more'\n"
