"""A project below the top of a repository as a tree of its own, for what it declares."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from heal_bot.core.errors import ProvisionError
from heal_bot.core.model import Removal
from heal_bot.ports import Tree

# What a folder of a project holds, and how many are named.
_DECLARING = ("pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "manage.py")
_NAMED = 5


def narrow_tree(tree: Tree, folder: str) -> Tree:
    """The part of a tree below a folder; the tree itself for ''. ProvisionError for no folder."""
    if not folder:
        return tree
    if not any(path.startswith(f"{folder}/") for path in tree.paths()):
        raise ProvisionError(
            f"working-directory {folder}: the commit {tree.sha[:12]} has no such folder; give it"
            f" relative to the top of the repository{_projects(tree)}"
        )
    return Below(tree, folder)


def _projects(tree: Tree) -> str:
    """The folders that hold a project, as a hint."""
    ends = tuple(f"/{name}" for name in _DECLARING)
    found = {path.rpartition("/")[0] for path in tree.paths() if path.endswith(ends)}
    return f", such as {', '.join(sorted(found)[:_NAMED])}" if found else ""


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

    def changed_paths(self) -> tuple[str, ...]:
        """What the commits under test changed; a file outside the folder by its way from there."""
        start, up = f"{self.folder}/", "../" * (self.folder.count("/") + 1)
        return tuple(
            p.removeprefix(start) if p.startswith(start) else f"{up}{p}"
            for p in self.tree.changed_paths()
        )

    def former(self, path: str) -> bytes | None:
        """A file as it was before the commits under test."""
        return self.tree.former(f"{self.folder}/{path}")

    def changed_by(self, path: str) -> str:
        """The newest of the commits under test that changed the file."""
        return self.tree.changed_by(f"{self.folder}/{path}")

    def blamed(self, path: str, line: int) -> tuple[str, str]:
        """The commit that a line is from, and its title."""
        return self.tree.blamed(f"{self.folder}/{path}", line)

    def removal(self, path: str, name: str) -> Removal | None:
        """The newest commit that took a name out of a file, or a file of that end away."""
        return self.tree.removal(f"{self.folder}/{path}" if name else path, name)
