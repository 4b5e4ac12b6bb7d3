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
from heal_bot.sandbox.job_spec import JobResult, Limits
from heal_bot.testrun.agent_process import AgentProcess, Workbench
from heal_bot.testrun.driver_protocol import Tests, Untrusted
from heal_bot.testrun.oracle import OracleSession
from heal_bot.testrun.pipe_ipc import Channel, Flooded
from heal_bot.testrun.record_reader import FIRST_CAP, RecordReader

# The sandbox ends a process in time; one that was started ahead of its order is ended here.
_PATIENCE = 5.0


class Driver:
    """A process with a fresh copy of the tree at `root`.

    Nothing of the tree is loaded before the order comes, so one may be started before it is known
    what it will run. One with a `desk` can ask a process that answers for the candidate.
    """

    def __init__(
        self,
        bench: Workbench,
        root: Path,
        env: Environment,
        left: Callable[[], float],
        limits: Limits,
        *,
        passes: Mapping[str, str] = {},
        asks: bool = False,
    ) -> None:
        with contextlib.ExitStack() as stack:
            self.desk = stack.enter_context(contextlib.closing(OracleSession())) if asks else None
            self._channel = Channel(FIRST_CAP)
            self._process = AgentProcess(
                bench, "_heal_driver.py", root, env, self._channel, left, limits,
                passes=passes, channels=self.desk.asking if self.desk else (),
            )  # fmt: skip
            stack.callback(self._process.close)
            self.files, self.repo = self._process.files, self._process.repo
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
        ended = self._process.running.wait()
        if time.monotonic() > latest and ended.how == "killed":
            ended = replace(ended, how="timeout", seconds=seconds)
        return ended, problem

    def _listen(
        self, run: Run, hearing: RecordReader, latest: float, show: Callable[[Tests], None]
    ) -> str:
        """Take records until the channel closes; the reason when they are not to be believed."""
        channel, running = self._channel, self._process.running
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
        return self._process.running.ended is None

    def close(self) -> None:
        """End it and give the slot back."""
        self._stack.close()
