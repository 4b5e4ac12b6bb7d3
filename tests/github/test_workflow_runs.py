"""Runs and artifacts: which run was red, and that the token stays with the API."""

from __future__ import annotations

import io
import zipfile
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from heal_bot.core.errors import ForgeError, ForgeForbiddenError
from heal_bot.core.events import Event, Noted, Run
from heal_bot.core.text import Secret
from heal_bot.github.pulls import GitHub
from heal_bot.github.workflow_runs import Runs
from tests.github_server import world
from tests.github_server.server import Fault, LoopbackGitHub

TOKEN = Secret("token-for-tests")
BEFORE, DURING, AFTER = "2026-03-01T10:00:00Z", "2026-03-02T10:00:00Z", "2026-03-03T10:00:00Z"


def zipped(name: str) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr(name, "<testsuite/>")
    return data.getvalue()


@pytest.fixture
def runs(forge: GitHub, github: LoopbackGitHub) -> Runs:
    head = github.world.branch("main") or ""
    for number, conclusion, workflow in ((1, "failure", 7), (2, "success", 7), (3, "failure", 8)):
        red = world.Run(number, head, "main", conclusion, workflow=workflow)
        red.artifacts = {"junit-a": zipped("a.xml"), "junit-b": zipped("b.xml"), "x": b"PK"}
        github.world.runs[number] = red
    return Runs("octo/shop", forge.repository, TOKEN, github.url)


def test_artifacts_are_fetched_by_name(runs: Runs, run: Run, tmp_path: Path) -> None:
    kept = runs.reports(run, 1, "junit-*", tmp_path / "reports")
    assert sorted(path.name[:7] for path in kept) == ["junit-a", "junit-b"]
    assert all(zipfile.is_zipfile(path) for path in kept)


def test_without_the_name_those_with_xml_inside_are_taken(
    runs: Runs, run: Run, tmp_path: Path
) -> None:
    assert len(runs.reports(run, 1, "reports", tmp_path)) == 2
    assert runs.reports(run, 1, "reports", tmp_path, own=True) == ()


def test_a_zip_whose_list_is_a_bomb_is_not_looked_into(
    runs: Runs, run: Run, github: LoopbackGitHub, tmp_path: Path
) -> None:
    bomb = bytearray(zipped("a.xml"))
    at = bomb.rfind(b"PK\x05\x06")
    bomb[at + 12 : at + 16] = (256 << 20).to_bytes(4, "little")
    github.world.runs[1].artifacts = {"bomb": bytes(bomb), "good": zipped("b.xml")}
    (kept,) = runs.reports(run, 1, "junit-*", tmp_path)
    assert kept.name.startswith("good-")


def test_the_last_red_run_is_one_whose_workflow_was_not_green_since(runs: Runs) -> None:
    found = runs.last_red("main")
    assert found is not None
    assert found.id == 3
    assert runs.last_red("main", but=3) is None
    assert runs.last_red("other") is None


def test_a_run_is_known_by_its_id_and_its_commit(runs: Runs, github: LoopbackGitHub) -> None:
    facts = runs.facts(2)
    assert facts is not None
    assert (facts.branch, facts.conclusion, facts.repo) == ("main", "success", "octo/shop")
    assert runs.facts(99) is None
    assert runs.red_of(github.world.branch("main") or "") == 3
    assert runs.red_of("f" * 40) is None


@pytest.mark.parametrize("status", [502, 0])
def test_a_broken_download_is_tried_again(
    runs: Runs, run: Run, github: LoopbackGitHub, tmp_path: Path, status: int
) -> None:
    github.faults.append(Fault("actions/download-artifact", status=status))
    assert len(runs.reports(run, 1, "junit-a", tmp_path)) == 1


@pytest.mark.parametrize(
    ("status", "told"), [(403, "actions: read"), (404, "was deleted"), (410, "has expired")]
)
def test_an_artifact_that_cannot_be_had_is_said_and_the_others_count(
    runs: Runs, github: LoopbackGitHub, tmp_path: Path, status: int, told: str
) -> None:
    heard: list[Event] = []
    github.faults.append(Fault("actions/download-artifact", status=status))
    assert len(runs.reports(Run(heard.append), 1, "junit-*", tmp_path)) == 1
    (remark,) = (event for event in heard if isinstance(event, Noted))
    assert told in remark.message


