"""Versions beside the reports of an artifact."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from heal_bot.intake.freeze import frozen


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
    assert frozen(paths) == expected


def test_what_is_no_archive_or_too_large_says_nothing(tmp_path: Path) -> None:
    (tmp_path / "no.zip").write_bytes(b"PK\x03\x04broken")
    bomb = packed(tmp_path / "bomb.zip", freeze_txt="a" * (1 << 21))
    assert frozen([tmp_path / "no.zip", bomb, tmp_path / "gone.zip"]) is None
