"""What a failure of the system is for a person."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from heal_bot.cli.main import _failed
from heal_bot.core.errors import (
    BudgetError,
    ForgeError,
    HealBotError,
    ProvisionError,
    SandboxError,
    UncollectedError,
    UsageError,
    WorkspaceError,
    explain_uncollected,
    limit_errors,
    no_room,
)


def test_a_disk_without_room_is_one_line_with_the_place_and_the_remedy(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(OSError, match="No space left") as caught, Path("/dev/full").open("w") as f:
        f.write("x" * 100_000)
    assert _failed(caught.value) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert "cannot be written (No space left on device)" in line
    assert "HEAL_BOT_SCRATCH" in line


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EROFS])
def test_a_full_or_read_only_disk_names_its_file(number: int) -> None:
    told = no_room(OSError(number, os.strerror(number), "/work/x"))
    assert told is not None
    assert str(told).startswith("/work/x cannot be written (")


def test_any_other_failure_of_the_system_is_a_bug() -> None:
    assert no_room(OSError(errno.EIO, "Input/output error")) is None


@pytest.mark.parametrize("kind", [SandboxError, ProvisionError, WorkspaceError, ForgeError])
def test_what_fails_when_no_time_is_left_fails_for_want_of_time(kind: type[HealBotError]) -> None:
    with (
        pytest.raises(BudgetError, match="reached: git was killed; raise --max"),
        limit_errors(lambda: 0.0),
    ):
        raise kind("git was killed")
    with pytest.raises(kind, match=r"^git was killed$"), limit_errors(lambda: 0.1):
        raise kind("git was killed")


@pytest.mark.parametrize("kind", [UsageError, BudgetError])
def test_what_was_asked_wrongly_stays_wrong_when_time_is_over(kind: type[HealBotError]) -> None:
    with pytest.raises(kind, match=r"^no such report$"), limit_errors(lambda: 0.0):
        raise kind("no such report")


@pytest.mark.parametrize(
    ("ended", "kind"),
    [
        ("timeout", BudgetError),
        ("crashed", UncollectedError),
        ("killed", ProvisionError),
        ("untrusted", SandboxError),
    ],
)
def test_tests_that_were_not_collected_in_time_are_no_fault_of_the_sandbox(
    ended: str, kind: type[HealBotError]
) -> None:
    assert type(explain_uncollected(ended, "60 s")) is kind
