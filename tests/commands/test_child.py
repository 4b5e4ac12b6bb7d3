"""The place of the bundle below the workspace."""

from __future__ import annotations

from pathlib import Path

import pytest

from heal_bot.commands import child
from heal_bot.commands.job import Job
from heal_bot.errors import ProvisionError, UsageError


def job(workspace: Path, **inputs: str) -> Job:
    given = {f"INPUT_{name.upper()}": value for name, value in inputs.items()}
    return Job.of({"GITHUB_WORKSPACE": str(workspace), **given})


def test_an_older_bundle_makes_room_and_git_does_not_see_the_new_one(tmp_path: Path) -> None:
    old = tmp_path / ".heal-bot/bundle"
    old.mkdir(parents=True)
    (old / "outcome.json").write_text("{}")
    child.make_room(job(tmp_path))
    assert not old.exists()
    assert (tmp_path / ".heal-bot/.gitignore").read_text() == "*\n"


def test_a_workspace_that_cannot_be_written_is_one_line_with_the_remedy(tmp_path: Path) -> None:
    (tmp_path / ".heal-bot").write_text("in the way")
    with pytest.raises(ProvisionError, match=r"cannot be written .*mount it writable") as caught:
        child.make_room(job(tmp_path))
    assert "\n" not in str(caught.value)


def test_a_folder_of_bundles_that_leads_elsewhere_is_left_alone(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere/bundle"
    elsewhere.mkdir(parents=True)
    (tmp_path / "work").mkdir()
    (tmp_path / "work/.heal-bot").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UsageError, match="remove it"):
        child.make_room(job(tmp_path / "work"))
    assert elsewhere.exists()


def test_an_ignore_file_that_leads_elsewhere_is_made_anew(tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("mine")
    (tmp_path / ".heal-bot").mkdir()
    (tmp_path / ".heal-bot/.gitignore").symlink_to(tmp_path / "kept")
    child.make_room(job(tmp_path))
    assert (tmp_path / "kept").read_text() == "mine"
    assert (tmp_path / ".heal-bot/.gitignore").read_text() == "*\n"


@pytest.mark.parametrize("given", ["../outside", "/etc/passwd", "link/file"])
def test_a_path_that_leaves_the_workspace_is_refused(tmp_path: Path, given: str) -> None:
    (tmp_path / "link").symlink_to("/etc")
    with pytest.raises(UsageError, match="outside of the workspace"):
        job(tmp_path, freeze=given).inside("freeze")


def test_a_boolean_that_is_none_is_one_line() -> None:
    with pytest.raises(UsageError, match="use true or false"):
        job(Path(), loopback="perhaps")
