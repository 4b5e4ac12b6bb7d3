"""Hostile scratch folders are emptied, whatever was built in them."""

from __future__ import annotations

import os

import pytest

from heal_bot.sandbox.scratch_slots import Slot, remove_tree


def deep(root, levels: int) -> None:
    here = os.open(root, os.O_RDONLY)
    for _ in range(levels):
        os.mkdir("d", dir_fd=here)
        inner = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inner
    os.close(here)


def linked(root) -> None:
    (root / "away").symlink_to(root.parent / "kept")
    (root / "file").symlink_to(root.parent / "kept" / "file")
    os.mkfifo(root / "pipe")


def locked(root) -> None:
    (root / "a" / "b").mkdir(parents=True)
    (root / "a" / "b" / "file").write_text("x")
    (root / "a" / "b").chmod(0)
    (root / "a").chmod(0)


def named(root) -> None:
    (root / "x" / ".heal-bot-0" / ".heal-bot-1").mkdir(parents=True)
    (root / "line\nbreak").mkdir()
    (root / os.fsdecode(b"\xff\xfe")).write_text("x")


@pytest.mark.parametrize("build", [lambda root: deep(root, 1200), linked, locked, named])
def test_a_hostile_folder_is_removed_and_nothing_else(tmp_path, build) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "file").write_text("kept")
    root = tmp_path / "scratch"
    root.mkdir()
    build(root)
    remove_tree(root)
    assert not root.exists()
    assert (kept / "file").read_text() == "kept"


def test_a_renewed_slot_is_empty_and_private(tmp_path) -> None:
    slot = Slot(0, None, tmp_path / "slot")
    slot.renew()
    (slot.repo / "left").write_text("x")
    slot.renew()
    for part in (slot.repo, slot.home, slot.tmp):
        assert list(part.iterdir()) == []
        assert part.stat().st_mode & 0o777 == 0o700
