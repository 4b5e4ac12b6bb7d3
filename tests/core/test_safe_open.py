"""Foreign paths opened beneath a root."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import pytest

from heal_bot.core.safe_open import list_names, read

CAP = 1 << 10


@pytest.fixture
def root(tmp_path):
    (tmp_path / "root/inner").mkdir(parents=True)
    (tmp_path / "root/inner/file").write_text("here")
    (tmp_path / "secret").write_text("no")
    return tmp_path / "root"


def test_a_file_below_the_root_is_read_and_the_root_may_be_reached_through_a_link(root):
    root.with_name("link").symlink_to(root)
    assert read(root, "inner/file", CAP) == b"here"
    assert read(root.with_name("link"), "inner/file", CAP) == b"here"


@pytest.mark.parametrize(
    ("made", "path"),
    [
        (lambda root: (root / "file").symlink_to("../secret"), "file"),
        (lambda root: (root / "out").symlink_to(".."), "out/secret"),
        (lambda root: os.mkfifo(root / "pipe"), "pipe"),
        (lambda root: None, "inner"),
        (lambda root: None, "../secret"),
        (lambda root: None, "inner/../inner/file"),
        (lambda root: None, "/etc/passwd"),
        (lambda root: None, "inner/none"),
        (lambda root: (root / "big").write_bytes(b"x" * (CAP + 1)), "big"),
    ],
)
def test_what_is_no_plain_file_below_the_root_or_too_long_is_an_os_error(root, made, path):
    made(root)
    with pytest.raises(OSError, match="Errno"):
        read(root, path, CAP)


def test_nothing_stays_open_whatever_is_there(root):
    before = len([*Path("/proc/self/fd").iterdir()])
    for path in ("inner/file", "inner", "inner/none"):
        with contextlib.suppress(OSError):
            read(root, path, CAP)
    assert len([*Path("/proc/self/fd").iterdir()]) == before


def test_the_names_in_a_folder_are_told_unless_a_link_leads_there(root):
    assert list_names(root, "inner") == ["file"]
    (root / "out").symlink_to("inner")
    for path in ("out", "inner/file"):
        with pytest.raises(OSError, match="Errno"):
            list_names(root, path)


def test_a_file_with_another_name_is_read_unless_it_may_have_only_one(root):
    os.link(root / "inner/file", root / "other")
    assert read(root, "other", CAP) == b"here"
    with pytest.raises(OSError, match="not a plain file"):
        read(root, "other", CAP, one_name=True)
