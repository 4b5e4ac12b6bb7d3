"""Where a failure was raised: the line, the function around it, and whether somebody raised it."""

from __future__ import annotations

import ast

from heal_bot.core.model import CaseResult, Frame, Origin, Target
from heal_bot.ports import Tree
from heal_bot.source import functions, guard

# What stands in for the network, for files or for a function, and raises what it is told to.
_DOUBLES = ("/unittest/mock.py", "/mock/mock.py", "/responses/", "/requests_mock/", "/respx/",
            "/pytest_httpx/", "/httpretty/", "/aioresponses/", "/pyfakefs/")  # fmt: skip


def read_line(tree: Tree, frame: Frame) -> str:
    """The line of a frame in the commit, without its indentation; '' for a library's."""
    if frame.origin is Origin.LIBRARY:
        return ""
    try:
        lines = tree.read(frame.path).decode(errors="replace").splitlines()
    except KeyError:
        return ""
    return lines[frame.line - 1].strip() if 0 < frame.line <= len(lines) else ""


def find_function(tree: Tree, frame: Frame) -> Target | None:
    """The function around a frame of the commit."""
    try:
        known = functions.index_targets(frame.path, guard.check_text(tree.read(frame.path)))
    except (guard.SourceRejected, KeyError):
        return None
    around = (t for t in known if t.kind == "function")
    inside = [t for t in around if t.first_line <= frame.line <= t.last_line]
    return max(inside, key=lambda t: t.first_line, default=None)


def find_test(tree: Tree, node: str) -> str:
    """The source of a test function; '' where it is not found."""
    path, _, rest = node.partition("::")
    try:
        known = functions.index_targets(path, guard.check_text(tree.read(path)))
    except (guard.SourceRejected, KeyError):
        return ""
    found = functions.find_target(known, rest.partition("[")[0].replace("::", "."))
    return found.source if found is not None else ""


def find_statement(tree: Tree, frame: Frame) -> str:
    """The innermost statement that a frame of the commit stands in, whatever lines it takes."""
    try:
        text = guard.check_text(tree.read(frame.path))
        nodes = [n for n in ast.walk(guard.parse(text)) if isinstance(n, ast.stmt)]
    except (guard.SourceRejected, KeyError):
        return ""
    around = [n for n in nodes if n.lineno <= frame.line <= (n.end_lineno or n.lineno)]
    last = max(around, key=lambda n: n.lineno, default=None)
    return (ast.get_source_segment(text, last) or "") if last is not None else ""


def is_own_raise(tree: Tree, seen: CaseResult) -> bool:
    """Whether the repository's own `raise`, or a double of its tests, is what raised it."""
    if not seen.frames:
        return False
    last = seen.frames[-1]
    if last.origin is Origin.LIBRARY:
        return any(part in last.path for part in _DOUBLES)
    return read_line(tree, last).startswith(("raise ", "raise(", "assert "))
