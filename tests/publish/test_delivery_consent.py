"""Whether a change is proposed unasked, before anything is written."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from heal_bot.core.events import Run
from heal_bot.core.model import HealRequest
from heal_bot.core.text import Secret
from heal_bot.github.pulls import GitHub
from heal_bot.publish.delivery_consent import find_red_pull, withhold
from heal_bot.publish.delivery_options import Options
from tests.github_server import records
from tests.github_server.server import LoopbackGitHub, serving
from tests.github_server.world import Pull

ASK = "comment /heal on pull request 1"


@pytest.fixture
def github(tmp_path: Path) -> Iterator[LoopbackGitHub]:
    with serving(tmp_path / "github") as running:
        git = running.world.git
        base = git.import_folder(records.write(tmp_path / "source", records.FILES), "First")
        git.set_ref("refs/heads/feature", base)
        yield running


def pull_of(github: LoopbackGitHub, user: str = "ada", repo: str = "octo/shop") -> Pull:
    return github.world.add_pull(
        title="t", body="", head="feature", base="main", user=user, head_repo=repo,
        head_sha=github.world.branch("feature") or "",
    )  # fmt: skip


def said(
    github: LoopbackGitHub, options: Options, number: int | None = 1, **asked: object
) -> tuple[str, str]:
    """Status and reason of what is withheld; empty where nothing is."""
    forge = GitHub.open(Secret("token-for-tests"), github.url, "octo/shop")
    sha = github.world.branch("feature") or ""
    request = HealRequest("octo/shop", sha, "feature", pull_number=number, **asked)  # type: ignore[arg-type]
    run = Run(lambda event: None)
    red = find_red_pull(run, request, forge)
    found = withhold(run, request, sha, red, None, forge, options)
    return (found.status, found.reason) if found else ("", "")


@pytest.mark.parametrize(
    ("user", "labels", "options", "reason"),
    [
        ("ada", (), Options(), ASK),
        ("ada", ("heal-bot",), Options(), ASK),
        ("ada", (), Options(pull_requests="label"), "set the label heal-bot"),
        ("ada", ("heal-bot",), Options(pull_requests="label"), ""),
        ("ada", (), Options(pull_requests="auto"), ""),
        ("ada", (), Options(mode="suggest"), ""),
        ("ada", (), Options(mode="suggest", pull_requests="on-request"), ASK),
        ("renovate[bot]", ("heal-bot",), Options(pull_requests="auto"), "never changed"),
    ],
)
def test_a_pull_request_waits_until_somebody_asks(
    github: LoopbackGitHub, user: str, labels: tuple[str, ...], options: Options, reason: str
) -> None:
    pull_of(github, user).labels += labels
    status, told = said(github, options)
    assert (status, reason in told) == ("on_request" if reason else "", True)


@pytest.mark.parametrize("trigger", ["comment", "dispatch", "step:workflow_dispatch"])
def test_who_asks_gets_it(github: LoopbackGitHub, trigger: str) -> None:
    pull_of(github, "renovate[bot]")
    assert said(github, Options(), trigger=trigger) == ("", "")


def test_a_fork_has_been_asked_for_by_whoever_set_up_its_workflows(github: LoopbackGitHub) -> None:
    pull_of(github, "mallory", "mallory/shop")
    assert said(github, Options()) == ("", "")


@pytest.mark.parametrize(
    ("change", "status", "reason"),
    [
        ({"state": "closed"}, "superseded", "was closed meanwhile"),
        ({"state": "closed", "merged": True}, "superseded", "was merged meanwhile"),
        ({"labels": ["heal-bot-stop"]}, "declined", "bears the label"),
        ({"head_repo": "eve/shop", "head_sha": "e" * 40}, "superseded", "moved from"),
    ],
)
def test_what_happened_while_it_healed_ends_it_even_when_asked(
    github: LoopbackGitHub, change: dict[str, object], status: str, reason: str
) -> None:
    pull = pull_of(github)
    for name, value in change.items():
        setattr(pull, name, value)
    found = said(github, Options(pull_requests="auto"), trigger="comment", reply_to=7)
    assert (found[0], reason in found[1]) == (status, True)


@pytest.mark.parametrize(
    ("protected", "base", "withheld"),
    [(False, "", True), (True, "", False), (False, "feature", False)],
)
def test_a_branch_that_lasts_is_repaired_unasked(
    github: LoopbackGitHub, *, protected: bool, base: str, withheld: bool
) -> None:
    github.world.protected = ("feature",) if protected else ()
    assert bool(said(github, Options(base=base), None)[0]) is withheld
