"""A model's reply turned into edits of the functions it was asked about."""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from heal_bot.core.errors import HealBotError
from heal_bot.core.model import Edit, Target
from heal_bot.core.text import Secret, hide_values, one_line, printable
from heal_bot.repair.llm import edit_blocks
from heal_bot.repair.llm.code_block_parser import (
    MAX_REPLY,
    Snippet,
    find_prose,
    find_snippets,
    indent,
    respace,
)
from heal_bot.repair.llm.shown_docstring import restore_docstring
from heal_bot.source import functions, guard, imports
from heal_bot.source.minimal_diff import minimise

_HEADER = re.compile(r"^\s*#\s*(?:(?P<path>[^\s:]+\.py)::)?(?P<name>[\w.<>]+)\s*$")
_STAND_IN = re.compile(r"\*\*\*|<U\+[0-9A-F]{4,6}>")
_Definition = ast.FunctionDef | ast.AsyncFunctionDef


class ReplyError(HealBotError):
    """A reply that cannot be used; the message tells the model why."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What a reply proposes: edits, all its reasons in a line, and whether salvage was needed."""

    edits: tuple[Edit, ...]
    rationale: str
    salvaged: bool


@dataclass(frozen=True, slots=True)
class _Found:
    """A definition or assignment in a snippet: its qualified name, header hint and lines."""

    qualname: str
    hint: str
    path: str
    node: ast.stmt
    snippet: Snippet


def parse_answer(
    reply: str,
    targets: Sequence[Target],
    texts: Mapping[str, str],
    secrets: Sequence[Secret] = (),
) -> Reading:
    """The edits of a reply to `targets` (best first); `texts` are their files.

    Functions may be whole or in blocks. Later definitions of a target replace earlier ones, since
    models correct themselves. Raises ReplyError with a reason for the model, also where one piece
    of several may not change: the rest of it would be judged as if it were the whole.
    """
    made, rest = replace_targets(reply, targets, secrets)
    parts = find_snippets(rest)
    if not parts and not made:
        raise ReplyError("no Python definition that parses was found in the reply")
    shared = tuple(line for part in parts if not part.defines for line in _imports(part.tree))
    chosen = {
        target: (source, (*_imports(_parsed(added)), *shared))
        for target, (source, added) in made.items()
    }
    strangers: list[str] = []
    for found in (item for part in parts for item in _definitions(part)):
        target = _target(found, targets)
        if target is None and found.path and found.hint.split(".")[-1] == _last(found):
            raise ReplyError(f"{found.path}::{found.hint} is no suspect, and no look opened it")
        if target is None:
            strangers.append(found.hint or found.qualname)
            continue
        wanted = (*_imports(found.snippet.tree), *shared)
        chosen[target] = (_source(found, target, secrets), wanted)
    if not chosen:
        names = one_line(", ".join(dict.fromkeys(strangers)), 200) or "nothing"
        raise ReplyError(f"the reply defines {names}, which is nothing that may change")
    edits = _edits(chosen, texts, exact=made)
    if not edits:
        raise ReplyError("the proposed code is the same as the current code")
    salvaged = any(not part.fenced for part in parts) or reply.count("```") % 2 == 1
    return Reading(edits, " ".join(find_prose(rest).split()), salvaged)


def replace_targets(
    reply: str, targets: Sequence[Target], secrets: Sequence[Secret]
) -> tuple[dict[Target, tuple[str, str]], str]:
    """What the blocks of a reply make of their targets, with imports; and the rest of the reply."""
    if len(reply) > MAX_REPLY:
        raise ReplyError(f"the reply has {len(reply)} characters; send only changed functions")
    try:
        found, rest = edit_blocks.split_blocks(reply)
        made = edit_blocks.apply_blocks(found, targets, secrets)
    except edit_blocks.BlockError as error:
        raise ReplyError(str(error)) from error
    return {
        t: (restore_lines(restore_docstring(source, t.source), t, secrets), more)
        for t, (source, more) in made.items()
    }, rest


def _edits(
    chosen: Mapping[Target, tuple[str, tuple[str, ...]]],
    texts: Mapping[str, str],
    exact: Container[Target],
) -> tuple[Edit, ...]:
    """The functions that change; where none does, those whose file lacks an import they use.

    What came in blocks is `exact`: it says itself which lines change.
    """

    def edit(target: Target, source: str) -> Edit:
        wanted = chosen[target][1]
        return Edit(target, source, _missing(source, wanted, texts[target.path]))

    changed = tuple(
        edit(target, source if target in exact else minimise(target.source, source))
        for target, (source, _) in chosen.items()
        if not _same(source, target.source)
    )
    return changed or tuple(e for t in chosen if (e := edit(t, t.source)).imports)


def _missing(source: str, wanted: Sequence[str], text: str) -> tuple[str, ...]:
    """Of the imports wanted those that the source uses and the file does not have."""
    tree = _parsed(_at_margin(source))
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    needed = tuple(line for line in wanted if imports.name_bound(line) in used)
    try:
        return imports.find_missing(text, needed) if needed else ()
    except guard.SourceRejected as error:
        raise ReplyError(f"an import cannot be added: {error}") from error


