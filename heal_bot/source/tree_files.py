"""Files of a checkout as stages read them: what the commit does not have is empty."""

from __future__ import annotations

from heal_bot.core.model import Target
from heal_bot.ports import Tree
from heal_bot.source import functions


def read_bytes(tree: Tree, path: str) -> bytes:
    """The bytes of a file; none for a link, or for what the commit does not have."""
    try:
        return tree.read(path)
    except KeyError:
        return b""


def read_text(tree: Tree, path: str) -> str:
    """A file as text to search in."""
    return read_bytes(tree, path).decode(errors="replace")


def list_targets(tree: Tree, path: str) -> tuple[Target, ...]:
    """All targets of a file; none where it cannot be parsed."""
    return functions.read(path, read_bytes(tree, path))


def find_test(tree: Tree, test: str) -> Target | None:
    """The function of a test by its id."""
    path, _, inner = test.partition("::")
    name = inner.partition("[")[0].replace("::", ".")
    return functions.find_target(list_targets(tree, path), name)
