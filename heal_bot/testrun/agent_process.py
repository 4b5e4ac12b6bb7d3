"""The programs that run a project's tests: how each is started in a slot, and ended."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from heal_bot.core.model import Environment
from heal_bot.sandbox.job_spec import Job, Limits, Profile
from heal_bot.sandbox.sandbox_client import Sandbox
from heal_bot.sandbox.scratch_slots import Slot
from heal_bot.testrun import scratch_dirs
from heal_bot.testrun.pipe_ipc import Channel


@dataclass(frozen=True, slots=True)
class Workbench:
    """What all programs that run the tests of a project share.

    `passes` are variables that they get besides, `below` is the folder of the tree where they
    start, `beside` tells the files that those of the agent find beside their own.
    """

    sandbox: Sandbox
    passes: Mapping[str, str] = field(default_factory=dict)
    profile: Profile = "test"
    below: str = ""
    beside: Callable[[Environment], Mapping[str, bytes]] = lambda env: {}

    def job(
        self,
        slot: Slot,
        env: Environment,
        argv: tuple[str, ...],
        limits: Limits,
        *,
        passes: Mapping[str, str] = {},
        read: tuple[Path, ...] = (),
        channels: tuple[int, ...] = (),
    ) -> Job:
        """A program in a slot that holds a copy of the tree; it may take no longer than `wall`."""
        return Job(
            argv=argv,
            env=scratch_dirs.make_environment(slot, env, {**self.passes, **passes}),
            cwd=slot.repo / self.below,
            read=(*read, *map(Path, env.roots)),
            channels=channels,
            limits=replace(limits, cpu=int(limits.wall) + 1),
            profile=self.profile,
            terminals=True,
        )


class AgentProcess:
    """A script of the agent in a slot of its own, with a fresh copy of the tree at `root`.

    `files` is where the agent lies, `repo` the copy as the script knows it.
    """

    def __init__(
        self,
        bench: Workbench,
        script: str,
        root: Path,
        env: Environment,
        channel: Channel,
        left: Callable[[], float],
        limits: Limits,
        *,
        passes: Mapping[str, str] = {},
        channels: tuple[int, ...] = (),
    ) -> None:
        with contextlib.ExitStack() as stack:
            stack.callback(channel.close)
            files = scratch_dirs.driver_files(bench.sandbox.scratch, bench.beside(env))
            self.files = stack.enter_context(files)
            slot = stack.enter_context(bench.sandbox.slot())
            scratch_dirs.fill_slot(slot, root, left)
            self.repo = str(slot.repo)
            job = bench.job(
                slot, env, (env.python, str(self.files / script)),
                replace(limits, wall=max(1.0, min(limits.wall, left()))),
                passes=passes, read=(self.files,), channels=(*channel.theirs, *channels),
            )  # fmt: skip
            self.running = bench.sandbox.start_job(job, slot)
            channel.started()
            self._stack = stack.pop_all()

    def close(self) -> None:
        """End it and give the slot back."""
        self._stack.close()
