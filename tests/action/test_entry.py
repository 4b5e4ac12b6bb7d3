"""`heal-bot action` and `publish` as programs, against the loopback GitHub."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
import yaml

from heal_bot.action import secret_vault
from heal_bot.action.action_context import INPUTS, ActionContext
from heal_bot.core.errors import UsageError
from tests.github_server import records
from tests.github_server.runner import TOKEN, Runner, inputs, variable
from tests.github_server.server import LoopbackGitHub, serving

ROOT = Path(__file__).parents[2]
IMPORTS = ("-X", "importtime")
# What a refused comment has no use for; reading an event takes pydantic, asking GitHub its SDK.
HEAVY = {"anthropic", "google", "openai", "genai_prices", "httpx", "libcst", "lxml", "jinja2",
         "yaml", "rich", "junitparser", "landlock"}  # fmt: skip
OURS = {"heal_bot.pipeline", "heal_bot.wiring", "heal_bot.core.outcome",
        "heal_bot.publish.publishing", "heal_bot.action.request_handlers",
        "heal_bot.action.worker_process"}  # fmt: skip


@pytest.fixture
def github(tmp_path: Path) -> Iterator[LoopbackGitHub]:
    with serving(tmp_path / "github") as running:
        running.world.git.import_folder(records.write(tmp_path / "source", records.FILES), "First")
        yield running
        assert running.violations == []


def start(
    github: LoopbackGitHub,
    folder: Path,
    *arguments: str,
    python: tuple[str, ...] = (),
    fds: tuple[int, ...] = (),
    inputs: Mapping[str, str] = {},
    **environ: str,
) -> subprocess.CompletedProcess[str]:
    """The program as the container starts it, with `python`'s own options and open `fds`."""
    workspace = folder / "workspace"
    workspace.mkdir(exist_ok=True)
    runner = Runner(github.url, workspace, folder)
    return subprocess.run(
        [sys.executable, "-I", *python, "-m", "heal_bot", *arguments],
        env={"PATH": "/usr/bin:/bin", **runner.environ("", inputs), **environ},
        cwd=workspace,
        pass_fds=fds,
        capture_output=True,
        text=True,
        timeout=60,
    )


def loaded(done: subprocess.CompletedProcess[str]) -> set[str]:
    """The modules that a process started with `IMPORTS` loaded, up to the one it became."""
    lines = [line for line in done.stderr.splitlines() if line.startswith("import time:")]
    assert len(lines) > 50, done.stderr
    return {line.rpartition("|")[2].strip() for line in lines}


def heavy(names: set[str]) -> set[str]:
    """Those of the names that a comment must not wait for."""
    return {name for name in names if name.partition(".")[0] in HEAVY or name in OURS}


