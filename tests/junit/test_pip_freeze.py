"""Versions beside the reports of an artifact."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from heal_bot.core.events import Event, Run
from heal_bot.junit.pip_freeze import choose_freeze, find_frozen


def packed(path: Path, **members: str) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in members.items():
            archive.writestr(name.replace("__", "/").replace("_", "."), text)
    return path


@pytest.mark.parametrize(
    ("one", "two", "expected"),
    [
        ("a==1", None, b"a==1"),
        ("a==1", "a==1", b"a==1"),
        ("a==1", "a==2", None),
        (None, None, None),
    ],
)
def test_the_versions_count_where_the_artifacts_agree(
    tmp_path: Path, one: str | None, two: str | None, expected: bytes | None
) -> None:
    paths = [
        packed(tmp_path / f"{n}.zip", junit_xml="<x/>", **({"deep__freeze_txt": t} if t else {}))
        for n, t in enumerate((one, two))
    ]
    assert find_frozen(paths) == expected


def test_what_is_no_archive_or_too_large_says_nothing(tmp_path: Path) -> None:
    (tmp_path / "no.zip").write_bytes(b"PK\x03\x04broken")
    bomb = packed(tmp_path / "bomb.zip", freeze_txt="a" * (1 << 21))
    assert find_frozen([tmp_path / "no.zip", bomb, tmp_path / "gone.zip"]) is None


def laid_out(folder: Path, *texts: str) -> None:
    for number, text in enumerate(texts):
        (folder / f".heal-bot/reports/junit-{number}").mkdir(parents=True)
        (folder / f".heal-bot/reports/junit-{number}/freeze.txt").write_text(text)


GLOB = ".heal-bot/reports/**/freeze.txt"


@pytest.mark.parametrize(
    ("texts", "setup", "found"),
    [
        (("a==1",), "", True),
        (("a==1", "a==1"), "", True),
        (("a==1", "a==2"), "", False),
        (("a==1",), ".[test]", False),
        ((), "", False),
    ],
    ids=["one", "equal ones", "different ones", "with setup", "none"],
)
def test_a_pattern_gives_the_versions_that_all_files_agree_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, texts: tuple[str, ...], setup: str, found: bool
) -> None:
    laid_out(tmp_path, *texts)
    monkeypatch.chdir(tmp_path)
    said: list[Event] = []
    path = choose_freeze(Run(said.append), GLOB, setup)
    assert (path is not None and path.read_text() == texts[0]) == found
    assert len(said) == (not found)


def test_a_name_that_looks_like_a_pattern_is_the_file_of_that_name(tmp_path: Path) -> None:
    (tmp_path / "py[312]").mkdir()
    (tmp_path / "py[312]/freeze.txt").write_text("a==1")
    named = tmp_path / "py[312]/freeze.txt"
    assert choose_freeze(Run(print), str(named), ".[test]") == named


def test_a_pattern_may_begin_above(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    laid_out(tmp_path, "a==1")
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path / "below")
    assert choose_freeze(Run(print), f"../{GLOB}", "") is not None


def test_a_plain_name_counts_though_it_is_not_there(tmp_path: Path) -> None:
    # Whoever needs it says that it cannot be read, and how to write one.
    named = str(tmp_path / "freeze.txt")
    assert choose_freeze(Run(print), named, ".[test]") == Path(named)
    assert choose_freeze(Run(print), "", "") is None
