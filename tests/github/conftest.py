"""A loopback GitHub with a small repository for the forge's tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from heal_bot.core.text import Secret
from heal_bot.github.pulls import GitHub
from tests.github_server import records
from tests.github_server.server import LoopbackGitHub, serving


@pytest.fixture
def github(tmp_path: Path) -> Iterator[LoopbackGitHub]:
    with serving(tmp_path / "github") as running:
        running.world.git.import_folder(records.write(tmp_path / "source", records.FILES), "First")
        yield running
        assert running.violations == []


@pytest.fixture
def forge(github: LoopbackGitHub) -> GitHub:
    return GitHub.open(Secret("token-for-tests"), github.url, "octo/shop")
