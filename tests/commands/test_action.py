"""`heal-bot action` and `publish` as programs, against the loopback GitHub."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from heal_bot.commands.job import INPUTS
from heal_bot.forge.actions import inputs
from tests.github import records
from tests.github.server import LoopbackGitHub, serving

ROOT = Path(__file__).parents[2]


@pytest.fixture
def github(tmp_path: Path) -> Iterator[LoopbackGitHub]:
    with serving(tmp_path / "github") as running:
        running.world.git.import_folder(records.write(tmp_path / "source", records.FILES), "First")
        yield running
        assert running.violations == []


def start(github: LoopbackGitHub, folder: Path, *arguments: str, **environ: str) -> object:
    """The program as the container starts it."""
    workspace = folder / "workspace"
    workspace.mkdir(exist_ok=True)
    return subprocess.run(
        [sys.executable, "-I", "-m", "heal_bot", *arguments],
        env={
            "PATH": "/usr/bin:/bin",
            "GITHUB_API_URL": github.url,
            "GITHUB_SERVER_URL": github.url,
            "GITHUB_REPOSITORY": "octo/shop",
            "GITHUB_WORKSPACE": str(workspace),
            "GITHUB_OUTPUT": str(folder / "output"),
            "GITHUB_STEP_SUMMARY": str(folder / "summary"),
            "INPUT_GITHUB-TOKEN": "token-for-tests",
            "INPUT_JUNIT": "",
            **environ,
        },
        cwd=workspace,
        capture_output=True,
        text=True,
        timeout=60,
    )


def comment(github: LoopbackGitHub, folder: Path, actor: str) -> Path:
    """The event of a `/heal` comment on an open pull request."""
    base = github.world.branch("main") or ""
    github.world.git.set_ref("refs/heads/feature", base)
    pull = github.world.add_pull(title="t", body="", head="feature", base="main", user="ada",
                                 head_repo="octo/shop", head_sha=base)  # fmt: skip
    said = github.world.add_comment(pull.number, actor, "/heal")
    user = {"login": actor, "type": "User"}
    event = {
        "action": "created",
        "repository": {"full_name": "octo/shop"},
        "sender": user,
        "issue": {"number": pull.number, "pull_request": {}},
        "comment": {"id": said.id, "body": said.body, "user": user},
    }
    path = folder / "event.json"
    path.write_text(json.dumps(event))
    return path


@pytest.mark.long
def test_a_stranger_s_comment_is_answered_once_and_nothing_runs(
    github: LoopbackGitHub, tmp_path: Path
) -> None:
    path = comment(github, tmp_path, "mallory")
    for _ in range(2):
        done = start(github, tmp_path, "action", "--event", str(path),
                     GITHUB_EVENT_NAME="issue_comment")  # fmt: skip
        assert done.returncode == 0, done.stderr
    said = [c.body for c in github.world.comments.values() if c.user != "mallory"]
    assert len(said) == 1
    assert "needs write permission" in said[0]
    assert "@mallory" not in said[0]
    assert "refused" in (tmp_path / "output").read_text()
    assert "::add-mask::token-for-tests" in done.stdout
    assert not (tmp_path / "workspace/.heal-bot").exists()


def test_an_event_names_itself_where_there_is_no_runner(
    github: LoopbackGitHub, tmp_path: Path
) -> None:
    path = comment(github, tmp_path, "mallory")
    done = start(github, tmp_path, "action", "--event", str(path), GITHUB_REPOSITORY="")
    assert done.returncode == 0, done.stderr
    assert "needs write permission" in done.stdout


def test_an_event_for_nothing_asks_github_nothing(github: LoopbackGitHub, tmp_path: Path) -> None:
    (tmp_path / "event.json").write_text('{"action": "edited", "comment": null}')
    done = start(github, tmp_path, "action", GITHUB_EVENT_NAME="pull_request_target",
                 GITHUB_EVENT_PATH=str(tmp_path / "event.json"))  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "nothing_to_do" in (tmp_path / "output").read_text()
    assert github.exchanges == []


def test_a_broken_event_is_one_line_and_a_failed_status(
    github: LoopbackGitHub, tmp_path: Path
) -> None:
    (tmp_path / "event.json").write_text("{")
    done = start(github, tmp_path, "action", GITHUB_EVENT_NAME="push",
                 GITHUB_EVENT_PATH=str(tmp_path / "event.json"))  # fmt: skip
    assert done.returncode == 2
    assert len(done.stderr.strip().splitlines()) == 1
    assert "failed" in (tmp_path / "output").read_text()


@pytest.mark.long
def test_publish_opens_the_pull_request_of_a_bundle(github: LoopbackGitHub, tmp_path: Path) -> None:
    base = github.world.branch("main") or ""
    (tmp_path / "bundle").mkdir()
    (tmp_path / "bundle/outcome.json").write_text(json.dumps(records.data(base)))
    arguments = ["publish", "--bundle", str(tmp_path / "bundle")]
    done = start(github, tmp_path, *arguments, GITHUB_TOKEN="token-for-tests")
    assert done.returncode == 0, done.stderr
    assert f"created: {github.url}/octo/shop/pull/1" in done.stdout
    refused = start(github, tmp_path, *arguments, "--base-sha", "f" * 40,
                    GITHUB_TOKEN="token-for-tests")  # fmt: skip
    assert refused.returncode == 1
    assert "--base-sha" in refused.stdout


def test_the_action_file_names_the_inputs_the_program_reads() -> None:
    described = yaml.safe_load((ROOT / "action.yml").read_text())
    assert set(described["inputs"]) == INPUTS
    as_runner = {f"INPUT_{name.upper()}": "x" for name in described["inputs"]}
    assert set(inputs(as_runner)) == INPUTS
    assert described["runs"]["using"] == "docker"
    assert (ROOT / "Dockerfile").read_text().rstrip().endswith('"heal_bot", "action"]')
