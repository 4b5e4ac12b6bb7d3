"""Which commit a request takes for good: what the event names, else the last green run's."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from heal_bot.action.action_context import ActionContext
from heal_bot.action.dispatch import serve
from heal_bot.action.worker_process import Task
from heal_bot.core.model import HealRequest
from heal_bot.core.outcome import OutcomeRecord
from tests.github_server import records, world
from tests.github_server.runner import Runner
from tests.github_server.server import Fault, LoopbackGitHub, serving

REPO = "octo/shop"
EARLIER, LATER = "2026-03-01T10:00:00Z", "2026-03-02T10:00:00Z"
GREEN, BASE = "a" * 40, "b" * 40
ADA = {"login": "ada", "type": "User"}


@pytest.fixture
def github(tmp_path: Path) -> Iterator[LoopbackGitHub]:
    with serving(tmp_path / "github") as running:
        git = running.world.git
        sha = git.import_folder(records.write(tmp_path / "source", records.FILES), "First")
        # Run 77 is that of the job itself, in a workflow of its own.
        running.world.runs = {
            7: world.Run(7, GREEN, "main", "success", created=EARLIER, workflow=1),
            8: world.Run(8, sha, "main", created=LATER, workflow=1),
            76: world.Run(76, "c" * 40, "main", "success", created=EARLIER, workflow=2),
            77: world.Run(77, sha, "main", created=LATER, workflow=2),
        }
        yield running
        assert running.violations == []


def event(name: str, github: LoopbackGitHub, **changes: Any) -> dict[str, Any]:
    """The payload of an event on the head of main."""
    base = {"repository": {"full_name": REPO, "default_branch": "main"}, "sender": ADA}
    run = {
        "id": 8, "head_sha": github.world.branch("main"), "head_branch": "main", "event": "push",
        "conclusion": "failure", "head_repository": {"full_name": REPO},
    }  # fmt: skip
    payloads: dict[str, dict[str, Any]] = {
        "workflow_run": {"action": "completed", "workflow_run": run | changes},
        "repository_dispatch": {"action": "heal", "client_payload": changes},
        "push": changes,
    }
    return base | payloads.get(name, {})


def asked(
    github: LoopbackGitHub, folder: Path, name: str, payload: dict[str, Any], **inputs: str
) -> tuple[HealRequest, str]:
    """The request that the action heals for an event, and what its step said."""
    healed: list[HealRequest] = []

    def heal(job: ActionContext, task: Task) -> OutcomeRecord:
        healed.append(task.request)
        return records.record(records.data(task.request.base_sha))

    sha = github.world.branch("main") or ""
    (folder / "event.json").write_text(json.dumps(payload))
    environ = Runner(github.url, folder, folder, sha).environ(name, {"mode": "dry-run", **inputs})
    serve(ActionContext.of(environ), name, folder / "event.json", heal)
    (request,) = healed
    return request, (folder / "summary").read_text()


@pytest.mark.parametrize(
    ("name", "changes", "inputs", "good"),
    [
        ("workflow_run", {}, {}, GREEN),
        ("workflow_run", {"event": "schedule"}, {}, GREEN),
        ("schedule", {}, {}, GREEN),
        ("workflow_dispatch", {}, {"run-id": "8"}, GREEN),
        ("workflow_dispatch", {}, {}, "c" * 40),
        ("repository_dispatch", {"run_id": 8}, {}, GREEN),
        ("push", {"before": "0" * 40}, {}, "c" * 40),
    ],
    ids=["a red run", "a red run on a schedule", "a schedule",
         "a dispatch by hand of a run", "a dispatch by hand", "a dispatch of a run",
         "a push without a commit before"],
)  # fmt: skip
def test_the_last_green_run_of_the_workflow_says_what_was_good_and_when(
    github: LoopbackGitHub, tmp_path: Path, name: str, changes: Any, inputs: Any, good: str
) -> None:
    github.world.runs[77].conclusion = "failure" if good != GREEN else "success"
    request, _ = asked(github, tmp_path, name, event(name, github, **changes), **inputs)
    assert request.good == good
    assert request.green == datetime.fromisoformat(EARLIER).timestamp()


@pytest.mark.parametrize(
    ("name", "changes", "good"),
    [("push", {"before": BASE}, BASE),
     ("workflow_run", {"pull_requests": [{"number": 1, "base": {"sha": BASE}}]}, BASE),
     ("repository_dispatch", {"function": "shop/pricing.py::total"}, "")],
    ids=["a push names it", "a red run of a pull request names it",
         "the run of a dispatch is not the red one"],
)  # fmt: skip
def test_where_an_event_says_it_or_no_run_is_known_no_run_is_asked_for(
    github: LoopbackGitHub, tmp_path: Path, name: str, changes: Any, good: str
) -> None:
    sha = {"sha": github.world.branch("main")} if name == "repository_dispatch" else {}
    request, _ = asked(github, tmp_path, name, event(name, github, **changes, **sha))
    assert (request.good, request.green) == (good, 0.0)
    assert not [e for e in github.exchanges if e.operation == "actions/list-workflow-runs"]


@pytest.mark.parametrize("status", [403, 500])
@pytest.mark.parametrize(
    ("changes", "good"),
    [({}, ""), ({"event": "schedule"}, "its own")],
    ids=["a push", "a schedule"],
)
def test_where_runs_cannot_be_asked_for_it_is_said_and_the_job_goes_on(
    github: LoopbackGitHub, tmp_path: Path, capsys: pytest.CaptureFixture[str], status: int,
    changes: dict[str, Any], good: str,
) -> None:  # fmt: skip
    github.faults.append(Fault("actions/list-workflow-runs", status=status, times=9))
    request, _ = asked(github, tmp_path, "workflow_run", event("workflow_run", github, **changes))
    own = github.world.branch("main")
    assert (request.good, request.green) == (own if good == "its own" else good, 0.0)
    assert "the last green run is not known: " in capsys.readouterr().out
