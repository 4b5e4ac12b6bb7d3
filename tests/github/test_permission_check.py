"""Who may ask, decided by the API."""

from __future__ import annotations

from dataclasses import replace

import pytest

from heal_bot.core.events import Run
from heal_bot.core.model import HealRequest, Trust
from heal_bot.github.permission_check import admit
from heal_bot.github.pulls import GitHub
from tests.github_server.server import LoopbackGitHub


@pytest.fixture
def asked(github: LoopbackGitHub) -> HealRequest:
    base = github.world.branch("main") or ""
    github.world.git.set_ref("refs/heads/feature", base)
    github.world.add_pull(title="t", body="", head="feature", base="main", user="ada",
                          head_repo="octo/shop", head_sha=base)  # fmt: skip
    return HealRequest("octo/shop", "", trigger="comment", actor="ada", pull_number=1, reply_to=5)


def test_a_writer_s_comment_gets_the_commit_of_the_pull_request(
    forge: GitHub, github: LoopbackGitHub, run: Run, asked: HealRequest
) -> None:
    admitted = admit(run, asked, forge)
    assert admitted.refusal == ""
    assert admitted.request.trust is Trust.TRUSTED
    head = github.world.branch("feature")
    assert (admitted.request.base_sha, admitted.request.base_ref) == (head, "feature")


@pytest.mark.parametrize(
    ("actor", "role", "level", "served"),
    [
        ("bob", "write", "write", True),
        ("bob", "maintain", "write", True),
        ("bob", "triage", "write", False),
        ("bob", "read", "write", False),
        ("bob", "none", "read", False),
        ("bob", "write", "admin", False),
        ("evil[bot]", "read", "write", False),
        ("bob", "god", "write", False),
    ],
)
def test_only_the_role_the_api_names_counts(
    forge: GitHub, github: LoopbackGitHub, run: Run, asked: HealRequest,
    actor: str, role: str, level: str, served: bool,
) -> None:  # fmt: skip
    github.world.permissions[actor] = role
    admitted = admit(run, replace(asked, actor=actor), forge, level)
    assert (admitted.request.trust is Trust.TRUSTED) is served
    assert bool(admitted.refusal) is not served


@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize(
    ("role", "level", "trust"),
    [
        ("read", "read", Trust.KEYLESS),
        ("triage", "triage", Trust.KEYLESS),
        ("write", "read", Trust.TRUSTED),
        ("write", "write", Trust.TRUSTED),
    ],
)
def test_who_cannot_write_may_ask_where_allowed_and_vouches_for_no_code(
    forge: GitHub, github: LoopbackGitHub, run: Run, asked: HealRequest,
    role: str, level: str, trust: Trust, named: bool,
) -> None:  # fmt: skip
    github.world.permissions["ada"] = role
    sha = (github.world.branch("feature") or "") if named else ""
    assert admit(run, replace(asked, base_sha=sha), forge, level).request.trust is trust


@pytest.mark.parametrize(("role", "trust"), [("write", Trust.TRUSTED), ("triage", Trust.KEYLESS)])
def test_a_writer_vouches_for_the_code_of_another_also_where_others_may_ask(
    forge: GitHub, github: LoopbackGitHub, run: Run, asked: HealRequest, role: str, trust: Trust
) -> None:
    github.world.permissions |= {"ada": "read", "bob": role}
    named = replace(asked, actor="bob", base_sha=github.world.branch("feature") or "")
    assert admit(run, named, forge, "triage").request.trust is trust


@pytest.mark.parametrize(("base", "served"), [("write", True), ("read", False)])
def test_a_role_of_an_organization_counts_as_what_it_is_built_on(
    forge: GitHub, github: LoopbackGitHub, run: Run, asked: HealRequest, base: str, served: bool
) -> None:
    github.world.permissions["bob"] = "release-captain"
    github.world.base_roles["release-captain"] = base
    assert bool(admit(run, replace(asked, actor="bob"), forge).refusal) is not served


@pytest.mark.parametrize(("actor", "served"), [("renovate[bot]", True), ("renovate", False)])
def test_a_listed_name_admits_an_app_and_no_person(
    forge: GitHub, run: Run, asked: HealRequest, actor: str, served: bool
) -> None:
    admitted = admit(run, replace(asked, actor=actor), forge, bots=("renovate[bot]", "renovate"))
    assert bool(admitted.refusal) is not served


def test_a_pull_request_from_a_fork_is_refused(
    forge: GitHub, github: LoopbackGitHub, run: Run, asked: HealRequest
) -> None:
    github.world.pulls[1].head_repo = "mallory/shop"
    assert "fork" in admit(run, asked, forge).refusal


def test_a_closed_pull_request_is_refused(
    forge: GitHub, github: LoopbackGitHub, run: Run, asked: HealRequest
) -> None:
    github.world.pulls[1].state = "closed"
    assert "not open" in admit(run, asked, forge).refusal


def test_a_named_commit_that_is_not_the_head_is_refused(
    forge: GitHub, run: Run, asked: HealRequest
) -> None:
    assert "the head is" in admit(run, replace(asked, base_sha="f" * 40), forge).refusal


@pytest.mark.parametrize("branch", ["main", "gone"])
def test_a_dispatched_commit_must_be_on_its_branch(
    forge: GitHub, github: LoopbackGitHub, run: Run, branch: str
) -> None:
    git, base = github.world.git, github.world.branch("main") or ""
    who = ("Ada", "ada@example.invalid", "2026-01-01T00:00:00+00:00")
    loose = git.save_commit("Loose", git.commit(base).tree, [base], who, who)
    request = HealRequest("octo/shop", loose, branch, head_repo="octo/shop", trigger="dispatch")
    assert f"not on branch {branch}" in admit(run, request, forge).refusal
    assert admit(run, replace(request, base_sha=base, base_ref="main"), forge).refusal == ""


@pytest.mark.parametrize(
    ("actor", "on_branch", "refusal"),
    [
        ("ada", True, ""),
        ("mallory", True, "needs write permission"),
        ("ada", False, "is not on branch main"),
    ],
)
def test_a_comment_on_a_commit_needs_the_role_and_the_branch(
    forge: GitHub, github: LoopbackGitHub, run: Run, actor: str, on_branch: bool, refusal: str
) -> None:
    git, sha = github.world.git, github.world.branch("main") or ""
    who = ("Ada", "ada@example.invalid", "2026-01-03T00:00:00+00:00")
    if not on_branch:
        sha = git.save_commit("Loose", git.commit(sha).tree, [sha], who, who)
    asked = HealRequest(
        "octo/shop", sha, "main", head_repo="octo/shop", trigger="commit", actor=actor
    )
    admitted = admit(run, asked, forge)
    assert refusal in admitted.refusal
    assert bool(admitted.refusal) is bool(refusal)