def comment(
    github: LoopbackGitHub, folder: Path, actor: str, body: str = "/heal", sender: str = ""
) -> Path:
    """The event of a comment on an open pull request."""
    base = github.world.branch("main") or ""
    github.world.git.set_ref("refs/heads/feature", base)
    pull = github.world.add_pull(title="t", body="", head="feature", base="main", user="ada",
                                 head_repo="octo/shop", head_sha=base)  # fmt: skip
    said = github.world.add_comment(pull.number, actor, body)
    user = {"login": actor, "type": "User"}
    event = {
        "action": "created",
        "repository": {"full_name": "octo/shop"},
        "sender": user | {"login": sender or actor},
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


def test_a_comment_without_a_command_ends_before_anything_is_loaded(
    github: LoopbackGitHub, tmp_path: Path
) -> None:
    path = comment(github, tmp_path, "ada", "Thank you!")
    done = start(github, tmp_path, "action", python=IMPORTS, GITHUB_EVENT_NAME="issue_comment",
                 GITHUB_EVENT_PATH=str(path))  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout == "nothing to do: the comment is no /heal command\n"
    assert "nothing_to_do" in (tmp_path / "output").read_text()
    assert github.exchanges == []
    names = loaded(done)
    assert "heal_bot.action.event_file" in names
    assert not heavy(names) | names & {"pydantic", "github", "requests", "heal_bot.core.settings"}


def test_a_process_that_only_seals_itself_loads_nothing_more(
    github: LoopbackGitHub, tmp_path: Path
) -> None:
    path = comment(github, tmp_path, "ada", sender="mallory")
    done = start(github, tmp_path, "action", python=IMPORTS, GITHUB_EVENT_NAME="issue_comment",
                 GITHUB_EVENT_PATH=str(path))  # fmt: skip
    assert "not the account that wrote the comment" in done.stdout, done.stderr
    names = loaded(done)
    assert not heavy(names) | names & {"pydantic", "github", "requests", "heal_bot.core.settings"}


@pytest.mark.parametrize(
    ("sender", "told", "asks"),
    [("octocat", "not the account that wrote the comment", False),
     pytest.param("mallory", "needs write permission", True, marks=pytest.mark.long)],
)  # fmt: skip
def test_a_refused_comment_loads_github_s_sdk_only_to_ask_it(
    github: LoopbackGitHub, tmp_path: Path, sender: str, told: str, asks: bool
) -> None:
    path = comment(github, tmp_path, "mallory", sender=sender)
    reading, writing = os.pipe()
    os.write(writing, secret_vault.pack_secrets({variable("github-token"): TOKEN}))
    os.close(writing)
    try:
        given = {
            "GITHUB_EVENT_NAME": "issue_comment",
            "GITHUB_EVENT_PATH": str(path),
            "HEAL_BOT_SECRETS_FD": str(reading),
        }
        done = start(github, tmp_path, "action", python=IMPORTS, fds=(reading,),
                     inputs={"github-token": ""}, **given)  # fmt: skip
    finally:
        os.close(reading)
    assert told in done.stdout, done.stderr
    names = loaded(done)
    assert "heal_bot.action.dispatch" in names
    assert not heavy(names)
    assert ("github" in names, "requests" in names) == (asks, asks)


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


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [("loopback", "1", "input loopback is '1'; use true or false"),
     ("max-minutes", "ten", "max-minutes: "),
     ("draft", "yes", "input draft is 'yes'; use true or false")],
)  # fmt: skip
@pytest.mark.long
def test_an_input_that_cannot_be_meant_is_told_to_the_runner_too(
    github: LoopbackGitHub, tmp_path: Path, name: str, value: str, said: str
) -> None:
    (tmp_path / "event.json").write_text('{"repository": {"full_name": "octo/shop"}}')
    done = start(github, tmp_path, "action", inputs={name: value}, GITHUB_EVENT_NAME="push",
                 GITHUB_SHA=github.world.branch("main") or "")  # fmt: skip
    assert done.returncode == 2
    assert "::error title=heal-bot::" + said in done.stdout
    assert said in (tmp_path / "summary").read_text()
    assert "failed" in (tmp_path / "output").read_text()


