"""Functions that a commit took out of a file, put back beside those that are there."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from heal_bot.core.model import Target
from heal_bot.ports import Tree
from heal_bot.source import definitions, functions, guard, line_targets
from heal_bot.source.tree_diff import Part


def place_definition(
    part: Part, target: Target, path: str, text: str
) -> tuple[Target, Part] | None:
    """A part that puts a function before or after another one, as a change of the line beside it.

    None for a part that belongs into the function, or is no function.
    """
    size = len(target.source.encode("utf-8", "surrogatepass"))
    if part.start != part.end or part.start not in {0, size} or not _is_function(part, target):
        return None
    first = part.start == 0
    line = target.first_line if first else target.last_line
    beside = line_targets.make_target(path, text, line, line)
    if beside is None:
        return None
    code = part.before.rstrip() + b"\n"
    gap = b"\n" if part.before[:1].isspace() else b"\n\n"
    at = 0 if first else len(beside.source.encode("utf-8", "surrogatepass"))
    return beside, Part(at, at, code + gap if first else gap + code, atomic=True)


def _is_function(part: Part, target: Target) -> bool:
    """Whether a part is one function or more, and none inside another."""
    source = part.before.decode("utf-8", "surrogatepass")
    try:
        body = guard.parse_part(source).body
    except guard.SourceRejected:
        return False
    indented = functions.find_indentation(source)
    if indented and len(body) == 1 and isinstance(body[0], ast.If):
        body = body[0].body
    beside = functions.find_indentation(target.source).startswith(indented)
    return beside and all(isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef) for n in body)


def find_added(text: str, after: str, path: str) -> tuple[Target, ...]:
    """The functions that only the later text has, without those inside them.

    None where one of the texts cannot be read.
    """
    try:
        known = {_address(target) for target in functions.index_targets(path, text)}
        later = functions.index_targets(path, after)
    except guard.SourceRejected:
        return ()
    fresh = [t for t in later if t.kind == "function" and _address(t) not in known]
    names = {target.qualname for target in fresh}
    return tuple(t for t in fresh if t.qualname.rpartition(".<locals>.")[0] not in names)


def _address(target: Target) -> tuple[str, str, int]:
    return target.qualname, target.kind, target.nth


def read_former(target: Target, tree: Tree) -> bytes:
    """The file before the commits under test, or before one took a function away, that has it so.

    b"" where none has the function as it is here.
    """
    former = tree.former(target.path) or b""
    if is_restored(target, former):
        return former
    removal = tree.removal(target.path, target.qualname.rpartition(".")[2])
    return removal.before if removal and is_restored(target, removal.before) else b""


def _means_the_same(target: Target, former: bytes, text: str) -> bool:
    """Whether what a function takes from imports is bound to the same in both versions."""
    was = definitions.read(former.decode("utf-8", "surrogatepass")).imports
    now = definitions.read(text).imports
    names = {node.id for node in ast.walk(guard.parse_part(target.source))
             if isinstance(node, ast.Name)}  # fmt: skip
    return all(
        _origin(*was[name]) == _origin(*now[name]) for name in names & was.keys() & now.keys()
    )


def _origin(node: ast.Import | ast.ImportFrom, alias: ast.alias) -> tuple[str | None, int, str]:
    if isinstance(node, ast.ImportFrom):
        return node.module, node.level, alias.name
    return None, 0, alias.name if alias.asname else alias.name.partition(".")[0]


def list_restored(text: str, after: str, path: str, tree: Tree) -> tuple[Target, ...]:
    """The functions that only the later text has, each as it was in the history of the file."""
    found = ((one, read_former(one, tree)) for one in find_added(text, after, path))
    return tuple(one for one, former in found if former and _means_the_same(one, former, after))


def is_restored(target: Target, former: bytes) -> bool:
    """Whether a function has the code that it had in another version of its file."""
    old = functions.find_same(target, functions.read(target.path, former))
    return old is not None and old.source.rstrip() == target.source.rstrip()


def drop_lines(text: str, targets: Sequence[Target]) -> str:
    """A text without the lines of some of its functions."""
    gone = {n for target in targets for n in range(target.first_line, target.last_line + 1)}
    lines = functions.split_lines(text)
    return "".join(line for number, line in enumerate(lines, 1) if number not in gone)
