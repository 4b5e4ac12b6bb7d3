"""What a failure of the system is for a person."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from heal_bot.cli import _failed
from heal_bot.errors import no_room


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
