"""The Builder port: a source archive becomes a wheel in a sandbox slot, without open network."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from heal_bot.core import safe_open
from heal_bot.core.errors import ProvisionError, SandboxError
from heal_bot.core.events import Run
from heal_bot.core.model import Environment
from heal_bot.core.text import last_line, one_line
from heal_bot.ports.packages import IndexAnswer, IndexTask
from heal_bot.sandbox.job_spec import Job, JobResult, Limits
from heal_bot.sandbox.sandbox_client import Sandbox
from heal_bot.testrun import scratch_dirs
from heal_bot.testrun.index_client import ask_index

_SECONDS = 300.0
_WHEEL_CAP = 256 << 20


class SandboxBuilder:
    """Fetches, and builds one archive after the other; what comes out was written by the enemy.

    A build reaches `hosts` through the sandbox's proxy, and nothing else; an index may send what
    asks it on to them.
    """

    def __init__(self, sandbox: Sandbox, hosts: tuple[str, ...] = ()) -> None:
        self._sandbox = sandbox
        self.hosts = hosts

    def build(
        self, run: Run, env: Environment, sdist: bytes, backend: str, backend_path: Sequence[str]
    ) -> tuple[str, bytes]:
        """File name and bytes of the wheel; ProvisionError with the backend's last words."""
        wall = max(1.0, min(_SECONDS, run.left()))
        with (
            scratch_dirs.driver_files(self._sandbox.scratch) as driver,
            self._sandbox.slot() as slot,
        ):
            archive, out = driver / "archive.tar.gz", slot.tmp / "wheel"
            archive.write_bytes(sdist)
            archive.chmod(0o644)
            out.mkdir(mode=0o700)
            if slot.uid is not None:
                os.chown(out, slot.uid, slot.uid)
            job = Job(
                argv=(env.python, "-I", str(driver / "_heal_build.py"), str(archive), str(out),
                      backend, *backend_path),
                env=scratch_dirs.make_environment(slot, env, {}),
                cwd=slot.repo,
                read=(driver, *map(Path, env.roots)),
                limits=Limits(wall=wall, cpu=int(wall) + 1),
                profile="setup",
                hosts=self.hosts,
            )  # fmt: skip
            ended = self._sandbox.execute(job, slot)
            if ended.how == "sandbox_error":
                raise SandboxError(f"nothing can be built in the sandbox: {ended.detail}")
            if ended.how != "exited" or ended.code != 0:
                raise ProvisionError(_complaint(ended))
            return _wheel(out.parent, out.name)

    def ask_index(self, run: Run, task: IndexTask) -> AbstractContextManager[IndexAnswer]:
        """Run a package tool to its end, with the index as all that it reaches."""
        return ask_index(run, self._sandbox, self.hosts, task)


def _wheel(folder: Path, out: str) -> tuple[str, bytes]:
    """The one wheel in a folder that belongs to the enemy: a regular file of one name."""
    try:
        names = [name for name in safe_open.list_names(folder, out) if name.endswith(".whl")]
        if len(names) != 1:
            raise ProvisionError(f"the build left {len(names)} wheels instead of one")
        wheel = safe_open.read(folder, f"{out}/{names[0]}", _WHEEL_CAP, one_name=True)
    except OSError as error:
        raise ProvisionError(f"the built wheel cannot be read: {error.strerror}") from error
    return names[0], wheel


def _complaint(ended: JobResult) -> str:
    last = last_line(ended.output)
    return one_line(f"{ended.detail or ended.how}: {last}") if ended.how != "exited" else last
