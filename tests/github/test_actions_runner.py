"""The runner's interface as the runner speaks it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from heal_bot.core.errors import ForgeError
from heal_bot.core.text import Secret
from heal_bot.github import actions_runner
from tests.github_server import runner


def test_inputs_keep_their_hyphens_and_empty_ones_are_absent() -> None:
    environ = runner.inputs({"github-token": " t ", "max-usd": "", "a b": "c"}) | {"PATH": "/bin"}
    assert actions_runner.inputs(environ) == {"github-token": "t", "a_b": "c"}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("plain", "::notice title=t::plain"),
        ("a\nb\r%", "::notice title=t::a%0Ab%0D%25"),
        ("::error::x", "::notice title=t::::error::x"),
    ],
)
def test_a_command_stays_one_command(value: str, expected: str) -> None:
    assert actions_runner.command("notice", value, title="t") == expected


def test_a_title_cannot_add_properties() -> None:
    line = actions_runner.command("error", "x", title="a,file=b::c\n")
    assert line == "::error title=a%2Cfile=b%3A%3Ac%0A::x"


def test_an_annotation_fits_the_runner() -> None:
    assert len(actions_runner.annotation("error", "t" * 9_000, "m" * 9_000)) < 4_096


def test_every_line_of_a_secret_is_masked() -> None:
    assert actions_runner.masks((Secret("first\nsecond"),)) == (
        "::add-mask::first",
        "::add-mask::second",
    )


def test_foreign_output_is_fenced_by_a_word_nobody_knows() -> None:
    (stop, resume), (again, _) = actions_runner.pause(), actions_runner.pause()
    assert stop == f"::stop-commands::{resume.strip(':')}"
    assert stop != again


def test_outputs_cannot_end_their_own_block(tmp_path: Path) -> None:
    path = tmp_path / "output"
    actions_runner.write_outputs(path, {"a": "1\nEOF\nb=2", "c": ""})
    lines = path.read_text().splitlines()
    word = lines[0].removeprefix("a<<")
    assert lines[1:5] == ["1", "EOF", "b=2", word]
    assert lines[5].startswith("c<<")
    assert word not in lines[5]


def test_summaries_are_appended(tmp_path: Path) -> None:
    path = tmp_path / "summary"
    path.write_text("before\n")
    actions_runner.write_summary(path, "after")
    assert path.read_text() == "before\nafter\n"


def test_a_link_in_place_of_a_file_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with pytest.raises(ForgeError, match="link"):
        actions_runner.write_summary(tmp_path / "link", "x")
    assert (tmp_path / "real").read_text() == ""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_what_was_written_belongs_to_the_workspace_s_owner(tmp_path: Path) -> None:
    workspace, folder, outside = tmp_path / "w", tmp_path / "w/b", tmp_path / "outside"
    folder.mkdir(parents=True)
    outside.write_text("")
    (folder / "file").write_text("")
    (folder / "link").symlink_to(outside)
    os.chown(workspace, 1001, 1002)
    actions_runner.give_back(folder, workspace)
    owners = {(p.lstat().st_uid, p.lstat().st_gid) for p in (folder, *folder.iterdir())}
    assert owners == {(1001, 1002)}
    assert outside.stat().st_uid == 0
