from __future__ import annotations

from pathlib import Path

import pytest

from heal_bot.cli.doctor import check_repository, describe_layer
from tests.github_server import records
from tests.github_server.server import serving
from tests.github_server.world import BOT


@pytest.mark.parametrize(
    ("layer", "said"),
    [
        ("preflight 10/10", "10 of 10 escape attempts blocked"),
        ("preflight 9/10", "9 of 10 escape attempts blocked"),
        ("landlock-abi6", "allows only the scratch folders and the system's own files"),
    ],
)
def test_a_layer_says_what_it_does(layer: str, said: str) -> None:
    assert describe_layer(layer)[1:] == ("yes", said)


@pytest.mark.parametrize(
    ("login", "allowed", "said"),
    [
        ("ada", True, "octo/shop: workflows may open pull requests"),
        ("ada", False, "may not open pull requests: turn on Settings > Actions > General > Allow"),
        (BOT, True, "this token may not read"),
    ],
)
def test_whether_workflows_may_open_pull_requests_is_said_with_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, login: str, allowed: bool, said: str
) -> None:
    with serving(tmp_path / "github") as github:
        github.world.git.import_folder(records.write(tmp_path / "source", records.FILES), "First")
        github.world.tokens["token-for-tests"] = login
        github.world.may_open_pulls = allowed
        monkeypatch.setenv("GITHUB_TOKEN", "token-for-tests")
        monkeypatch.setenv("GITHUB_API_URL", github.url)
        assert said in check_repository("octo/shop")
        assert github.violations == []


def test_without_a_token_it_is_said_whose_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GITHUB_TOKEN", raising=False)
    assert "give that of somebody who administers" in check_repository("octo/shop")
