"""The Forge port against the loopback GitHub."""

from __future__ import annotations

import pytest

from heal_bot.core.errors import ForgeError, ForgeForbiddenError, UsageError
from heal_bot.core.events import Run
from heal_bot.core.text import Secret
from heal_bot.github.pulls import GitHub
from tests.github_server import records
from tests.github_server.server import Fault, LoopbackGitHub


def test_a_file_is_read_by_commit_and_path(forge: GitHub, github: LoopbackGitHub, run: Run) -> None:
    base = github.world.branch("main") or ""
    file = forge.objects.file(run, base, "shop/pricing.py")
    assert file is not None
    assert (file.mode, file.blob) == ("100644", records.blob(records.BROKEN))
    assert file.data.decode() == records.BROKEN


@pytest.mark.parametrize("path", ["shop", "shop/none.py", "", "shop/pricing.py/x", "../x", "link"])
def test_what_is_no_regular_file_is_none(
    forge: GitHub, github: LoopbackGitHub, run: Run, path: str
) -> None:
    git, base = github.world.git, github.world.branch("main") or ""
    tree = git.save_tree(base, [("120000", "link", git.save_blob(b"shop/pricing.py"))])
    who = ("Ada", "ada@example.invalid", "2026-01-01T00:00:00+00:00")
    sha = git.save_commit("Link", tree, [base], who, who)
    assert forge.objects.file(run, sha, path) is None


def test_unknown_branches_commits_and_pulls_are_none(forge: GitHub, run: Run) -> None:
    assert forge.objects.head(run, "nowhere") is None
    assert forge.objects.commit(run, "f" * 40) is None
    assert forge.objects.ahead(run, "main", "nowhere") is None
    assert not forge.objects.contains(run, "nowhere", "f" * 40)
    assert forge.pull(run, 99) is None


def test_a_branch_moves_forward_alone(forge: GitHub, github: LoopbackGitHub, run: Run) -> None:
    objects, base = forge.objects, github.world.branch("main") or ""
    commit = objects.commit(run, base)
    assert commit is not None
    one = objects.save_commit(run, "one", commit.tree, [base])
    two = objects.save_commit(run, "two", commit.tree, [base])
    assert objects.create_branch(run, "heal-bot/x", one.sha)
    assert objects.create_branch(run, "heal-bot/x", one.sha)
    assert not objects.create_branch(run, "heal-bot/x", two.sha)
    assert not objects.advance_branch(run, "heal-bot/x", two.sha)
    assert github.world.branch("heal-bot/x") == one.sha
    assert all(not e.body.get("force") for e in github.writes() if e.operation == "git/update-ref")


def test_a_tip_that_is_read_again_costs_nothing_until_it_moved(
    forge: GitHub, github: LoopbackGitHub, run: Run
) -> None:
    objects, base = forge.objects, github.world.branch("main") or ""
    assert [objects.head(run, "main") for _ in range(3)] == [base] * 3
    assert github.unchanged == 2
    commit = objects.commit(run, base)
    assert commit is not None
    one = objects.save_commit(run, "one", commit.tree, [base])
    assert objects.advance_branch(run, "main", one.sha)
    assert objects.head(run, "main") == one.sha
    assert github.unchanged == 2


@pytest.mark.parametrize(
    ("login", "level"),
    [("ada", "admin"), ("bob", "maintain"), ("eve", "read"), ("gone", "none"), ("a/../b", "none")],
)
def test_the_permission_is_what_the_api_says(
    forge: GitHub, github: LoopbackGitHub, run: Run, login: str, level: str
) -> None:
    github.world.permissions |= {"bob": "maintain", "gone": "missing"}
    assert forge.permission(run, login) == level


def test_a_lost_answer_to_an_update_is_asked_again(
    forge: GitHub, github: LoopbackGitHub, run: Run
) -> None:
    world = github.world
    world.add_pull(title="t", body="", head="heal-bot/x", base="main", user="ada",
                   head_repo="octo/shop", head_sha="0" * 40)  # fmt: skip
    github.faults.append(Fault("pulls/update", "after", times=2))
    forge.edit_pull(run, 1, "new", "body")
    assert (world.pulls[1].title, world.pulls[1].body) == ("new", "body")


def test_a_server_that_stays_broken_is_one_line(
    forge: GitHub, github: LoopbackGitHub, run: Run
) -> None:
    github.faults.append(Fault("repos/get-branch", times=99))
    with pytest.raises(ForgeError, match="branch main") as error:
        forge.objects.head(run, "main")
    assert "\n" not in str(error.value)


def test_a_refused_token_is_named_but_not_shown(github: LoopbackGitHub, run: Run) -> None:
    forge = GitHub.open(Secret("ghs_wrong_token_value"), github.url, "octo/shop")
    with pytest.raises(ForgeForbiddenError, match="check GITHUB_TOKEN") as error:
        forge.objects.head(run, "main")
    assert "ghs_wrong" not in str(error.value)


def test_a_read_only_token_cannot_write(forge: GitHub, github: LoopbackGitHub, run: Run) -> None:
    github.world.read_only.add("github-actions[bot]")
    base = github.world.branch("main") or ""
    with pytest.raises(ForgeForbiddenError, match="contents: write"):
        forge.objects.create_branch(run, "heal-bot/x", base)


@pytest.mark.parametrize("url", ["http://api.example.com", "ftp://127.0.0.1", "api.example.com"])
def test_a_token_never_travels_in_the_clear(url: str) -> None:
    with pytest.raises(UsageError, match="https"):
        GitHub.open(Secret("token"), url, "octo/shop")


@pytest.mark.parametrize("repo", ["shop", "octo/shop/x", "octo/", "../../x", "octo/sh op"])
def test_a_repository_is_owner_and_name(repo: str) -> None:
    with pytest.raises(UsageError, match="owner/name"):
        GitHub.open(Secret("token"), "https://api.example.com", repo)
