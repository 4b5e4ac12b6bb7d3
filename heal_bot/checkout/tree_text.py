"""What a tree's plain files hold as text; a link among them is told and never followed."""

from __future__ import annotations

from heal_bot.ports import Tree

CAP = 2 << 20


def read_text(tree: Tree, path: str, notes: list[str]) -> str:
    """The text of a file, nothing for a link or one over the cap; KeyError where there is none."""
    try:
        data = tree.read(path)
    except KeyError:
        if path not in tree.paths():
            raise
        note = f"{path} is a link and is not read"
        notes += [] if note in notes else [note]
        return ""
    return data.decode(errors="replace") if len(data) <= CAP else ""
