from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from heal_bot.checkout.bare_repository import Repository
from heal_bot.checkout.commits import list_commits
from heal_bot.checkout.git import Git
from heal_bot.core.errors import ProvisionError, UsageError, WorkspaceError
from heal_bot.core.events import Run
from heal_bot.core.process import Completed


def test_head_and_branch_of_a_plain_repository(run, source, tmp_path, git):
    repository = Repository.of(run, source, tmp_path / "scratch")
    assert repository.head == git(source, "rev-parse", "HEAD")
    assert repository.branch == "main"


def test_a_detached_head_has_no_branch(run, source, tmp_path, git):
    git(source, "checkout", "-q", "--detach", "HEAD~1")
    repository = Repository.of(run, source, tmp_path / "scratch")
    assert (repository.branch, repository.head) == ("", git(source, "rev-parse", "HEAD"))


def test_refs_in_a_pack_are_found(run, source, tmp_path, git):
    git(source, "tag", "-a", "-m", "A tag", "v1", "HEAD~1")
    git(source, "pack-refs", "--all")
    repository = Repository.of(run, source, tmp_path / "scratch")
    assert repository.resolve(run, "main") == repository.head
    assert repository.resolve(run, "v1") == git(source, "rev-parse", "HEAD~1")
    assert repository.resolve(run, "HEAD~1") == git(source, "rev-parse", "HEAD~1")
    assert repository.resolve(run, repository.head[:9]) == repository.head


def test_a_worktree_reads_the_objects_of_its_repository(run, source, tmp_path, git):
    git(source, "worktree", "add", "-q", "-b", "side", str(tmp_path / "side"), "HEAD~1")
    repository = Repository.of(run, tmp_path / "side", tmp_path / "scratch")
    assert repository.branch == "side"
    assert repository.head == git(source, "rev-parse", "HEAD~1")


def test_a_shallow_clone_is_read(run, source, tmp_path, git):
    git(tmp_path, "clone", "-q", "--depth=1", f"file://{source}", "shallow")
    repository = Repository.of(run, tmp_path / "shallow", tmp_path / "scratch")
    assert repository.head == git(source, "rev-parse", "HEAD")


def test_a_partial_clone_is_read_without_its_past(run, source, tmp_path, git):
    (source / "later.py").write_text("one = 1\n")
    git(source, "add", ".")
    git(source, "commit", "-q", "-m", "Add")
    (source / "later.py").write_text("one = 2\n")
    git(source, "commit", "-q", "-a", "-m", "Change")
    git(source, "config", "uploadpack.allowFilter", "true")
    git(source, "config", "uploadpack.allowAnySHA1InWant", "true")
    git(tmp_path, "clone", "-q", "--filter=blob:none", f"file://{source}", "partial")
    repository = Repository.of(run, tmp_path / "partial", tmp_path / "scratch")
    assert repository.head == git(source, "rev-parse", "HEAD")
    assert list_commits(run, repository, git(source, "rev-parse", "HEAD~1"), repository.head) == ()


def test_a_sha256_repository_is_read(run, tmp_path, git):
    folder = tmp_path / "new"
    folder.mkdir()
    git(folder, "init", "-q", "--object-format=sha256")
    git(folder, "commit", "-q", "--allow-empty", "-m", "Empty")
    assert len(Repository.of(run, folder, tmp_path / "scratch").head) == 64


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_a_repository_of_another_user_is_read(run, source, tmp_path):
    for path in (source, *source.rglob("*")):
        os.chown(path, 64001, 64001, follow_symlinks=False)
    assert Repository.of(run, source, tmp_path / "scratch").branch == "main"


def test_no_program_that_the_repository_configures_is_started(run, source, tmp_path, git):
    trap = tmp_path / "trap.sh"
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/sprung\ncat\n")
    trap.chmod(0o755)
    for key in ("core.fsmonitor", "core.sshCommand", "core.pager", "uploadpack.packObjectsHook",
                "filter.x.smudge", "core.alternateRefsCommand", "core.gitProxy"):  # fmt: skip
        git(source, "config", key, str(trap))
    (source / ".gitattributes").write_text("* filter=x\n")
    for hook in ("post-checkout", "reference-transaction", "pre-receive"):
        shutil.copy(trap, source / ".git/hooks" / hook)
    Repository.of(run, source, tmp_path / "scratch")
    assert not (tmp_path / "sprung").exists()


