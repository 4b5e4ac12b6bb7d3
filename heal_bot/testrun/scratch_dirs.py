"""What a run finds in its slot: a copy of the tree, the driver's files, its environment."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from heal_bot.core.errors import BudgetError, ProvisionError, SandboxError
from heal_bot.core.model import Environment, PatchedFile
from heal_bot.core.process import run as start
from heal_bot.ports import Ask
from heal_bot.sandbox.landlock import child_env
from heal_bot.sandbox.scratch_slots import Slot

_AGENT = Path(__file__).parent / "agent"
_TOOLS = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C"}
_COPY_SECONDS = 300.0
# A run whose time is over still ends in order, for which it may need a copy.
_LEAST_SECONDS = 5.0


def fill_slot(
    slot: Slot, root: Path, left: Callable[[], float], least: float = _LEAST_SECONDS
) -> None:
    """Copy the pristine tree at `root` into the slot's repo folder and give it to the slot's uid.

    BudgetError for a copy that takes more than the time that is `left`, of which `least` is there
    always. `cp` copies 3,000 files in a tenth of the time of shutil.copytree.
    """
    end = time.monotonic() + min(_COPY_SECONDS, max(least, left()))
    argv = ["cp", "-R", "-P", "-p", "--", f"{root}/.", str(slot.repo)]
    done = start(argv, env=_TOOLS, seconds=max(0.0, end - time.monotonic()))
    if done.full:
        raise ProvisionError(
            f"the disk of {slot.root} is full: free space there, or name another folder with "
            "HEAL_BOT_SCRATCH"
        )
    _refuse_late(end)
    if not done.ok:
        raise SandboxError(f"cannot copy {root} into the sandbox: {done.complaint()}")
    _give(slot, end)


def _refuse_late(end: float) -> None:
    if time.monotonic() >= end:
        raise BudgetError("the tree was not copied into the sandbox in time: raise max-minutes")


def _give(slot: Slot, end: float) -> None:
    """Make the copy the uid's own, and writable: nothing of it was touched by a sandbox yet."""
    for _, folders, files, at in os.fwalk(slot.repo):
        _refuse_late(end)
        entries = [*((name, 0o700) for name in folders), *((name, 0o600) for name in files)]
        for name, needed in entries:
            mode = os.stat(name, dir_fd=at, follow_symlinks=False).st_mode
            if slot.uid is not None:
                os.chown(name, slot.uid, slot.uid, dir_fd=at, follow_symlinks=False)
            if not stat.S_ISLNK(mode) and mode & needed != needed:
                os.chmod(name, stat.S_IMODE(mode) | needed, dir_fd=at)
    slot.repo.chmod(0o700)
    if slot.uid is not None:
        os.chown(slot.repo, slot.uid, slot.uid)


def replace_file(slot: Slot, file: PatchedFile) -> None:
    """Put the new content of a file into a copy that no job has touched yet."""
    path = slot.repo / file.path
    mode = stat.S_IMODE(path.stat().st_mode)
    path.unlink()
    path.write_bytes(file.content.encode("utf-8", "surrogateescape"))
    path.chmod(mode)
    if slot.uid is not None:
        os.chown(path, slot.uid, slot.uid)


def make_environment(slot: Slot, env: Environment, passes: Mapping[str, str]) -> dict[str, str]:
    """The allow-listed environment with the checkout's import paths and the interpreter's bin."""
    extra = {**dict(env.variables), **passes}
    given = child_env(slot)
    extra["PATH"] = f"{Path(env.python).parent}:{given['PATH']}"
    if env.paths:
        extra["PYTHONPATH"] = ":".join(str((slot.repo / path).resolve()) for path in env.paths)
    return child_env(slot, extra)


def read_script(name: str) -> dict[str, bytes]:
    """A script of the agent by its name, alone; nothing for no name."""
    return {name: (_AGENT / name).read_bytes()} if name else {}


@contextlib.contextmanager
def driver_files(parent: Path, more: Mapping[str, bytes] = {}) -> Iterator[Path]:
    """A folder with the driver that every uid can read: our package may lie in a closed home.

    `more` are files beside it, by name.
    Below a sandbox's scratch folder its supervisor removes it even when we are killed.
    """
    folder = Path(tempfile.mkdtemp(prefix="driver-", dir=parent))
    try:
        folder.chmod(0o755)
        files = {source.name: source.read_bytes() for source in _AGENT.glob("*.py")}
        for name, content in {**files, **more}.items():
            copy = folder / name
            copy.write_bytes(content)
            os.chmod(copy, 0o644)  # noqa: PTH101 - beside the write it belongs to
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def hash_seed(ask: Ask) -> dict[str, str]:
    """What a run's environment says of string hashes; nothing where the usual seed, 0, stays.

    Python calls a seed of 0 no randomization, which `sys.flags` would show.
    """
    seed = ask.hashes if ask.shuffle is None else ask.shuffle
    return {} if seed is None else {"PYTHONHASHSEED": str(1 + seed)}
