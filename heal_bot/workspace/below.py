"""A project below the top of a repository as a tree of its own, for what it declares."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from heal_bot.errors import UsageError
from heal_bot.ports import Tree


def below(tree: Tree, folder: str) -> Tree:
    """The part of a tree below a folder; the tree itself for ''. UsageError where there is none."""
    if not folder:
        return tree
    if not any(path.startswith(f"{folder}/") for path in tree.paths()):
        raise UsageError(
            f"working-directory {folder}: the commit {tree.sha[:12]} has no such folder; give it"
            " relative to the top of the repository"
        )
    return Below(tree, folder)


@dataclass(frozen=True, slots=True)
class Below:
    """A tree whose paths begin at a folder of another one; of the same commit."""

    tree: Tree
    folder: str

    @property
    def sha(self) -> str:
        """The commit."""
        return self.tree.sha

    @property
    def tree_sha(self) -> str:
        """The git tree id of the whole commit."""
        return self.tree.tree_sha

    @property
    def root(self) -> Path:
        """The folder that holds the files."""
        return self.tree.root / self.folder

    def paths(self) -> tuple[str, ...]:
        """The paths below the folder."""
        start = f"{self.folder}/"
        return tuple(p.removeprefix(start) for p in self.tree.paths() if p.startswith(start))

    def read(self, path: str) -> bytes:
        """The bytes of a file."""
        return self.tree.read(f"{self.folder}/{path}")

    def blob(self, path: str) -> str:
        """The git blob id of a file."""
        return self.tree.blob(f"{self.folder}/{path}")

    def changed_lines(self) -> dict[str, frozenset[int]]:
        """What the commits under test changed below the folder."""
        start = f"{self.folder}/"
        found = self.tree.changed_lines().items()
        return {p.removeprefix(start): lines for p, lines in found if p.startswith(start)}

    def former(self, path: str) -> bytes | None:
        """A file as it was before the commits under test."""
        return self.tree.former(f"{self.folder}/{path}")

    def changed_by(self, path: str) -> str:
        """The newest of the commits under test that changed the file."""
        return self.tree.changed_by(f"{self.folder}/{path}")
