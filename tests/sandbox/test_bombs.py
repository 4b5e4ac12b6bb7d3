"""Resource attacks: each ends within its bounds, leaves no process, and the slot works again."""

from __future__ import annotations

import os
import sys

import pytest

from heal_bot.sandbox import processes
from heal_bot.sandbox.job_spec import JobResult

bombs = sys.modules["bombs"]
LIMITS = bombs.LIMITS

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def outcomes() -> dict[str, tuple[JobResult, JobResult, list[int]]]:
    return bombs.explode_all()


@pytest.mark.parametrize("bomb", bombs.BOMBS, ids=lambda bomb: bomb.id)
def test_the_bomb_ends_bounded_without_survivors(bomb, outcomes) -> None:
    first, again, alive = outcomes[bomb.id]
    assert first.how in bomb.ends, first
    assert first.seconds < bombs.PATIENCE
    assert alive == []
    assert (again.how, again.code) == ("exited", 0)


def test_daemons_are_counted(outcomes) -> None:
    assert outcomes["098-daemons-by-double-fork"][0].survivors == 10


def test_a_process_that_forks_and_exits_all_the_time_is_counted(outcomes) -> None:
    assert outcomes["141-comet"][0].survivors >= 1


def test_a_crash_leaves_no_core(outcomes) -> None:
    assert outcomes["115-segmentation-fault"][0].code == -11


@pytest.mark.parametrize(
    "name",
    ["099-memory", "101-anonymous-file", "104-big-file", "107-sparse-file", "108-descriptors"],
)
def test_a_limit_is_an_error_the_program_sees(name, outcomes) -> None:
    assert outcomes[name][0].code == 9


def test_a_flood_is_clipped_in_the_middle(outcomes) -> None:
    output = outcomes["116-flood-of-output"][0].output
    assert LIMITS.kept_bytes <= len(output) < LIMITS.kept_bytes + 200
    assert b"bytes cut" in output


def test_the_machine_has_a_limit_of_its_own() -> None:
    assert (
        0 < processes.available_memory() < os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    )
