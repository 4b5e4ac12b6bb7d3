"""An event without its runner."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from heal_bot.action.local_event import complete_environment

SHA = "a" * 40


def test_each_example_of_github_s_own_is_known_by_its_keys() -> None:
    packed = Path(__file__).parents[1] / "github_server/webhooks.json.gz"
    examples = json.loads(gzip.decompress(packed.read_bytes()))
    found = {
        name: complete_environment({}, given)["GITHUB_EVENT_NAME"]
        for name, given in examples.items()
    }
    assert len(found) > 5
    assert all(name == known for name, known in found.items()), found


@pytest.mark.parametrize(
    ("payload", "sha", "ref"),
    [
        ({"after": SHA, "ref": "refs/heads/main"}, SHA, "main"),
        ({"pull_request": {"head": {"sha": SHA}}}, SHA, None),
        ({"schedule": "5 4 * * *", "repository": {"default_branch": "trunk"}}, None, "trunk"),
        ({"after": 7, "ref": ["x"]}, None, None),
    ],
)
def test_commit_and_branch_come_from_the_event(
    payload: dict[str, object], sha: str | None, ref: str | None
) -> None:
    found = complete_environment({}, payload)
    assert (found.get("GITHUB_SHA"), found.get("GITHUB_REF_NAME")) == (sha, ref)


def test_what_the_environment_says_counts() -> None:
    found = complete_environment({"GITHUB_SHA": SHA}, {"after": "b" * 40, "ref": "refs/heads/main"})
    assert found["GITHUB_SHA"] == SHA
