"""A test that uses an interface as it was before a commit that changed it, or took it away."""

from __future__ import annotations

import ast
import contextlib
import re
from collections.abc import Iterator, Sequence

from heal_bot.core.model import ChangedFile, Failure, Origin, Target
from heal_bot.ports import Tree
from heal_bot.source import functions, guard, paths
from heal_bot.source.tree_files import read_text

_WORD = re.compile(r"\w+")
# How a call in the old form ends, in the test itself.
_KINDS = frozenset({"TypeError", "AttributeError", "Failed", "ImportError", "NameError"})
_Definition = ast.FunctionDef | ast.AsyncFunctionDef


def find_left_behind(failure: Failure, test: Target, files: Sequence[ChangedFile]) -> str:
    """The function that a test still uses in the form before a commit; '' for none.

    The test fails for it by name. The commit gave it other parameters or took it away, and changed
    what other functions of the project call it with: that shows that it was meant.
    """
    if not _fails_itself(failure):
        return ""
    pairs = [pair for file in files if _is_source(file.path) for pair in _versions(file)]
    used = _calls(test.source)
    old = _forms(before for before, _ in pairs)
    new = _forms(after for _, after in pairs)
    for name in sorted(used.keys() & old.keys() & set(_WORD.findall(failure.message))):
        changed = old[name] != new.get(name)
        if changed and any(_is_adapted(name, *pair) for pair in pairs):
            return name
    return ""


def find_removed(failure: Failure, test: Target, files: Sequence[ChangedFile], tree: Tree) -> str:
    """The definition that a test still uses and a commit took away; '' for none.

    No other source of the project has its name in it any more: that shows that it was meant.
    """
    if not _fails_itself(failure):
        return ""
    sources = [file for file in files if _is_source(file.path)]
    before = {name for file in sources for name in _defined(file.before)}
    after = {name for file in sources for name in _defined(file.after)}
    used = {getattr(node, "id", getattr(node, "attr", "")) for node in _nodes(test.source)}
    gone = used & before - after
    for path in filter(_is_source, tree.paths() if gone else ()):
        gone.difference_update(_WORD.findall(read_text(tree, path)))
    return min(gone, default="")


def find_new_class(failure: Failure, test: Target, files: Sequence[ChangedFile]) -> str:
    """The class, new in a commit, of what a test gets and takes for what it was; '' for none."""
    if not _fails_itself(failure):
        return ""
    before, after = (
        {name for file in files if _is_source(file.path) for name in _defined(getattr(file, when))}
        for when in ("before", "after")
    )
    said = set(_WORD.findall(failure.message)) - set(_WORD.findall(test.source))
    return min(said & (after - before), default="")


def _fails_itself(failure: Failure) -> bool:
    """Whether a test fails for how it calls something, and not for what happens in the project."""
    in_project = any(frame.origin is Origin.PROJECT for frame in failure.frames)
    return failure.kind in _KINDS and not in_project


def _defined(data: bytes) -> Iterator[str]:
    """The names of the functions and classes of a source."""
    with contextlib.suppress(guard.SourceRejected):
        nodes = ast.walk(guard.parse(data))
        yield from (n.name for n in nodes if isinstance(n, _Definition | ast.ClassDef))


def _is_source(path: str) -> bool:
    return path.endswith(".py") and not paths.is_test(path)


def _versions(file: ChangedFile) -> Iterator[tuple[str, str]]:
    """Each function of a file before and after a commit; '' where there is none."""
    before, after = _functions(file.path, file.before), _functions(file.path, file.after)
    for name in before | after:
        yield before.get(name, ""), after.get(name, "")


def _functions(path: str, data: bytes) -> dict[str, str]:
    return {t.qualname: t.source for t in functions.read(path, data) if t.kind == "function"}


def _forms(sources: Iterator[str]) -> dict[str, set[str]]:
    """The parameters of the functions of each name: their names, and which have defaults."""
    found: dict[str, set[str]] = {}
    for node in _nodes(*sources):
        if isinstance(node, _Definition):
            given = node.args
            parts = (given.posonlyargs, given.args, given.kwonlyargs, [given.vararg, given.kwarg])
            names = [arg and arg.arg for part in parts for arg in (*part, None)]
            needed = len(given.defaults), [one is None for one in given.kw_defaults]
            found.setdefault(node.name, set()).add(f"{names} {needed}")
    return found


def _is_adapted(name: str, before: str, after: str) -> bool:
    """Whether a function that is there before and after calls another one in another way."""
    old = _calls(before).get(name)
    return bool(after) and old is not None and old != _calls(after).get(name)


def _calls(source: str) -> dict[str, set[str]]:
    """What each name is called with."""
    found: dict[str, set[str]] = {}
    for node in _nodes(source):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):
            name = node.func.id if isinstance(node.func, ast.Name) else node.func.attr
            given = ", ".join(map(ast.unparse, (*node.args, *(k.value for k in node.keywords))))
            found.setdefault(name, set()).add(f"{given} {[k.arg for k in node.keywords]}")
    return found


def _nodes(*sources: str) -> Iterator[ast.AST]:
    for source in filter(None, sources):
        try:
            yield from ast.walk(guard.parse_part(source))
        except guard.SourceRejected:
            continue
