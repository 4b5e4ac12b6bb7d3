"""Search/replace blocks of a reply: exact, salvaged only where white space differs."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from heal_bot.core.model import Target
from heal_bot.core.text import Secret, hide_values, one_line, printable
from heal_bot.source import functions

_SEARCH = re.compile(r"^ {0,3}<{7} ?SEARCH\b")
_MIDDLE = re.compile(r"^ {0,3}={7}\s*$")
_REPLACE = re.compile(r"^ {0,3}>{7} ?REPLACE\b")
_HEADER = re.compile(r"^\s*#\s*(?P<path>[^\s:]+\.py)(?:::(?P<name>[\w.<>]+(?: [\d-]+)?))?\s*$")
_IMPORT = re.compile(r"^\s*(?:import|from)\s")
_SHOWN = 8
# Characters of a line by which it is compared.
_WIDE = 200


class BlockError(ValueError):
    """A block that does not fit; the message says where it nearly does."""


@dataclass(frozen=True, slots=True)
class Block:
    """Lines to find and lines to put there; the heading above, and imports between."""

    path: str
    name: str
    search: tuple[str, ...]
    replace: tuple[str, ...]
    imports: str


def split_blocks(reply: str) -> tuple[tuple[Block, ...], str]:
    """The blocks of a reply, and the reply without them and their headings."""
    blocks: list[Block] = []
    rest: list[str] = []
    head: tuple[str, str] = ("", "")
    parts: list[list[str]] | None = None
    for line in reply.splitlines():
        if parts is None:
            if _SEARCH.match(line):
                wanted = []
                while rest and (_IMPORT.match(rest[-1]) or _HEADER.match(rest[-1])):
                    wanted.append(rest.pop())
                imports = "\n".join(one.strip() for one in wanted if _IMPORT.match(one))
                parts = [[]]
                continue
            if found := _HEADER.match(line):
                head = (found["path"], found["name"] or "")
            rest.append(line)
        elif len(parts) == 1 and _MIDDLE.match(line):
            parts.append([])
        elif len(parts) == 2 and _REPLACE.match(line):
            blocks.append(Block(*head, tuple(parts[0]), tuple(parts[1]), imports))
            parts = None
        else:
            parts[-1].append(line)
    if parts is not None:
        raise BlockError("a block has no end: <<<<<<< SEARCH, =======, >>>>>>> REPLACE")
    return tuple(blocks), "\n".join(rest)


def list_headings(reply: str) -> tuple[tuple[str, str], ...]:
    """Paths and names of the pieces that a reply is headed to change."""
    found = filter(None, map(_HEADER.match, reply.splitlines()))
    return tuple(dict.fromkeys((one["path"], one["name"]) for one in found if one["name"]))


def apply_blocks(
    blocks: Sequence[Block], targets: Sequence[Target], secrets: Sequence[Secret] = ()
) -> Mapping[Target, tuple[str, str]]:
    """What the blocks make of the targets they are in: the new source, and imports for it.

    BlockError where one fits nowhere, or more than once.
    """
    made: dict[Target, tuple[str, str]] = {}
    for number, block in enumerate(blocks, 1):
        scope = [t for t in targets if block.path in {"", t.path}]
        if block.name:
            scope = [t for t in scope if t.qualname == block.name] or scope
        if not any(line.strip() for line in block.search):
            raise BlockError(f"block {number} searches for nothing: repeat the lines it changes")
        places: dict[tuple[str, int], tuple[Target, int]] = {}
        # What was changed already comes first: of targets within each other one alone may change.
        for target in sorted(scope, key=lambda one: one not in made):
            rows = _rows(made, target)
            for at in _found(block.search, rows, secrets):
                places.setdefault((target.path, target.first_line + at), (target, at))
        if len(places) != 1:
            raise BlockError(_refusal(number, block, scope, [*places], secrets))
        ((target, at),) = places.values()
        rows = _rows(made, target)
        kept = rows[at : at + len(block.search)]
        new = _respaced(block, kept, rows, secrets)
        source = "".join((*rows[:at], *new, *rows[at + len(kept) :]))
        imports = "\n".join(filter(None, [made.get(target, ("", ""))[1], block.imports]))
        made[target] = (source, imports)
    return made


def _rows(made: Mapping[Target, tuple[str, str]], target: Target) -> tuple[str, ...]:
    return functions.split_lines(made[target][0] if target in made else target.source)


def _found(search: Sequence[str], rows: Sequence[str], secrets: Sequence[Secret]) -> list[int]:
    """Where the lines are: exactly, else but for white space."""
    ends = range(len(rows) - len(search) + 1)
    shown = [_shown(row, secrets) for row in rows]
    exact = [at for at in ends if shown[at : at + len(search)] == [*search]]
    if exact:
        return exact
    loose, wanted = [_key(row) for row in shown], [_key(row) for row in search]
    return [at for at in ends if loose[at : at + len(search)] == wanted]


def _shown(row: str, secrets: Sequence[Secret]) -> str:
    """A line as the model saw it."""
    return printable(hide_values(row.rstrip("\r\n"), secrets))


def _key(line: str) -> str:
    return " ".join(line.split())


def _respaced(
    block: Block, kept: Sequence[str], rows: Sequence[str], secrets: Sequence[Secret]
) -> list[str]:
    """The new lines, indented as the file is; those that stay are the file's."""
    end = next((row[len(row.rstrip("\r\n")) :] for row in rows if row.strip()), "\n") or "\n"
    used = {letter for row in rows for letter in _indent(row)} or {" "}
    exact = [*block.search] == [_shown(row, secrets) for row in kept]
    if exact and used.issuperset("".join(map(_indent, block.replace))):
        return [line + end for line in block.replace]
    pairs = [(w, row) for w, row in zip(block.search, kept, strict=True) if w.strip()]
    same = {_key(wrote): row.strip() for wrote, row in pairs}
    known = {_indent(wrote): _indent(row) for wrote, row in pairs}
    new = []
    for line in block.replace:
        indent = _indent(line)
        # The nearest indentation that both have, and the difference in blanks.
        near = min(known, key=lambda one: abs(_width(indent) - _width(one)))
        width = max(0, _width(known[near]) + _width(indent) - _width(near))
        spaced = known.get(indent, "\t" * (width // 4) if "\t" in used else " " * width)
        new.append((spaced + same.get(_key(line), line.strip())).rstrip() + end)
    return new


def _width(indent: str) -> int:
    return len(indent.expandtabs(4))


def _indent(line: str) -> str:
    bare = line.rstrip("\r\n")
    return bare[: len(bare) - len(bare.lstrip(" \t"))]


def _refusal(
    number: int,
    block: Block,
    scope: Sequence[Target],
    places: Sequence[tuple[str, int]],
    secrets: Sequence[Secret],
) -> str:
    """How often a block fits, and where or what comes nearest to it."""
    where = f"{block.path}::{block.name}".strip(":") or "what is shown"
    if places:
        lines = ", ".join(f"{path} line {line}" for path, line in places[:5])
        return (
            f"the search of block {number} fits {len(places)} times in {where} ({lines}): add"
            " lines around it until it fits once"
        )
    wanted = [_key(line)[:_WIDE] for line in block.search[:_SHOWN]]
    best, near = 0.0, ""
    for target in scope:
        rows = [_shown(row, secrets) for row in functions.split_lines(target.source)]
        for at in range(max(1, len(rows) - len(block.search) + 1)):
            part = rows[at : at + len(block.search)]
            # Line by line: the time of one comparison of all text grows with its square.
            pairs = zip(wanted, map(_key, part), strict=False)
            alike = sum(
                difflib.SequenceMatcher(None, one, other[:_WIDE], False).ratio()
                for one, other in pairs
            )
            if alike > best:
                best = alike
                near = f"{target.path} line {target.first_line + at}:\n" + "\n".join(part[:_SHOWN])
    if not near:
        first = one_line(block.search[0], 120)
        return f"the search of block {number} ({first}) fits nowhere: {where} is not shown"
    return f"the search of block {number} fits nowhere in {where}; the nearest lines are {near}"
