"""Work in progress: a failing test stops at what its author has not written yet."""

from __future__ import annotations

import ast
import re

from heal_bot.core.model import CaseResult, Origin, Target
from heal_bot.core.text import one_line
from heal_bot.ports import Tree
from heal_bot.source import guard
from heal_bot.verification import raise_location

_LATER = re.compile(r"(?i)\b(?:todo|fixme|wip|work in progress|not (?:yet )?(?:implemented|written)"
                    r"(?: yet)?|unimplemented|coming soon)\b")  # fmt: skip
_FAILS = re.compile(r"raise\s+AssertionError|assert\s+(?:False|0)\b|pytest\.fail|self\.fail")
# What a test says by itself, as against what an assertion compares.
_SAYS = frozenset({"NotImplementedError", "Failed", "AssertionError"})


def explain_unfinished(seen: CaseResult, tree: Tree) -> str:
    """What is not written yet; '' where code that is there is to blame."""
    own = [frame for frame in seen.frames if frame.origin is not Origin.LIBRARY]
    if not own or seen.kind not in _SAYS:
        return ""
    last = own[-1]
    line = raise_location.read_line(tree, last)
    target = raise_location.find_function(tree, last)
    name = f"{last.path}::{target.qualname if target else last.function}"
    if seen.kind != "NotImplementedError":
        if not (_FAILS.match(line) and _LATER.search(f"{seen.message} {line}")):
            return ""
    elif not line.startswith("raise") or not (
        _is_stub(target, tree)
        # An old refusal that is reached may be a fault of what leads there.
        or (_LATER.search(seen.message) and last.line in tree.changed_lines().get(last.path, ()))
    ):
        return ""
    return f"{name} is not written yet ({one_line(line, 120)}): write it, or mark the test as xfail"


def _is_stub(target: Target | None, tree: Tree) -> bool:
    """Whether nothing but the `raise` is there, and no class of the tree is to fill it in."""
    if target is None:
        return False
    try:
        body = guard.parse_part(target.source).body
    except guard.SourceRejected:
        return False
    node = body[0].body[0] if isinstance(body[0], ast.If) else body[0]
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return False
    plain = [part for part in node.body if not isinstance(part, ast.Expr)]
    if len(plain) != 1 or not isinstance(plain[0], ast.Raise) or node.decorator_list:
        return False
    owner = target.qualname.rpartition(".")[0].rpartition(".")[2]
    return not (owner and _has_heirs(owner, tree))


def _has_heirs(name: str, tree: Tree) -> bool:
    """Whether a class of the tree derives from one of that name."""
    heir = re.compile(rf"^[ \t]*class\s+\w+\s*\([^)]*\b{re.escape(name)}\b".encode(), re.M)
    return any(heir.search(tree.read(path)) for path in tree.paths() if path.endswith(".py"))
