"""A package tool in a sandbox slot, with an index at the other end of its gateway alone."""

from __future__ import annotations

import contextlib
import json
import socket
from collections.abc import Iterator

from heal_bot.core.errors import SandboxError
from heal_bot.core.events import Run
from heal_bot.ports.packages import IndexAnswer, IndexRefusal, IndexTask
from heal_bot.sandbox.index_gateway import IndexSource
from heal_bot.sandbox.job_spec import Job, Limits
from heal_bot.sandbox.landlock import child_env
from heal_bot.sandbox.sandbox_client import Sandbox
from heal_bot.testrun.scratch_dirs import read_script

# A resolution of a few hundred packages takes 0.2 GiB; the wheels of one package may have 3 GiB
# and be there packed and unpacked.
_MEMORY = 2 << 30
_SCRATCH, _FILES = 16 << 30, 1_000_000
_OUTPUT = 16 << 20
_REFUSALS = 1 << 16


@contextlib.contextmanager
def ask_index(
    run: Run, sandbox: Sandbox, hosts: tuple[str, ...], task: IndexTask
) -> Iterator[IndexAnswer]:
    """Run the program to its end; what it left can be looked at while the context lasts."""
    wall = max(1.0, min(task.seconds, run.left()))
    ours, theirs = socket.socketpair()
    with ours, sandbox.slot() as slot:
        laid = {**task.laid, **read_script(task.script)}
        with theirs:
            for name, content in laid.items():
                file = slot.repo / name
                file.write_bytes(content)
                file.chmod(0o644)
            source = IndexSource(task.url.reveal(), task.ca_file, task.proxy, hosts)
            job = Job(
                argv=task.argv,
                env=child_env(slot, task.env),
                cwd=slot.repo,
                read=task.read,
                limits=Limits(
                    wall=wall, cpu=int(wall) + 1, memory=_MEMORY, file_bytes=_SCRATCH,
                    scratch_bytes=_SCRATCH, scratch_files=_FILES, output_bytes=_OUTPUT,
                ),
                profile="setup",
                index=theirs.fileno(),
            )  # fmt: skip
            running = sandbox.start_job(job, slot)
        with contextlib.suppress(OSError):  # a job that was refused has no gateway
            ours.sendall(source.dump())
            ours.shutdown(socket.SHUT_WR)
        ended = running.wait()
        if ended.how == "sandbox_error":
            raise SandboxError(f"no package can be fetched in the sandbox: {ended.detail}")
        refusals = tuple(IndexRefusal(**json.loads(line)) for line in _told(ours).splitlines())
        yield IndexAnswer(ended.how, ended.code, ended.output, refusals, slot.repo)


def _told(ours: socket.socket) -> bytes:
    """What the gateway has said, which has ended with its job."""
    ours.settimeout(1.0)
    told = b""
    with contextlib.suppress(OSError):
        while len(told) < _REFUSALS and (piece := ours.recv(_REFUSALS)):
            told += piece
    return told[: told.rfind(b"\n") + 1]
