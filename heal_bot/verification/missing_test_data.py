"""A file that tests read and that the commit does not have: nobody added it, or it is elsewhere."""

from __future__ import annotations

import re
from fnmatch import fnmatch
from pathlib import PurePosixPath

from heal_bot.core.model import CaseResult, Origin
from heal_bot.ports import Tree
from heal_bot.source import paths
from heal_bot.source.tree_files import read_text

_ABSENT = re.compile(r"\[Errno 2\] No such file or directory: '([^'\n]+/[^'\n]+)'")
_SUBMODULE = re.compile(r"^\s*path\s*=\s*(\S+)\s*$", re.MULTILINE)


def explain_missing_data(seen: CaseResult, tree: Tree) -> str:
    """Which file of the tests is not in the commit, with the remedy; '' for any other failure.

    The test's own code has to ask for it, below a folder of tests: what the project writes
    elsewhere, and does not, may be a fault of its code.
    """
    found = _ABSENT.search(seen.message)
    own = [frame for frame in seen.frames if frame.origin is not Origin.LIBRARY]
    if found is None or not own or not paths.is_test(own[-1].path):
        return ""
    path = _place(found[1], tree)
    if not paths.is_test(path) or any(f"/{found[1]}".endswith(f"/{one}") for one in tree.paths()):
        return ""
    modules = _SUBMODULE.findall(read_text(tree, ".gitmodules"))
    if any(path.startswith(f"{module}/") for module in modules):
        return f"{path} is in a submodule that is not here: check it out (submodules: true)"
    ignored = [line for line in read_text(tree, ".gitignore").splitlines() if _matches(path, line)]
    forced = (
        f"; .gitignore has `{ignored[-1].strip()}`, so add it with git add --force"
        if ignored
        else ""
    )
    return f"the tests read {path}, which is not in the commit{forced or ': add it'}"


def _place(path: str, tree: Tree) -> str:
    """A path below the repository, wherever that stood when the tests ran; '' for none there.

    It begins where most of its folders are in the repository: that may be named as one of them.
    """
    parts = PurePosixPath(path).parts
    folders = {str(folder) for known in tree.paths() for folder in PurePosixPath(known).parents}
    below = ["/".join(parts[at:]) for at in range(len(parts))]
    depths = [sum(str(f) in folders - {"."} for f in PurePosixPath(p).parents) for p in below]
    deepest = max(depths)
    return below[len(depths) - 1 - depths[::-1].index(deepest)] if deepest else ""


def _matches(path: str, line: str) -> bool:
    """Whether a line of `.gitignore` may be why a file is not there."""
    pattern = line.strip().strip("/")
    if not pattern or pattern.startswith(("#", "!")):
        return False
    names = [path, *PurePosixPath(path).parts]
    return any(fnmatch(name, pattern) for name in names)
