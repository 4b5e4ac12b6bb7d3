"""The other process of the oracle: it holds the candidate and answers calls, one line each."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from heal_bot.model import Environment
from heal_bot.ports import Oracle
from heal_bot.sandbox import scratch
from heal_bot.sandbox.job import Job, Limits
from heal_bot.sandbox.run import Sandbox
from heal_bot.source import rails

_EXPECTATIONS = frozenset(
    """
    __snapshots__ snapshots testdata test_data test-data golden goldens cassettes fixtures expected
    """.split()  # noqa: SIM905
)


@dataclass(slots=True)
class Desk:
    """The test process's ends of both pipes to the answering process: calls out, answers in."""

    theirs: tuple[int, ...] = ()

    def started(self) -> None:
        """Close our copies, so that each side sees the end of the other."""
        for fd in self.theirs:
            os.close(fd)
        self.theirs = ()


NO_DESK = Desk()


def _is_expectation(path: str) -> bool:
    """Whether a file is data in a folder where tests keep what they expect."""
    parts = PurePosixPath(path)
    return parts.suffix != ".py" and not _EXPECTATIONS.isdisjoint(parts.parts[:-1])


@contextlib.contextmanager
def answering(
    sandbox: Sandbox,
    driver: Path,
    oracle: Oracle,
    env: Environment,
    passes: Mapping[str, str],
    wall: float,
) -> Iterator[Desk]:
    """Start the process that executes the candidate, in a slot and with a uid of its own.

    It gets a copy of the patched tree without tests and their data, so that what they expect is
    not there to be read. Nothing but lines of tagged JSON crosses to the process that runs the
    assertions.
    """
    with sandbox.slot() as slot:
        scratch.fill(slot, oracle.tree.root)
        for path in oracle.tree.paths():
            if path in oracle.hidden or rails.is_test(path) or _is_expectation(path):
                (slot.repo / path).unlink(missing_ok=True)
        calls, calls_out = os.pipe()
        answers_in, answers = os.pipe()
        desk = Desk((calls_out, answers_in))
        try:
            job = Job(
                argv=(env.python, str(driver / "_heal_worker.py")),
                env=scratch.environment(slot, env, passes),
                cwd=slot.repo,
                read=(driver, *map(Path, env.roots)),
                channels=(answers, calls),
                limits=Limits(wall=wall, cpu=int(wall) + 1),
            )
            sandbox.start_job(job, slot)
            os.close(answers)
            os.close(calls)
            yield desk
        finally:
            desk.started()
