"""What is copied of a folder, and what its fingerprint notices."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from heal_bot.checkout.verified_copy import Manifest, copy, fingerprint, walk


def everything(path: str) -> bool:
    return False


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "made"
    for name in ("b.py", "a/inner.py", "a/deep/c.py", "z.txt"):
        (made / name).parent.mkdir(parents=True, exist_ok=True)
        (made / name).write_text(name)
    (made / "link").symlink_to("b.py")
    return made


def test_files_and_links_are_met_once_and_in_one_order(folder: Path) -> None:
    found = [path for path, _, _ in walk(folder, everything)]
    assert found == ["b.py", "link", "z.txt", "a/inner.py", "a/deep/c.py"]


def test_what_is_left_out_is_not_entered(folder: Path) -> None:
    found = [path for path, _, _ in walk(folder, lambda path: path in {"a/", "z.txt"})]
    assert found == ["b.py", "link"]


def test_a_link_to_a_folder_is_met_and_not_entered(folder: Path) -> None:
    (folder / "again").symlink_to("a")
    assert "again" in [path for path, _, _ in walk(folder, everything)]
    assert "again/inner.py" not in [path for path, _, _ in walk(folder, everything)]


def test_what_a_link_leads_to_is_copied_when_it_is_what_was_named(folder: Path) -> None:
    named = folder.parent / "lib64"
    named.symlink_to("made")
    copy(named, folder.parent / "copy", Manifest(), everything)
    assert (folder.parent / "copy/a/inner.py").read_text() == "a/inner.py"


@pytest.mark.parametrize("change", ["content", "time", "file", "name"])
def test_a_fingerprint_changes_when_a_file_does(folder: Path, change: str) -> None:
    before = fingerprint(folder, everything)
    assert before == fingerprint(folder, everything)
    if change == "content":
        (folder / "a/inner.py").write_text("another text")
    elif change == "time":
        os.utime(folder / "a/inner.py", ns=(1, 1))
    elif change == "file":
        (folder / "a/new.py").write_text("")
    else:
        (folder / "b.py").rename(folder / "c.py")
    assert fingerprint(folder, everything) != before
