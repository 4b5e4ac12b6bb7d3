from __future__ import annotations

import pytest

from heal_bot.workspace.repository import Repository
from heal_bot.workspace.tree import checkout


@pytest.fixture
def tree_of(run, tmp_path):
    def make(source, since=""):
        repository = Repository.of(run, source, tmp_path / "scratch")
        return checkout(run, repository, repository.head, tmp_path / "trees", since)

    return make


def test_a_file_is_known_as_it_was_before_the_commits_under_test(tree_of, source, git):
    tree = tree_of(source)
    assert tree.former("pkg/a.py") == b"one = 1\ntwo = 3\nthree = 3\n"
    assert tree.changed_by("pkg/a.py") == git(source, "rev-parse", "HEAD")
    assert tree.former("run.sh") == b"#!/bin/sh\n"
    assert tree.changed_by("run.sh") == ""
    assert tree.former("pkg/none.py") is None


def test_the_newest_of_several_commits_is_named(tree_of, source, git):
    first = git(source, "rev-parse", "HEAD~1")
    (source / "pkg/a.py").write_text("one = 1\ntwo = 2\nthree = 4\n")
    git(source, "commit", "-qam", "Third")
    (source / "run.sh").write_text("#!/bin/bash\n")
    git(source, "commit", "-qam", "Fourth")
    tree = tree_of(source, since=first)
    assert tree.changed_by("pkg/a.py") == git(source, "rev-parse", "HEAD~1")
    assert tree.former("pkg/a.py") == b"one = 1\ntwo = 3\nthree = 3\n"


def test_nothing_is_known_without_history(tree_of, source, tmp_path, git):
    git(tmp_path, "clone", "-q", "--depth=1", f"file://{source}", "shallow")
    tree = tree_of(tmp_path / "shallow")
    assert (tree.former("pkg/a.py"), tree.changed_by("pkg/a.py")) == (None, "")
