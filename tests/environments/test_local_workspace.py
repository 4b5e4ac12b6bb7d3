from __future__ import annotations

import os
import subprocess

import pytest

from heal_bot.checkout.bare_repository import Repository
from heal_bot.environments.local_workspace import LocalWorkspace

MADE = 1_700_000_000


@pytest.mark.parametrize(
    ("touched", "head", "since"),
    [(-60, True, MADE - 60), (60, True, MADE), (-60, False, MADE)],
    ids=["committed after its tests ran", "checked out anew", "another commit is checked out"],
)
def test_a_checkout_is_as_old_as_its_commit_or_as_the_files_it_was_made_of(
    run, source, tmp_path, touched, head, since
):
    def commit(title):
        env = {**os.environ, "GIT_COMMITTER_DATE": f"{MADE} +0000"}
        argv = ["git", "-C", str(source), "-c", "user.name=a", "-c", "user.email=a@b.c",
                "commit", "--allow-empty", "-qm", title]  # fmt: skip
        subprocess.run(argv, check=True, env=env)

    commit("the one that is asked about")
    sha = subprocess.run(
        ["git", "-C", str(source), "rev-parse", "HEAD"], capture_output=True, text=True, check=True
    ).stdout.strip()
    if not head:
        commit("another")
    repository = Repository.of(run, source, tmp_path / "scratch")
    workspace = LocalWorkspace(repository, tmp_path / "trees", tmp_path / "cache")
    tree = workspace.checkout(run, sha)
    for path in tree.paths():
        os.utime(source / path, (MADE + touched,) * 2)
    assert workspace.date_content(run, tree) == since
