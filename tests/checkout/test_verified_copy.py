"""What is copied of a folder, and what its fingerprint notices."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from heal_bot.checkout.verified_copy import Manifest, copy, fingerprint, take_over, walk


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


@pytest.fixture
def left(tmp_path):
    """What a job left: a module, a script, a package."""
    folder = tmp_path / "left"
    (folder / "dep").mkdir(parents=True)
    for name, mode in (("dep/__init__.py", 0o600), ("run", 0o4755), ("own.py", 0o644)):
        (folder / name).write_text(name)
        (folder / name).chmod(mode)
    return folder


def test_what_a_job_left_becomes_ours_and_takes_no_place(left, tmp_path) -> None:
    target = tmp_path / "target"
    target.mkdir()
    (target / "own.py").write_text("first")
    take_over(left, target)
    found = {str(p.relative_to(target)): p for p in target.rglob("*") if p.is_file()}
    texts = {name: path.read_text() for name, path in found.items()}
    assert texts == {"dep/__init__.py": "dep/__init__.py", "run": "run", "own.py": "first"}
    modes = {name: path.stat().st_mode & 0o7777 for name, path in found.items()}
    assert modes == {"dep/__init__.py": 0o644, "run": 0o755, "own.py": 0o644}
    assert {path.stat().st_uid for path in found.values()} == {os.geteuid()}


@pytest.mark.parametrize("kind", ["link", "pipe", "deep", "top", "owner"])
def test_what_is_no_file_of_the_job_is_not_taken_over(left, tmp_path, kind) -> None:
    if kind == "link":
        (left / "dep/secret.py").symlink_to("/etc/passwd")
    elif kind == "pipe":
        os.mkfifo(left / "dep/pipe")
    elif kind == "deep":
        (left / ("d/" * 200)).mkdir(parents=True)
        (left / ("d/" * 200) / "x.py").touch()
    elif kind == "top":
        left.rename(tmp_path / "real")
        left.symlink_to(tmp_path / "real")
    elif os.geteuid() == 0:
        os.chown(left / "own.py", 1, 1)
    else:
        pytest.skip("only root gives files away")
    with pytest.raises(OSError, match=r"no file|too deep|no folder"):
        take_over(left, tmp_path / "target")
