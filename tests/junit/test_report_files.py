"""Reports are opened beneath their root, whatever lies there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from heal_bot.core.errors import UsageError
from heal_bot.core.text import printable
from heal_bot.junit.report_files import Opened, ReportPlace, find, open_report


@pytest.fixture
def root(tmp_path: Path) -> Path:
    top = tmp_path / "repo"
    for name in ("a.xml", "b.xml", "out/c.xml", "out/deep/d.xml", ".cache/e.xml", "out/f.txt"):
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text(name)
    (tmp_path / "outside.xml").write_text("outside")
    return top


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("a.xml", ["a.xml"]),
        ("./a.xml", ["a.xml"]),
        ("*.xml", ["a.xml", "b.xml"]),
        ("[ab].xml", ["a.xml", "b.xml"]),
        ("**/*.xml", ["a.xml", "b.xml", "out/c.xml", "out/deep/d.xml"]),
        ("out/**", ["out/c.xml", "out/deep/d.xml", "out/f.txt"]),
        ("**/d.xml", ["out/deep/d.xml"]),
        ("out/*/d.xml", ["out/deep/d.xml"]),
        (".cache/*.xml", [".cache/e.xml"]),
    ],
)
def test_patterns_find_what_a_shell_would_find(
    root: Path, pattern: str, expected: list[str]
) -> None:
    assert [place.name for place in find(root, [pattern])] == expected
    assert [place.name for place in find(root, [str(root / pattern)])] == expected


def test_a_file_that_several_patterns_match_is_read_once(root: Path) -> None:
    assert [p.name for p in find(root, ["b.xml", "*.xml"])] == ["b.xml", "a.xml"]


@pytest.mark.parametrize("pattern", ["none-*.xml", "out", "a.xml/b", "../outside.xml", "", "a\0b"])
def test_a_pattern_that_finds_nothing_or_leaves_the_root_is_a_usage_error(
    root: Path, pattern: str
) -> None:
    with pytest.raises(UsageError) as raised:
        find(root, [pattern])
    assert printable(pattern) in str(raised.value)


def test_absolute_paths_outside_need_leave(root: Path) -> None:
    outside = str(root.parent / "outside.xml")
    with pytest.raises(UsageError, match="lies outside of"):
        find(root, [outside])
    (place,) = find(root, [outside], absolute=True)
    assert (place.base / place.name).read_text() == "outside"
    assert len(find(root, [str(root.parent / "**/*.xml")], absolute=True)) == 5


def test_links_folders_pipes_and_second_names_are_not_read(root: Path) -> None:
    (root / "link.xml").symlink_to(root.parent / "outside.xml")
    (root / "folder").symlink_to(root.parent)
    os.mkfifo(root / "pipe.xml")
    os.link(root / "a.xml", root / "second.xml")
    assert [p.name for p in find(root, ["[lp]*.xml"])] == ["link.xml", "pipe.xml"]
    assert "without following links" in str(open_report(ReportPlace(root, "link.xml")))
    assert "without following links" in str(open_report(ReportPlace(root, "folder/outside.xml")))
    assert open_report(ReportPlace(root, "pipe.xml")) == "is not a plain file"
    assert open_report(ReportPlace(root, "out")) == "is not a plain file"
    assert "has 2 names" in str(open_report(ReportPlace(root, "a.xml")))
    with pytest.raises(UsageError):
        find(root, ["folder/*.xml"])


def test_what_is_opened_is_the_file_and_nothing_stays_open(root: Path) -> None:
    before = len(list(Path("/proc/self/fd").iterdir()))
    opened = open_report(ReportPlace(root, "out/deep/d.xml"))
    assert isinstance(opened, Opened)
    with opened.file as stream:
        assert stream.read(100) == b"out/deep/d.xml"
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_a_file_beyond_the_cap_is_refused(root: Path) -> None:
    with (root / "big.xml").open("wb") as file:
        file.truncate((512 << 20) + 1)
    assert "more than the 512 MiB" in str(open_report(ReportPlace(root, "big.xml")))