def _parsed(text: str) -> ast.Module:
    try:
        return guard.parse(text)
    except guard.SourceRejected as error:
        raise ReplyError(f"the code does not parse with the blocks put in: {error}") from error


def _definitions(part: Snippet) -> Iterator[_Found]:
    """Functions, methods and assignments of a snippet, with the header comment above them."""
    lines = part.text.splitlines()
    matches = [_HEADER.match(line) for line in lines]

    def hint(node: ast.stmt) -> tuple[str, str]:
        above = [match for match in matches[: functions.first_line(node) - 1] if match]
        return (above[-1]["name"], above[-1]["path"] or "") if above else ("", "")

    def walk(body: Sequence[ast.stmt], prefix: str) -> Iterator[_Found]:
        for node in body:
            if isinstance(node, _Definition):
                yield _Found(prefix + node.name, *hint(node), node, part)
            elif isinstance(node, ast.ClassDef):
                yield from walk(node.body, f"{prefix}{node.name}.")
            elif isinstance(node, ast.Assign | ast.AnnAssign):
                first = node.targets[0] if isinstance(node, ast.Assign) else node.target
                if isinstance(first, ast.Name) and node.value is not None:
                    yield _Found(prefix + first.id, *hint(node), node, part)

    yield from walk(part.tree.body, "")


def _target(found: _Found, targets: Sequence[Target]) -> Target | None:
    """The target a definition is meant for: by its header, its place in a class, its likeness."""
    function = isinstance(found.node, _Definition)
    name = found.qualname.rpartition(".")[2]
    fitting = [
        target
        for target in targets
        if (target.kind == "function") == function and _last(target) == name
    ]
    for qualname in (found.hint, found.qualname):
        exact = [
            target
            for target in fitting
            if target.qualname == qualname and (not found.path or target.path == found.path)
        ]
        if exact:
            return _likest(found, exact)
    if "." in found.qualname:
        ending = [t for t in fitting if t.qualname.endswith(f".{found.qualname}")]
        return _likest(found, ending) if ending else None
    # A method shown on its own, as in the prompt; an assignment must name its class.
    return _likest(found, fitting) if fitting and function and not found.path else None


def _likest(found: _Found, targets: Sequence[Target]) -> Target:
    """The target whose text the definition resembles most; the better ranked of equals."""
    if len(targets) == 1:
        return targets[0]
    text = _segment(found)
    return max(targets, key=lambda t: difflib.SequenceMatcher(None, t.source, text, False).ratio())


def _source(found: _Found, target: Target, secrets: Sequence[Secret]) -> str:
    """The definition as it goes into the file: decorators kept, indented, secrets restored."""
    text = respace(_segment(found), target.source)
    margin = _margin(target.source)
    node = found.node
    if isinstance(node, _Definition) and not node.decorator_list:
        text = _decorators(target) + text
    whole = restore_docstring(indent(text, margin), target.source)
    return restore_lines(whole, target, secrets)


def _segment(found: _Found) -> str:
    lines = found.snippet.text.splitlines(keepends=True)
    text = "".join(lines[functions.first_line(found.node) - 1 : found.node.end_lineno])
    body = _at_margin(text)
    return body if body.endswith("\n") else f"{body}\n"


def _decorators(target: Target) -> str:
    """The decorator lines of a target, at the margin."""
    node = functions.parse_function(target.source)
    if node is None or not node.decorator_list:
        return ""
    return "".join(_at_margin(target.source).splitlines(keepends=True)[: node.lineno - 1])


def restore_lines(source: str, target: Target, secrets: Sequence[Secret]) -> str:
    """Lines that came back as they were shown, as they were; ReplyError for any other.

    Shown otherwise than they are were lines with a secret or what nobody sees.
    """
    old = target.source.replace("\r\n", "\n").split("\n")
    shown = ((printable(hide_values(line, secrets)), line) for line in old)
    hidden = {seen.strip(): line.strip() for seen, line in shown if seen != line}
    if not hidden:
        return source
    lines = [
        line.replace(line.strip(), hidden.get(line.strip(), line.strip()))
        for line in source.splitlines(keepends=True)
    ]
    for mark in _STAND_IN.findall("".join(lines)):
        if mark not in target.source:
            raise ReplyError(
                f"the code contains {mark} in place of a hidden value; leave that line alone"
            )
    return "".join(lines)


def _imports(tree: ast.Module) -> tuple[str, ...]:
    """Module-level imports of a snippet, one name per statement."""
    found = dict.fromkeys(imports.split_imports(tree.body))
    return tuple(line for line in found if not line.startswith("from __future__ "))


def _last(named: Target | _Found) -> str:
    return named.qualname.rpartition(".")[2]


def _margin(source: str) -> str:
    return source[: len(source) - len(source.lstrip(" \t"))]


def _at_margin(source: str) -> str:
    margin = _margin(source)
    return "".join(line.removeprefix(margin) for line in source.splitlines(keepends=True))


def _same(new: str, old: str) -> bool:
    try:
        return _syntax(new) == _syntax(old)
    except guard.SourceRejected:
        return new == old


@lru_cache(maxsize=64)
def _syntax(source: str) -> str:
    return ast.dump(guard.parse(_at_margin(source)))
