"""The scene of the tests of publishing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.github_server import records
from tests.github_server.server import serving
from tests.publish.scene import Scene


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    with serving(tmp_path / "github") as github:
        source = records.write(tmp_path / "source", records.FILES)
        yield Scene(github, github.world.git.import_folder(source, "First"))
        assert github.violations == []
        ours = [pull for pull in github.world.pulls.values() if pull.user != "mallory"]
        assert all(pull.head.startswith("heal-bot/") for pull in ours)
