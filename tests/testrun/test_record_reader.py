"""What is concluded from records and the end of a process."""

from __future__ import annotations

import pytest

from heal_bot.sandbox.job_spec import JobResult
from heal_bot.testrun.record_reader import conclude, new_hearing

USAGE = b"ERROR: usage: pytest [options]\n__main__.py: error: unrecognized arguments: --x\n"


@pytest.mark.parametrize(
    ("output", "said"),
    [
        (USAGE + b"  inifile: pytest.ini\n  rootdir: /repo\n", "arguments: --x"),
        (b"conftest.py:1: in <module>\nE   RuntimeError: no config\n", "E RuntimeError: no config"),
    ],
)
def test_what_pytest_will_not_take_is_said_and_not_its_last_line(output: bytes, said: str) -> None:
    hearing = new_hearing(2, {"mode": "run"})
    hearing.finished = 4
    how, detail = conclude(JobResult("exited", 4, output=output), "", hearing)
    assert how == "crashed"
    assert detail.startswith("pytest stopped with code 4: ")
    assert detail.endswith(said)
