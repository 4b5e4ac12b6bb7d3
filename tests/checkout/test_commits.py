from __future__ import annotations

import pytest

from heal_bot.checkout.bare_repository import Repository
from heal_bot.checkout.checkout_tree import checkout


@pytest.fixture
def tree_of(run, tmp_path):
    def make(source):
        repository = Repository.of(run, source, tmp_path / "scratch")
        return checkout(run, repository, repository.head, tmp_path / "trees")

    return make


def test_a_file_is_known_as_it_was_before_the_commits_under_test(tree_of, source, git):
    tree = tree_of(source)
    assert tree.former("pkg/a.py") == b"one = 1\ntwo = 3\nthree = 3\n"
    assert tree.changed_by("pkg/a.py") == git(source, "rev-parse", "HEAD")
    assert tree.former("run.sh") == b"#!/bin/sh\n"
    assert tree.changed_by("run.sh") == ""
    assert tree.former("pkg/none.py") is None


def test_of_the_commits_that_a_merge_brought_the_newest_is_named(tree_of, source, git):
    git(source, "checkout", "-q", "-b", "topic")
    (source / "pkg/a.py").write_text("one = 1\ntwo = 2\nthree = 4\n")
    git(source, "commit", "-qam", "Third")
    (source / "run.sh").write_text("#!/bin/bash\n")
    git(source, "commit", "-qam", "Fourth")
    git(source, "checkout", "-q", "-")
    git(source, "merge", "-q", "--no-ff", "-m", "Merge", "topic")
    tree = tree_of(source)
    assert tree.changed_by("pkg/a.py") == git(source, "rev-parse", "topic~1")
    assert tree.former("pkg/a.py") == git(source, "show", "HEAD^1:pkg/a.py").encode() + b"\n"


def test_nothing_is_known_without_history(tree_of, source, tmp_path, git):
    git(tmp_path, "clone", "-q", "--depth=1", f"file://{source}", "shallow")
    tree = tree_of(tmp_path / "shallow")
    assert (tree.former("pkg/a.py"), tree.changed_by("pkg/a.py")) == (None, "")


def test_the_commit_that_brought_a_line_or_took_a_name_or_a_file_away_is_named(
    tree_of, source, git
):
    (source / "pkg/b.py").write_text("def total():\n    pass\n\n\nother = 1\n")
    git(source, "add", "-A")
    git(source, "commit", "-qm", "Add b")
    (source / "pkg/b.py").write_text("def summed():\n    pass\n\n\nother = 1\n")
    git(source, "commit", "-qam", "Rename total")
    renamed = git(source, "rev-parse", "HEAD")
    git(source, "mv", "pkg/b.py", "pkg/c.py")
    git(source, "commit", "-qm", "Move b")
    tree = tree_of(source)
    assert tree.blamed("pkg/c.py", 1) == (renamed, "Rename total")
    assert tree.removal("pkg/c.py", "total") is None
    moved = tree.removal("pkg/b.py", "")
    assert moved is not None
    assert (moved.title, moved.path, moved.moved) == ("Move b", "pkg/b.py", "pkg/c.py")
    assert b"summed" in moved.before
    found = tree.removal("pkg/a.py", "two")
    assert found is None or b"two" in found.before
    assert tree.removal("pkg/none.py", "") is None


def test_a_line_is_of_no_known_commit_where_the_history_ends(tree_of, source, tmp_path, git):
    git(tmp_path, "clone", "-q", "--depth=1", f"file://{source}", "shallow")
    assert tree_of(tmp_path / "shallow").blamed("pkg/a.py", 1) == ("", "")


def test_every_file_that_the_commits_changed_is_named_deleted_ones_too(tree_of, source, git):
    git(source, "rm", "-q", "pkg/a.py")
    (source / "rates.json").write_text("{}")
    git(source, "add", "-A")
    git(source, "commit", "-qm", "Drop a")
    assert tree_of(source).changed_paths() == ("pkg/a.py", "rates.json")


@pytest.mark.parametrize(
    ("now", "later"),
    [
        ("def summed():\n    pass\n", "# total was here\ndef summed():\n    return 'total'\n"),
        ("from pkg.c import (\n    one,\n)\n", "from pkg.c import (\n    one,\n)\n# total\n"),
    ],
)
def test_a_commit_that_only_mentions_a_name_did_not_take_it_away(tree_of, source, git, now, later):
    brought = "from pkg.c import (\n    one,\n    total,\n)\n" if "one" in now else "total = 1\n"
    titles = ("Add b", "Take total away", "Mention total")
    for text, title in zip((brought, now, later), titles, strict=True):
        (source / "pkg/b.py").write_text(text)
        git(source, "add", "-A")
        git(source, "commit", "-qm", title)
    found = tree_of(source).removal("pkg/b.py", "total")
    assert found.title == "Take total away"
