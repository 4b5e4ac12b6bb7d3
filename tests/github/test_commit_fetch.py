"""A commit fetched over HTTP into a repository of ours."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from heal_bot.core.errors import ForgeError
from heal_bot.core.events import Event, Noted, Run
from heal_bot.core.text import Secret
from heal_bot.github.commit_fetch import fetch
from tests.github_server import records
from tests.github_server.server import LoopbackGitHub

TOKEN = Secret("token-for-tests")


def test_the_commit_arrives_and_the_token_stays_nowhere(
    github: LoopbackGitHub, run: Run, tmp_path: Path
) -> None:
    base = github.world.branch("main") or ""
    fetched = fetch(run, TOKEN, github.url, "octo/shop", base, tmp_path / "clone", "main")
    folder = fetched.folder
    shown = subprocess.run(
        ["git", "show", "HEAD:shop/pricing.py"], cwd=folder, capture_output=True, check=True
    )
    assert shown.stdout.decode() == records.BROKEN
    assert fetched.read(fetched.config, "shop/pricing.py") == records.BROKEN.encode()
    assert fetched.read(base, "shop/none.py") is None
    kept = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
    assert b"token-for-tests" not in kept


def test_the_commit_that_ci_tested_comes_along_or_is_said_to_be_gone(
    github: LoopbackGitHub, tmp_path: Path
) -> None:
    git, base = github.world.git, github.world.branch("main") or ""
    who = ("Ada", "ada@example.invalid", "2026-01-01T00:00:00+00:00")
    merge = git.save_commit("Merge", git.commit(base).tree, [base], who, who)
    git.set_ref("refs/pull/1/merge", merge)
    heard: list[Event] = []
    run = Run(heard.append)
    for number, tested in enumerate((merge, "f" * 40)):
        folder = tmp_path / str(number)
        fetch(run, TOKEN, github.url, "octo/shop", base, folder, "main", tested)
        there = subprocess.run(["git", "cat-file", "-e", tested], cwd=folder, capture_output=True)
        assert (there.returncode == 0) is (tested == merge)
    assert [event.level for event in heard if isinstance(event, Noted)] == ["warning"]


@pytest.mark.parametrize("sha", ["f" * 40, "main", "--upload-pack=x"])
def test_a_commit_that_is_not_there_is_one_line(
    github: LoopbackGitHub, run: Run, tmp_path: Path, sha: str
) -> None:
    with pytest.raises(ForgeError) as error:
        fetch(run, TOKEN, github.url, "octo/shop", sha, tmp_path / "clone")
    assert "\n" not in str(error.value)
    assert "token-for-tests" not in str(error.value)
