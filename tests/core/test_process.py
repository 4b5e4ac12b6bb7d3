from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

from heal_bot.core.errors import HealBotError
from heal_bot.core.process import run


def _python(code: str, **options: object) -> object:
    return run([sys.executable, "-I", "-c", code], env={}, **options)  # type: ignore[arg-type]


def test_both_streams_and_the_code_come_back() -> None:
    done = _python("import sys; print('o'); print('e', file=sys.stderr); sys.exit(3)")
    assert (done.code, done.stdout, done.stderr, done.ok) == (3, b"o\n", b"e\n", False)
    assert "exit 3: e" in done.complaint()


def test_large_output_on_both_streams_does_not_block() -> None:
    done = _python("import sys; sys.stderr.write('e' * 300000); sys.stdout.write('o' * 300000)")
    assert (len(done.stdout), len(done.stderr)) == (300000, 300000)


def test_stdin_is_fed_and_closed() -> None:
    done = _python("import sys; print(len(sys.stdin.read()))", stdin=b"x" * 1_000_000)
    assert done.stdout == b"1000000\n"


def test_nothing_of_our_environment_is_inherited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "secret")
    assert b"GITHUB_TOKEN" not in _python("import os; print(sorted(os.environ))").stdout


@pytest.mark.long
def test_a_program_that_never_ends_is_killed_with_its_children(tmp_path: Path) -> None:
    mark = tmp_path / "late"
    child = f"import time, pathlib; time.sleep(1.5); pathlib.Path({str(mark)!r}).touch()"
    start = f"subprocess.Popen([sys.executable, '-c', {child!r}])"
    code = f"import subprocess, sys, time; {start}; time.sleep(60)"
    started = time.monotonic()
    done = _python(code, seconds=0.5)
    assert done.ended == "timeout"
    assert time.monotonic() - started < 5
    time.sleep(1.6)
    assert not mark.exists()


def test_a_child_that_keeps_the_pipe_does_not_hold_us() -> None:
    start = "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(30)'])"
    code = f"import subprocess, sys; {start}"
    started = time.monotonic()
    assert _python(code, seconds=1.0).ended == "timeout"
    assert time.monotonic() - started < 6


def test_a_flood_is_cut_at_the_cap() -> None:
    done = _python("while True: print('x' * 1000)", cap=100_000)
    assert done.ended == "flooded"
    assert len(done.stdout) < 1_000_000


def test_a_program_that_is_not_there_is_named() -> None:
    with pytest.raises(HealBotError, match="no-such-program"):
        run(["no-such-program"], env={})
