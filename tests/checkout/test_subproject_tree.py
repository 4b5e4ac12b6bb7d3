"""A project below the top of a repository."""

from __future__ import annotations

from pathlib import Path

import pytest

from heal_bot.checkout.subproject_tree import narrow_tree
from heal_bot.core.errors import ProvisionError
from heal_bot.environments.provision import _paths
from tests.fakes import FolderTree

FILES = {"pyproject.toml": "top", "a/pyproject.toml": "a", "a/src/m.py": "", "b/n.py": ""}


def test_it_is_a_tree_that_holds_only_what_lies_there(tmp_path: Path) -> None:
    tree = narrow_tree(FolderTree.of(tmp_path, FILES), "a")
    assert set(tree.paths()) == {"pyproject.toml", "src/m.py"}
    assert tree.read("pyproject.toml") == b"a"


def test_import_paths_begin_at_the_top_and_know_its_neighbours(tmp_path: Path) -> None:
    whole = FolderTree.of(tmp_path, FILES)
    assert _paths(narrow_tree(whole, "a"), ["b", "gone"]) == ("b", "a/src", "a")
    assert _paths(narrow_tree(whole, ""), []) == (".",)


def test_a_folder_that_the_commit_lacks_is_named(tmp_path: Path) -> None:
    said = r"working-directory c: the commit .* has no such folder; .*, such as a\Z"
    with pytest.raises(ProvisionError, match=said):
        narrow_tree(FolderTree.of(tmp_path, FILES), "c")
