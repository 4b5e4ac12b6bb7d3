from __future__ import annotations

import hashlib
import stat
import subprocess
from dataclasses import replace

import pytest

from heal_bot.checkout.bare_repository import Repository
from heal_bot.checkout.checkout_tree import checkout, list_committed, list_dirty
from heal_bot.checkout.git_objects import list_entries
from heal_bot.core.errors import BudgetError, ProvisionError, WorkspaceError
from heal_bot.core.events import Run
from heal_bot.core.model import PatchedFile


@pytest.fixture
def tree_of(run, tmp_path):
    def make(source):
        repository = Repository.of(run, source, tmp_path / "scratch")
        return checkout(run, repository, repository.head, tmp_path / "trees")

    return make


def test_files_have_the_committed_bytes_and_our_modes(tree_of, source):
    tree = tree_of(source)
    assert tree.paths() == ("näme\n.py", "pkg/a.py", "pkg/b.txt", "run.sh")
    for path in tree.paths():
        assert (tree.root / path).read_bytes() == (source / path).read_bytes() == tree.read(path)
    assert stat.S_IMODE((tree.root / "run.sh").stat().st_mode) == 0o755
    assert stat.S_IMODE((tree.root / "pkg/a.py").stat().st_mode) == 0o644
    assert stat.S_IMODE((tree.root / "pkg").stat().st_mode) == 0o755


def test_blobs_and_tree_are_named_as_git_names_them(tree_of, source, git):
    tree = tree_of(source)
    assert tree.blob("pkg/a.py") == git(source, "rev-parse", "HEAD:pkg/a.py")
    assert tree.tree_sha == git(source, "rev-parse", "HEAD^{tree}")


@pytest.mark.parametrize("path", ["pkg", "nowhere.py", "../source/run.sh", ""])
def test_only_files_of_the_commit_can_be_read(tree_of, source, path):
    tree = tree_of(source)
    with pytest.raises(KeyError):
        tree.read(path)


def test_changed_lines_are_those_of_the_last_commit(tree_of, source):
    assert tree_of(source).changed_lines() == {"pkg/a.py": frozenset({2})}


def test_changed_lines_of_a_merge_are_all_that_it_brought(tree_of, source, git):
    git(source, "checkout", "-q", "-b", "topic")
    (source / "pkg/a.py").write_text("one = 1\ntwo = 2\nthree = 4\n")
    git(source, "commit", "-qam", "Third")
    (source / "pkg/c.py").write_text("-- a\n++ b\n")
    git(source, "add", "-A")
    git(source, "commit", "-qm", "Fourth")
    git(source, "checkout", "-q", "-")
    git(source, "merge", "-q", "--no-ff", "-m", "Merge", "topic")
    changed = tree_of(source).changed_lines()
    assert changed == {"pkg/a.py": frozenset({3}), "pkg/c.py": frozenset({1, 2})}


def test_changed_lines_are_empty_without_history(tree_of, source, tmp_path, git):
    git(tmp_path, "clone", "-q", "--depth=1", f"file://{source}", "shallow")
    assert tree_of(tmp_path / "shallow").changed_lines() == {}


@pytest.mark.parametrize(
    ("target", "kept"),
    [
        ("pkg/a.py", True),
        ("./pkg/../pkg", True),
        ("../outside", False),
        ("/etc/passwd", False),
        ("pkg/../../outside", False),
    ],
)
def test_links_are_made_only_when_they_stay_inside(tree_of, source, git, target, kept):
    (source / "link").symlink_to(target)
    git(source, "add", "-A")
    git(source, "commit", "-qm", "Link")
    tree = tree_of(source)
    assert (tree.root / "link").is_symlink() is kept
    assert tree.notes == (() if kept else ("link link leaves the checkout and is left out",))
    with pytest.raises(KeyError):
        tree.read("link")


def test_a_link_that_leaves_through_another_is_left_out(tree_of, source, git):
    (source / "deep/er").mkdir(parents=True)
    (source / "deep/er/up").symlink_to("../..")
    (source / "out").symlink_to("deep/er/up/../..")
    git(source, "add", "-A")
    git(source, "commit", "-qm", "Links")
    tree = tree_of(source)
    assert (tree.root / "deep/er/up").is_symlink()
    assert not (tree.root / "out").is_symlink()


def test_a_submodule_and_a_large_file_pointer_are_noted(tree_of, source, git, tmp_path):
    git(tmp_path, "clone", "-q", str(source), "other")
    git(source, "submodule", "add", "-q", str(tmp_path / "other"), "vendor")
    (source / "model.bin").write_text("version https://git-lfs.github.com/spec/v1\noid sha256:1\n")
    git(source, "add", "-A")
    git(source, "commit", "-qm", "Parts")
    tree = tree_of(source)
    assert "submodule vendor is left out: give what it holds with setup, or commit it" in tree.notes
    (pointer,) = (note for note in tree.notes if note.startswith("model.bin is a Git LFS pointer"))
    assert pointer.endswith("tests that read it need a small copy in git")
    assert "vendor" not in tree.paths()


