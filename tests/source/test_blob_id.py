from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from heal_bot.source.edit import blob_id


@pytest.mark.parametrize("kind", ["sha1", "sha256"])
def test_a_blob_has_the_id_that_git_gives_it(tmp_path: Path, kind: str) -> None:
    subprocess.run(["git", "init", "-q", f"--object-format={kind}", tmp_path], check=True)
    told = subprocess.run(
        ["git", "hash-object", "--stdin"],
        input=b"price = 1\n",
        cwd=tmp_path,
        capture_output=True,
        check=True,
    )
    name = told.stdout.decode().strip()
    assert blob_id(b"price = 1\n", like=name) == name
