"""What a run looks like in a terminal, through an emulator that replays its bytes."""

from __future__ import annotations

import re
import subprocess

import pytest

from heal_bot.cli import console_output
from tests.cli import shown_run, terminal

pytestmark = pytest.mark.long

SHOW = terminal.python("tests.cli.shown_run")
ESCAPE = "\x1b"
COLOUR = re.compile(rb"\x1b\[[0-9;]*(?:3[0-7]|38)(?:;[0-9;]*)?m")


@pytest.fixture(scope="module", params=[40, 80, 200])
def shown(request: pytest.FixtureRequest) -> terminal.Shown:
    return terminal.run(SHOW, request.param)


def test_the_screen_holds_the_log_and_nothing_of_the_status_line(shown: terminal.Shown) -> None:
    assert shown.rows == terminal.lay_out(shown_run.lines(), shown.columns)


def test_the_status_line_was_drawn_within_the_width_of_the_terminal(shown: terminal.Shown) -> None:
    frames = re.findall(r"[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] ([^\r\n\x1b]*)", shown.data.decode())
    assert any("cause 1 of 3" in frame for frame in frames)
    assert all(frame.rstrip().endswith(" left") for frame in frames)
    assert max(map(len, frames)) <= shown.columns - 2


def test_a_note_on_standard_error_does_not_break_the_display() -> None:
    shown = terminal.run([*SHOW, "--interrupted"], 80)
    rows = terminal.lay_out(shown_run.lines(), 80)
    assert [row for row in shown.rows if row != shown_run.STOPPING] == rows
    assert shown_run.STOPPING in shown.rows


@pytest.mark.parametrize(
    "environ", [{"TERM": "dumb"}, {"CI": "true"}, {"TERM": ""}], ids=["dumb", "CI", "no TERM"]
)
def test_a_terminal_that_cannot_redraw_gets_plain_lines(environ: dict[str, str]) -> None:
    shown = terminal.run(SHOW, 80, environ)
    assert ESCAPE not in shown.data.decode()
    assert shown.data.decode().splitlines() == shown_run.lines(redrawn=False)


def test_colours_are_left_out_where_nobody_wants_them() -> None:
    coloured = terminal.run(SHOW, 80)
    plain = terminal.run(SHOW, 80, {"NO_COLOR": "1"})
    assert COLOUR.search(coloured.data)
    assert not COLOUR.search(plain.data)
    assert plain.rows == coloured.rows


def test_a_log_that_goes_to_a_file_is_plain_while_the_terminal_shows_the_status() -> None:
    shown = terminal.run(SHOW, 80, pipe_stdout=True)
    assert shown.piped.splitlines() == shown_run.lines()
    assert b"cause 1 of 3" in shown.data
    assert shown.rows == []


def test_without_a_terminal_the_log_tells_how_far_the_search_is() -> None:
    done = subprocess.run(SHOW, cwd=terminal.ROOT, capture_output=True, text=True, timeout=60)
    assert ESCAPE not in done.stdout + done.stderr
    assert (
        "  rules: 500 candidates tried, none fixes a test without breaking another"
        in done.stdout.splitlines()
    )


@pytest.mark.parametrize(
    ("environ", "drawn"),
    [({"TERM": "xterm"}, True), ({"TERM": "dumb"}, False), ({}, False),
     ({"TERM": "xterm", "CI": "1"}, False)],
)  # fmt: skip
def test_a_status_line_needs_a_terminal_that_redraws(environ: dict[str, str], drawn: bool) -> None:
    assert console_output.draws_status(environ) is drawn