def test_a_patched_tree_is_another_folder_with_the_new_text(tree_of, source, run, tmp_path):
    tree = tree_of(source)
    file = PatchedFile("pkg/a.py", tree.blob("pkg/a.py"), "one = 10\n")
    patched = tree.with_files(run, [file], tmp_path / "trees")
    assert patched.root != tree.root
    assert (patched.root / "pkg/a.py").read_text() == "one = 10\n"
    assert patched.read("pkg/a.py") == b"one = 10\n"
    assert patched.blob("pkg/a.py") == tree.blob("pkg/a.py")
    assert (tree.root / "pkg/a.py").read_text() == "one = 1\ntwo = 2\nthree = 3\n"
    assert (patched.root / "run.sh").read_bytes() == (tree.root / "run.sh").read_bytes()


@pytest.mark.parametrize(("path", "blob"), [("pkg/a.py", "0" * 40), ("new.py", "0" * 40)])
def test_a_patch_for_another_file_is_refused(tree_of, source, run, tmp_path, path, blob):
    with pytest.raises(WorkspaceError, match="is not the file the patch was made for"):
        tree_of(source).with_files(run, [PatchedFile(path, blob, "")], tmp_path / "trees")


class TestDirty:
    def test_a_clean_folder(self, tree_of, source):
        (source / "untracked.py").write_text("")
        assert list_dirty(source, tree_of(source)) == ()

    def test_changed_missing_and_replaced_files(self, tree_of, source, tmp_path):
        tree = tree_of(source)
        (source / "pkg/a.py").write_text("one = 1\ntwo = 0\nthree = 3\n")
        (source / "run.sh").unlink()
        (tmp_path / "same").write_bytes((source / "pkg/b.txt").read_bytes())
        (source / "pkg/b.txt").unlink()
        (source / "pkg/b.txt").symlink_to(tmp_path / "same")
        assert set(list_dirty(source, tree)) == {"pkg/a.py", "pkg/b.txt", "run.sh"}

    def test_line_endings_of_another_system_do_not_count(self, tree_of, source):
        (source / "pkg/a.py").write_bytes(b"one = 1\r\ntwo = 2\r\nthree = 3\r\n")
        assert list_dirty(source, tree_of(source)) == ()

    def test_what_git_would_filter_is_judged_by_its_bytes(self, tree_of, source, git):
        tree = tree_of(source)
        git(source, "config", "filter.same.clean", "git show HEAD:pkg/a.py")
        (source / ".git/info/attributes").write_text("*.py filter=same\n")
        (source / "pkg/a.py").write_text("import os\n")
        assert list_dirty(source, tree) == ("pkg/a.py",)


def test_the_blob_id_is_the_hash_of_what_was_written(tree_of, source):
    tree = tree_of(source)
    data = (tree.root / "pkg/b.txt").read_bytes()
    digest = hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()
    assert tree.blob("pkg/b.txt") == digest


@pytest.mark.parametrize("path", ["d/" * 3_000 + "x", "d/" * 401 + "x", f"{'d' * 200}/" * 16 + "x"])
def test_a_path_that_cannot_be_written_ends_in_one_line(tree_of, source, git, path):
    data = f"commit refs/heads/main\ncommitter t <t@t> 1 +0000\ndata 1\nx\nM 100644 inline {path}\n"
    argv = ["git", "-C", str(source), "fast-import", "--quiet", "--force"]
    subprocess.run(argv, input=f"{data}data 1\nx\n".encode(), check=True)
    with pytest.raises(ProvisionError, match="holds paths of up to"):
        tree_of(source)


@pytest.mark.parametrize(("most", "taken"), [(5, True), (4, False)])
def test_files_and_folders_of_a_commit_are_counted_before_any_is_written(
    run, source, tmp_path, most, taken
):
    repository = Repository.of(run, source, tmp_path / "scratch")
    if taken:
        assert len(list_entries(run, repository, repository.head, most)) == 4
        return
    with pytest.raises(ProvisionError, match=r"4 files .* \(4 files and folders"):
        list_entries(run, repository, repository.head, most)


def test_a_checkout_ends_with_the_budget(source, tmp_path):
    run = Run(lambda event: None)
    repository = Repository.of(run, source, tmp_path / "scratch")
    tree = list_committed(run, repository, repository.head, tmp_path / "trees")
    assert list_dirty(source, tree) == ()
    assert not (tmp_path / "trees").exists()
    with pytest.raises(BudgetError, match="raise max-minutes"):
        tree.with_files(replace(run, deadline=0.0), (), tmp_path / "trees")