def grown(github: LoopbackGitHub, *green: world.Run) -> None:
    """A red run 9 of workflow 7 on main, and green ones."""
    runs = (world.Run(9, "9" * 40, "main", workflow=7, created=DURING), *green)
    github.world.runs = {run.id: run for run in runs}


def green(number: int, created: str, **changes: Any) -> world.Run:
    """A green run of the same workflow and branch, whose commit repeats its number."""
    run = world.Run(number, str(number) * 40, "main", "success", workflow=7, created=created)
    return replace(run, **changes)


def test_the_last_green_run_is_of_the_same_workflow_and_branch_and_was_before(
    runs: Runs, github: LoopbackGitHub
) -> None:
    grown(
        github,
        green(1, "2026-02-01T10:00:00Z"),
        green(2, BEFORE, started="2026-03-01T12:00:00Z"),
        green(3, BEFORE, repo="mallory/shop"),
        green(4, BEFORE, workflow=8),
        green(5, BEFORE, head_branch="other"),
        green(6, AFTER),
    )
    found = runs.last_green(9)
    assert found is not None
    assert found.sha == "2" * 40
    assert datetime.fromtimestamp(found.started, UTC).isoformat() == "2026-03-01T12:00:00+00:00"


def test_a_red_run_of_a_list_is_not_asked_for_again(runs: Runs, github: LoopbackGitHub) -> None:
    grown(github, green(1, BEFORE))
    assert runs.last_red("main")
    assert runs.last_green(9)
    assert "actions/get-workflow-run" not in {e.operation for e in github.exchanges}


@pytest.mark.parametrize(
    ("left", "asked"),
    [("", 0), ("created_at", 1), ("workflow_id", 1)],
    ids=["whole", "no time", "no workflow"],
)
def test_a_run_as_the_event_shows_it_is_not_asked_for(
    runs: Runs, github: LoopbackGitHub, left: str, asked: int
) -> None:
    grown(github, green(1, BEFORE))
    shown = github.world.run(github.world.runs[9])
    runs.learn({name: value for name, value in shown.items() if name != left})
    runs.learn(None)
    assert runs.last_green(9)
    assert [e.operation for e in github.exchanges].count("actions/get-workflow-run") == asked


@pytest.mark.parametrize("number", [9, 99], ids=["never green", "no such run"])
def test_where_no_run_was_green_before_there_is_none(
    runs: Runs, github: LoopbackGitHub, number: int
) -> None:
    grown(github, green(1, AFTER))
    assert runs.last_green(number) is None


@pytest.mark.parametrize(
    "changes",
    [{"head_sha": "--upload-pack=x"}, {"head_sha": "A" * 40}, {"started": "yesterday"},
     {"started": "2026-03-01T12:00:00"}, {"started": "0001-01-01T00:00:00Z"}],
    ids=["no commit", "capitals", "no time", "no zone", "before there was GitHub"],
)  # fmt: skip
def test_what_the_api_says_of_a_green_run_is_held_to_its_form(
    runs: Runs, github: LoopbackGitHub, changes: dict[str, str]
) -> None:
    grown(github, green(2, BEFORE, **changes))
    with pytest.raises(ForgeError, match="green runs before run 9: unexpected answer from GitHub"):
        runs.last_green(9)


@pytest.mark.parametrize("operation", ["get-workflow-run", "list-workflow-runs"])
def test_a_token_that_may_not_read_runs_is_told_its_permission(
    runs: Runs, github: LoopbackGitHub, operation: str
) -> None:
    grown(github, green(2, BEFORE))
    message = "Resource not accessible by integration"
    github.faults.append(Fault(f"actions/{operation}", status=403, message=message))
    with pytest.raises(ForgeForbiddenError, match="give the job `actions: read`"):
        runs.last_green(9)
