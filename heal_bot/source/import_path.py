"""Folders of a checkout that its CI puts on Python's path: what `PYTHONPATH` is set to there."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from heal_bot.ports import Tree
from heal_bot.source.tree_files import read_text
from heal_bot.source.workflow_files import COMMENT, TESTING, WORKFLOW

_RUNNERS = ("tox.ini", "setup.cfg", "pyproject.toml", "noxfile.py", "Makefile", "justfile")
_MOST = 200_000
# The checkout, as workflows, shells and tox write it.
_HERE = re.compile(
    r"\$\{\{ *github\.workspace *\}\}|\$\$?[{(]?(?:GITHUB_WORKSPACE|CURDIR|PWD|pwd)\b[})]?"
    r"|\{(?:toxinidir|tox_root)\}"
)
_SET = re.compile(r"\bPYTHONPATH[\"']?\]? *[:?+]?[=:] *[\"']?([^\s\"',]+)")


def find_import_folders(tree: Tree, top: str = ".") -> tuple[str, ...]:
    """Those that workflows which test name, or what runs the tests of the project at `top`.

    A folder is looked for below `top` first, then below the root of the tree.
    """
    own = {posixpath.normpath(f"{top}/{name}") for name in _RUNNERS}
    read = {p: read_text(tree, p)[:_MOST] for p in tree.paths() if p in own or WORKFLOW.match(p)}
    texts = (text for path, text in read.items() if path in own or TESTING.search(text))
    named = [part for text in texts for part in _list_named(text)]
    folders = {str(one) for path in tree.paths() for one in PurePosixPath(path).parents}
    places = ((posixpath.normpath(f"{top}/{one}"), posixpath.normpath(one)) for one in named)
    found = (next((one for one in pair if one in folders), "") for pair in places)
    return tuple(dict.fromkeys(filter(None, found)))


def _list_named(text: str) -> Iterator[str]:
    """The folders in the values of the variable, relative to the checkout."""
    for value in _SET.findall(_HERE.sub(".", COMMENT.sub("", text)).replace("{/}", "/")):
        yield from (one for one in re.split("[:;]", value) if one and not one.startswith("/"))
