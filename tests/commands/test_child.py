"""The place of the bundle below the workspace."""

from __future__ import annotations

from pathlib import Path

import pytest

from heal_bot.commands import child
from heal_bot.commands.job import Job
from heal_bot.errors import UsageError


def job(workspace: Path) -> Job:
    return Job.of({"GITHUB_WORKSPACE": str(workspace)})


def test_an_older_bundle_makes_room_and_git_does_not_see_the_new_one(tmp_path: Path) -> None:
    old = tmp_path / ".heal-bot/bundle"
    old.mkdir(parents=True)
    (old / "outcome.json").write_text("{}")
    child.make_room(job(tmp_path))
    assert not old.exists()
    assert (tmp_path / ".heal-bot/.gitignore").read_text() == "*\n"


def test_a_workspace_that_cannot_be_written_is_one_line_with_the_remedy(tmp_path: Path) -> None:
    (tmp_path / ".heal-bot").write_text("in the way")
    with pytest.raises(UsageError, match=r"cannot be written .*mount it writable") as caught:
        child.make_room(job(tmp_path))
    assert "\n" not in str(caught.value)
