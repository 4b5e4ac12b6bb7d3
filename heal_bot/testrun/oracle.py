"""The other process of the oracle: it holds the candidate and answers calls, one line each."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath

from heal_bot.core.model import Environment
from heal_bot.ports import Oracle
from heal_bot.sandbox.job_spec import Job, Limits
from heal_bot.source import paths
from heal_bot.testrun import scratch_dirs
from heal_bot.testrun.agent_process import Workbench

_EXPECTATIONS = frozenset(
    """
    __snapshots__ snapshots testdata test_data test-data golden goldens cassettes fixtures expected
    """.split()  # noqa: SIM905
)


class OracleSession:
    """Two pipes between the process that runs tests and the one that answers.

    `asking` are the ends of the first (calls out, answers in), `answering` those of the second.
    """

    def __init__(self) -> None:
        calls, calls_out = os.pipe()
        answers_in, answers = os.pipe()
        self.asking: tuple[int, ...] = (calls_out, answers_in)
        self.answering: tuple[int, ...] = (answers, calls)

    def asks(self) -> None:
        """The first process has its ends: close our copies, so that the other sees their end."""
        asking, self.asking = self.asking, ()
        for fd in asking:
            os.close(fd)

    def answers(self) -> None:
        """The second has its ends."""
        answering, self.answering = self.answering, ()
        for fd in answering:
            os.close(fd)

    def close(self) -> None:
        """Close what is still ours."""
        self.asks()
        self.answers()


def _is_expectation(path: str) -> bool:
    """Whether a file is data in a folder where tests keep what they expect."""
    parts = PurePosixPath(path)
    return parts.suffix != ".py" and not _EXPECTATIONS.isdisjoint(parts.parts[:-1])


@contextlib.contextmanager
def start_oracle(
    bench: Workbench,
    driver: Path,
    desk: OracleSession,
    oracle: Oracle,
    env: Environment,
    wall: float,
    left: Callable[[], float],
) -> Iterator[None]:
    """Start the process that executes the candidate, in a slot and with a uid of its own.

    It gets a copy of the patched tree without tests and their data, so that what they expect is
    not there to be read. Nothing but lines of tagged JSON crosses to the process that runs the
    assertions.
    """
    with bench.sandbox.slot() as slot:
        scratch_dirs.fill_slot(slot, oracle.tree.root, left)
        for path in oracle.tree.paths():
            if path in oracle.hidden or paths.is_test(path) or _is_expectation(path):
                (slot.repo / path).unlink(missing_ok=True)
        job = Job(
            argv=(env.python, str(driver / "_heal_oracle_worker.py")),
            env=scratch_dirs.make_environment(slot, env, bench.passes),
            cwd=slot.repo,
            read=(driver, *map(Path, env.roots)),
            channels=desk.answering,
            limits=Limits(wall=wall, cpu=int(wall) + 1),
            alone=True,
        )
        bench.sandbox.start_job(job, slot)
        desk.answers()
        yield
