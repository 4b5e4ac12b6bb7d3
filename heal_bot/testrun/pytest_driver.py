"""The process of one cold run: it loads pytest, is told its order once, and is heard to its end."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from heal_bot.core.events import Run
from heal_bot.core.model import Environment
from heal_bot.sandbox.job_spec import Job, JobResult, Limits, Profile
from heal_bot.sandbox.sandbox_client import Sandbox
from heal_bot.testrun import scratch_dirs
from heal_bot.testrun.driver_protocol import Tests, Untrusted
from heal_bot.testrun.oracle import OracleSession
from heal_bot.testrun.pipe_ipc import Channel, Flooded
from heal_bot.testrun.record_reader import FIRST_CAP, RecordReader

# The sandbox ends a process in time; one that was started ahead of its order is ended here.
_PATIENCE = 5.0


class Driver:
    """A process in a slot of its own with a fresh copy of the tree at `root`.

    Nothing of the tree is loaded before the order comes, so one may be started before it is known
    what it will run. One with a `desk` can ask a process that answers for the candidate. `more`
    are files that it finds beside its own.
    """

    def __init__(
        self,
        sandbox: Sandbox,
        root: Path,
        env: Environment,
        *,
        passes: Mapping[str, str],
        profile: Profile,
        wall: float,
        left: Callable[[], float],
        below: str = "",
        asks: bool = False,
        nice: int = 0,
        more: Mapping[str, bytes] = {},
    ) -> None:
        with contextlib.ExitStack() as stack:
            self.files = stack.enter_context(scratch_dirs.driver_files(sandbox.scratch, more))
            slot = stack.enter_context(sandbox.slot())
            scratch_dirs.fill_slot(slot, root, left)
            wall = max(1.0, min(wall, left()))
            self.repo = str(slot.repo)
            self._channel = Channel(FIRST_CAP)
            stack.callback(self._channel.close)
            self.desk = stack.enter_context(contextlib.closing(OracleSession())) if asks else None
            job = Job(
                argv=(env.python, str(self.files / "_heal_driver.py")),
                env=scratch_dirs.make_environment(slot, env, passes),
                cwd=slot.repo / below,
                read=(self.files, *map(Path, env.roots)),
                channels=(*self._channel.theirs, *(self.desk.asking if self.desk else ())),
                limits=Limits(wall=wall, cpu=int(wall) + 1, nice=nice),
                profile=profile,
                terminals=True,
            )
            self._running = sandbox.start_job(job, slot)
            self._channel.started()
            if self.desk is not None:
                self.desk.asks()
            self._stack = stack.pop_all()

    def converse(
        self,
        run: Run,
        order: Mapping[str, Any],
        hearing: RecordReader,
        seconds: float,
        show: Callable[[Tests], None],
    ) -> tuple[JobResult, str]:
        """Give the order and hear it to its end: how that came, and what was wrong with its words.

        `seconds` are what the order may take, `show` is told how far it is.
        """
        self._channel.order({**order, "repo": self.repo}, last=True)
        latest = time.monotonic() + seconds + _PATIENCE
        problem = self._listen(run, hearing, latest, show)
        ended = self._running.wait()
        if time.monotonic() > latest and ended.how == "killed":
            ended = replace(ended, how="timeout", seconds=seconds)
        return ended, problem

    def _listen(
        self, run: Run, hearing: RecordReader, latest: float, show: Callable[[Tests], None]
    ) -> str:
        """Take records until the channel closes; the reason when they are not to be believed."""
        channel, running = self._channel, self._running
        try:
            while not channel.ended:
                lines = channel.pump(0.2)
                for line in lines:
                    hearing.take(line)
                channel.cap = hearing.cap
                show(hearing.tests)
                over = time.monotonic() > latest
                if over or (not lines and (running.ended is not None or run.stopped())):
                    running.kill()
                    break
        except (Untrusted, Flooded) as error:
            running.kill()
            return str(error)
        return ""

    @property
    def waits(self) -> bool:
        """Whether it is still there."""
        return self._running.ended is None

    def close(self) -> None:
        """End it and give the slot back."""
        self._stack.close()
