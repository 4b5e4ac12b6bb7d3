"""Where a failure was raised: the line, the function around it, and whether somebody raised it."""

from __future__ import annotations

import ast

from heal_bot.core.model import CaseResult, Frame, Origin, Target
from heal_bot.ports import Tree
from heal_bot.source import guard, line_targets
from heal_bot.source.tree_files import find_test, list_targets, read_bytes, read_text

# What stands in for the network, for files or for a function, and raises what it is told to.
_DOUBLES = ("/unittest/mock.py", "/mock/mock.py", "/responses/", "/requests_mock/", "/respx/",
            "/pytest_httpx/", "/httpretty/", "/aioresponses/", "/pyfakefs/")  # fmt: skip


def read_line(tree: Tree, frame: Frame) -> str:
    """The line of a frame in the commit, without its indentation; '' for a library's."""
    if frame.origin is Origin.LIBRARY:
        return ""
    lines = read_text(tree, frame.path).splitlines()
    return lines[frame.line - 1].strip() if 0 < frame.line <= len(lines) else ""


def find_function(tree: Tree, frame: Frame) -> Target | None:
    """The function around a frame of the commit."""
    around = (t for t in list_targets(tree, frame.path) if t.kind == "function")
    inside = [t for t in around if t.first_line <= frame.line <= t.last_line]
    return max(inside, key=lambda t: t.first_line, default=None)


def read_test(tree: Tree, test: str) -> str:
    """The source of a test function; '' where it is not found."""
    found = find_test(tree, test)
    return found.source if found is not None else ""


def find_statement(tree: Tree, frame: Frame) -> str:
    """The innermost statement that a frame of the commit stands in, whatever lines it takes."""
    try:
        text = guard.check_text(read_bytes(tree, frame.path))
        found = line_targets.find_innermost(guard.parse(text), frame.line)
    except guard.SourceRejected:
        return ""
    return (ast.get_source_segment(text, found) or "") if found is not None else ""


def is_own_raise(tree: Tree, seen: CaseResult) -> bool:
    """Whether the repository's own `raise`, or a double of its tests, is what raised it."""
    if not seen.frames:
        return False
    last = seen.frames[-1]
    if last.origin is Origin.LIBRARY:
        return any(part in last.path for part in _DOUBLES)
    return read_line(tree, last).startswith(("raise ", "raise(", "assert "))