@pytest.mark.long
def test_publish_opens_the_pull_request_of_a_bundle(github: LoopbackGitHub, tmp_path: Path) -> None:
    base = github.world.branch("main") or ""
    (tmp_path / "bundle").mkdir()
    (tmp_path / "bundle/outcome.json").write_text(json.dumps(records.data(base)))
    arguments = ["publish", "--bundle", str(tmp_path / "bundle")]
    done = start(
        github, tmp_path, *arguments, "--labels", "bot, red", GITHUB_TOKEN="token-for-tests",
        HEAL_BOT_REVIEWERS="ada", HEAL_BOT_ASSIGNEES="@bob", HEAL_BOT_LABELS="",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert f"created: {github.url}/octo/shop/pull/1" in done.stdout
    (pull,) = github.world.pulls.values()
    assert (pull.labels, pull.asked, pull.assigned) == (["bot", "red"], ["ada"], ["bob"])
    refused = start(github, tmp_path, *arguments, "--base-sha", "f" * 40,
                    GITHUB_TOKEN="token-for-tests")  # fmt: skip
    assert refused.returncode == 1
    assert "--base-sha" in refused.stdout


@pytest.mark.long
def test_publish_shows_of_a_bundle_beside_the_patch_nothing_that_verify_does_not_repeat(
    github: LoopbackGitHub, tmp_path: Path
) -> None:
    values = records.suggested(github.world.branch("main") or "", beside=True)
    said = ["no objection: safe to merge"]
    values |= {"proved": said, "inferred": said, "not_shown": said}
    values["regression"] = {
        "good_sha": "a" * 40, "bad_sha": "b" * 40, "title": "Simplify", "confirmed": True,
        "tests": [],
    }  # fmt: skip
    (tmp_path / "outcome.json").write_text(json.dumps(values))
    done = start(github, tmp_path, "publish", "--bundle", str(tmp_path),
                 GITHUB_TOKEN="token-for-tests")  # fmt: skip
    assert done.returncode == 0, done.stderr
    (pull,) = github.world.pulls.values()
    assert "Verified on Linux" in pull.body
    for said in ("one failing test alone vouches for it", "safe to merge", "Simplify"):
        assert said not in pull.body


def test_the_action_file_names_the_inputs_the_program_reads() -> None:
    described = yaml.safe_load((ROOT / "action.yml").read_text())
    assert set(described["inputs"]) == INPUTS
    assert described["runs"]["using"] == "docker"
    assert (ROOT / "Dockerfile").read_text().rstrip().endswith('"heal_bot", "action"]')


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("anthropic_api_key", r"anthropic_api_key \(did you mean anthropic-api-key\?\)"),
        ("github_token", r"github_token \(did you mean github-token\?\)"),
        ("mod", r"mod \(did you mean mode\?\)"),
        ("max-usdd", r"max-usdd \(did you mean max-usd\?\)"),
        ("xyz", "unknown input xyz; docs/inputs.md lists every input"),
    ],
)  # fmt: skip
def test_a_misspelt_input_ends_the_run_with_the_name_that_was_meant(name: str, said: str) -> None:
    with pytest.raises(UsageError, match=said) as raised:
        ActionContext.of(inputs({name: "a-value-that-may-be-secret"}))
    assert "a-value" not in str(raised.value)


def test_what_starts_the_container_is_no_misspelt_input() -> None:
    given = inputs({"args": "action", "entrypoint": "python"})
    assert ActionContext.of(given).allow == "write"


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("loopback", "yes", "input loopback is 'yes'; use true or false"),
        ("allow", "anyone", "input allow is 'anyone'; use one of"),
        ("max-usd", "a dollar", "max-usd: .*valid number"),
        ("working-directory", "../x", r"working-directory: give a folder .* \(given: '../x'\)"),
        ("sandbox", "none", "sandbox: .*'strict'"),
    ],
)  # fmt: skip
def test_an_input_that_cannot_be_meant_names_itself_and_what_to_give(
    name: str, value: str, said: str
) -> None:
    with pytest.raises(UsageError, match=said):
        ActionContext.of(inputs({name: value}))


def test_an_event_that_asks_for_nothing_ends_in_its_first_process_without_click(
    tmp_path: Path,
) -> None:
    done = subprocess.run(
        [sys.executable, "-I", *IMPORTS, "-m", "heal_bot", "action"],
        env={"PATH": "/usr/bin:/bin", "GITHUB_EVENT_NAME": "pull_request_target",
             "GITHUB_OUTPUT": str(tmp_path / "output"), **inputs()},
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "nothing to do: pull_request_target" in done.stdout
    assert "nothing_to_do" in (tmp_path / "output").read_text()
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "heal_bot.action.event_file" in loaded
    assert not loaded & {"click", "pydantic", "heal_bot.core.settings", "heal_bot.core.model"}
