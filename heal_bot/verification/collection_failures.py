"""Red before the first test: which source keeps test files from being collected, since when."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import PurePosixPath

from heal_bot.core.model import Broken, Failure, Frame, Origin, SuiteRun
from heal_bot.core.text import one_line
from heal_bot.ports import Tree
from heal_bot.source import guard, module_names, paths

_FRAME = re.compile(r"^(?P<path>[^\s:][^:\n]{0,300}\.py):(?P<line>\d{1,7}): in (?P<name>\S+)", re.M)
_FILE = re.compile(r'^E {3,}File "(?P<path>[^"\n]{1,300})", line (?P<line>\d{1,7})', re.MULTILINE)
_SAID = re.compile(r"^E {3}(?P<kind>[A-Za-z_][\w.]*)(?:: (?P<message>.*))?$", re.MULTILINE)
_TEST_FILE = re.compile(r"(?:^|/)(?:test_[^/]*|[^/]*_test)\.py$")
_CIRCULAR = "circular import"
_SYNTAX = frozenset({"SyntaxError", "IndentationError", "TabError"})
_NO = ("", "")
_TESTS = re.compile(rb"^\s*(?:async\s+)?def test|^class Test", re.MULTILINE)


def find_uncollected(suite: SuiteRun, tree: Tree) -> dict[str, Failure]:
    """Each test file that pytest cannot collect, as a failure with the source that is behind it.

    A conftest that cannot be loaded stands for the test files of its folder.
    """
    found: dict[str, Failure] = {}
    dated: dict[Broken, Broken] = {}
    for path, text in suite.errors:
        seen = _read(path, text, tree, suite.collected)
        if seen.broken is not None:
            if seen.broken not in dated:
                sha, title = _brought(seen, seen.broken, tree)
                dated[seen.broken] = replace(seen.broken, sha=sha, title=title)
            seen = replace(seen, broken=dated[seen.broken])
        for file in _beneath(path, tree):
            found.setdefault(file, replace(seen, test=file))
    return found


def _beneath(path: str, tree: Tree) -> Sequence[str]:
    """The test files that cannot be collected for the sake of one file."""
    if PurePosixPath(path).name != "conftest.py":
        return [path]
    below = path.removesuffix("conftest.py")
    return [p for p in tree.paths() if _TEST_FILE.search(p) and p.startswith(below)] or [path]


def _read(test: str, text: str, tree: Tree, collected: Sequence[str]) -> Failure:
    """The failure that the text of a collection error tells, and the source it is in."""
    known = tree.paths()
    frames = tuple(_frame(match, known, collected) for match in _FRAME.finditer(text))
    last = max((match.end() for match in _FRAME.finditer(text)), default=0)
    said = _SAID.search(text, last)
    if said is None:
        return Failure(test, text.partition(":")[0], text, frames)
    kind, message = said["kind"].rpartition(".")[2], one_line(said["message"] or "", 500)
    seen = Failure(test, kind, message, frames)
    places = [(frame.path, frame.line) for frame in frames if frame.path in known]
    file = _FILE.search(text, last)
    if file is not None and (path := _located(file["path"], known)):
        places.append((path, int(file["line"])))
    if not places:
        return seen
    told = f"{kind}: {message}".removesuffix(": ")
    if _CIRCULAR in message and (cycle := _cycle(message, [p for p, _ in places], known)):
        told = f"{told}: {cycle}"
    return replace(seen, broken=Broken(*places[-1], told))


def is_of_tests(broken: Broken, suite: SuiteRun, tree: Tree) -> bool:
    """Whether the file that is broken is a test, or serves tests."""
    if broken.path not in dict(suite.errors):
        return paths.is_test(broken.path, suite.collected)
    # Where doctests are collected, a source file cannot be collected itself.
    return paths.is_test(broken.path) or bool(_TESTS.search(tree.read(broken.path)))


def _brought(failure: Failure, broken: Broken, tree: Tree) -> tuple[str, str]:
    """The commit that took away what is asked for, else the one that the line is from."""
    if failure.kind in _SYNTAX:
        # The line that the parser names may be older than the mistake.
        lines = tree.changed_lines().get(broken.path)
        return tree.blamed(broken.path, min(lines)) if lines and _parsed(broken.path, tree) else _NO
    circular = _CIRCULAR in failure.message
    if not circular and (found := module_names.find_removal(failure.message, tree)) is not None:
        return found.sha, found.title
    return tree.blamed(broken.path, broken.line)


def _parsed(path: str, tree: Tree) -> bool:
    """Whether a file parsed before the commits under test, or was not there."""
    before = tree.former(path)
    try:
        return before is None or bool(guard.parse(before))
    except guard.SourceRejected:
        return False


def _frame(match: re.Match[str], known: Collection[str], collected: Sequence[str]) -> Frame:
    path = _located(match["path"], known)
    origin = Origin.LIBRARY if not path else Origin.PROJECT
    if path and paths.is_test(path, collected):
        origin = Origin.TEST
    return Frame(path or match["path"], int(match["line"]), match["name"], origin)


def _located(path: str, known: Collection[str]) -> str:
    """The file of the tree that a text names, from wherever pytest was started; '' for others."""
    if path in known:
        return path
    if path.startswith("/") or "site-packages" in path:
        return ""
    bare = path.lstrip("./")
    found = [one for one in known if one == bare or one.endswith(f"/{bare}")]
    return found[0] if len(found) == 1 else ""


def _cycle(message: str, places: Sequence[str], known: Collection[str]) -> str:
    """The modules that import each other, in a circle."""
    module, _ = module_names.find_missing(message)
    chain = [module_names.dotted_name(path, known) for path in dict.fromkeys(places)]
    start = chain.index(module) if module in chain else -1
    return " -> ".join([*chain[start:], module]) if start >= 0 else ""
