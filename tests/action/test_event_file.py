"""The event file: what cannot be read, and what nobody need read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from heal_bot.action.event_file import explain_idle, load
from heal_bot.core.errors import UsageError

SPOKEN = ("issue_comment", "pull_request_review_comment", "pull_request_review")


def written(folder: Path, body: object, part: str = "comment") -> Path:
    path = folder / "event.json"
    path.write_text(json.dumps({"action": "created", part: {"id": 1, "body": body}}))
    return path


@pytest.mark.parametrize("name", SPOKEN)
@pytest.mark.parametrize(
    ("body", "nobody"),
    [
        ("Thank you!", True),
        ("", True),
        (None, True),
        ("/healthy", True),
        ("see /heal help", True),
        ("/heal", False),
        ("  /heal retry sum them\n", False),
        ("/heal everything", False),
        ("/heal\nthe tax comes first", False),
        (7, False),
        (["/heal"], False),
    ],
)
def test_a_comment_without_a_command_is_for_nobody(
    tmp_path: Path, name: str, body: object, nobody: bool
) -> None:
    part = "review" if name == "pull_request_review" else "comment"
    assert bool(explain_idle(name, written(tmp_path, body, part))) is nobody


@pytest.mark.parametrize("name", ["push", "schedule", "workflow_run", "repository_dispatch", ""])
def test_what_is_no_comment_is_read_by_whoever_knows_it(tmp_path: Path, name: str) -> None:
    assert not explain_idle(name, written(tmp_path, "Thank you!"))


@pytest.mark.parametrize("given", [{}, {"comment": None}, {"comment": {}}, {"comment": ["x"]}])
def test_a_payload_of_another_form_is_not_passed_over(tmp_path: Path, given: Any) -> None:
    path = tmp_path / "event.json"
    path.write_text(json.dumps(given))
    assert not explain_idle("issue_comment", path)


def test_a_broken_file_is_not_passed_over(tmp_path: Path) -> None:
    assert not explain_idle("issue_comment", tmp_path / "gone.json")


@pytest.mark.parametrize("data", [b"", b"[]", b"{", b"[" * 100_000, b"\xff"], ids=repr)
def test_a_broken_event_file_is_one_line(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "event.json"
    path.write_bytes(data)
    with pytest.raises(UsageError) as error:
        load(path)
    assert "\n" not in str(error.value)


def test_a_missing_event_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"gone\.json"):
        load(tmp_path / "gone.json")


@pytest.mark.parametrize(
    ("action", "conclusion", "reason"),
    [
        ("completed", "failure", ""),
        ("completed", "success", ""),
        ("completed", "cancelled", "the run ended as cancelled"),
        ("requested", "", "the run ended as requested"),
        ("completed", None, ""),
        (7, "skipped", ""),
    ],
)
def test_a_run_that_neither_failed_nor_passed_asks_for_nothing(
    tmp_path: Path, action: object, conclusion: object, reason: str
) -> None:
    path = tmp_path / "event.json"
    path.write_text(json.dumps({"action": action, "workflow_run": {"conclusion": conclusion}}))
    assert explain_idle("workflow_run", path) == reason


def test_what_runs_with_write_rights_on_foreign_code_is_not_served(tmp_path: Path) -> None:
    assert "not served" in explain_idle("pull_request_target", tmp_path / "gone.json")