def test_configuration_that_git_itself_refuses_does_not_matter(run, source, tmp_path):
    (source / ".git/config").write_text("[core\nbroken")
    assert Repository.of(run, source, tmp_path / "scratch").branch == "main"


def test_an_object_whose_bytes_were_changed_is_refused(run, source, tmp_path, git):
    blob = git(source, "rev-parse", "HEAD:pkg/a.py")
    other = git(source, "rev-parse", "HEAD~1:pkg/a.py")
    objects = source / ".git/objects"
    goal = objects / blob[:2] / blob[2:]
    goal.unlink()
    shutil.copy(objects / other[:2] / other[2:], goal)
    with pytest.raises(WorkspaceError, match="run `git fsck` there"):
        Repository.of(run, source, tmp_path / "scratch")


def test_a_commit_the_source_lacks_is_named_with_the_remedy(run, source, tmp_path):
    repository = Repository.of(run, source, tmp_path / "scratch")
    with pytest.raises(UsageError, match=r"commit 123412341234 is not in .*: run `git fetch"):
        repository.resolve(run, "1234" * 10)


@pytest.mark.parametrize("name", ["nowhere", "--upload-pack=x", "../../etc/passwd", "a b", "@{-1}"])
def test_names_that_are_no_ref_are_refused(run, source, tmp_path, name):
    repository = Repository.of(run, source, tmp_path / "scratch")
    with pytest.raises(UsageError, match="is not a commit"):
        repository.resolve(run, name)


def test_a_folder_without_git_is_refused(run, tmp_path):
    with pytest.raises(UsageError, match=r"is not a git repository: give the folder that holds"):
        Repository.of(run, tmp_path, tmp_path / "scratch")


def test_a_missing_folder_is_refused(run, tmp_path):
    with pytest.raises(UsageError, match="is not a folder"):
        Repository.of(run, tmp_path / "nowhere", tmp_path / "scratch")


def test_a_repository_without_a_commit_is_refused(run, tmp_path, git):
    git(tmp_path, "init", "-q", "-b", "main", "empty")
    with pytest.raises(UsageError, match="has no commit on refs/heads/main: commit something"):
        Repository.of(run, tmp_path / "empty", tmp_path / "scratch")


def test_borrowed_objects_are_refused(run, source, tmp_path, git):
    git(tmp_path, "clone", "-q", "--shared", str(source), "borrower")
    with pytest.raises(UsageError, match="borrows objects from another repository"):
        Repository.of(run, tmp_path / "borrower", tmp_path / "scratch")


def test_a_head_that_is_a_link_is_not_followed(run, source, tmp_path):
    (tmp_path / "secret").write_text("a" * 40)
    (source / ".git/HEAD").unlink()
    (source / ".git/HEAD").symlink_to(tmp_path / "secret")
    with pytest.raises(UsageError, match="HEAD cannot be read"):
        Repository.of(run, source, tmp_path / "scratch")


def test_git_that_is_not_installed_is_named(source, tmp_path, monkeypatch):
    monkeypatch.setattr("heal_bot.checkout.git.PATH", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UsageError, match="install it"):
        Repository.of(Run(lambda event: None), source, tmp_path / "scratch")


def test_a_scratch_folder_that_is_a_file_is_named(run, source, tmp_path):
    (tmp_path / "scratch").write_text("")
    with pytest.raises(UsageError, match="cannot be written"):
        Repository.of(run, source, Path(tmp_path / "scratch"))


def test_a_full_disk_is_named_with_the_remedy():
    space = b"fatal: write error: No space left on device\nfatal: index-pack failed\n"
    done = Completed(("git",), 128, b"", space)
    git = Git(Path("/scratch/objects.git"), Path("/scratch/home"))
    with pytest.raises(ProvisionError, match=r"the disk of /scratch is full: .* TMPDIR"):
        git.refuse_full(done)
    git.refuse_full(Completed(("git",), 128, b"", b"fatal: other\n"))
