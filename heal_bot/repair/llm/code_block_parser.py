"""Code found in a model's prose: fences closed or not, and definitions without any."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass

from heal_bot.source import guard

MAX_REPLY = 400_000
_MAX_FENCES = 120
_MAX_TRIES = 300
_FENCE = re.compile(r"^[ \t>]{0,8}(?:`{3,}|~{3,})(.*)$")
THOUGHT = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)
# Comments, blank lines and imports, over several lines too.
_HEAD = re.compile(
    r"(?:[ \t]*(?:#[^\n]*)?\n"
    r"|[ \t]*(?:import|from)[ \t](?:[^\n(\\]|\\\n)*(?:\([^)]*\)[^\n]*)?\n)*"
)
_USEFUL = (
    ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Assign, ast.AnnAssign,
    ast.Import, ast.ImportFrom,
)  # fmt: skip
_START = re.compile(r"^([ \t]*)(?:@|async\s+def\b|def\b|class\b|import\b|from\b)")


@dataclass(frozen=True, slots=True)
class Snippet:
    """Python text that parses, with its tree; `fenced` unless it stood in the prose."""

    text: str
    tree: ast.Module
    fenced: bool

    @property
    def defines(self) -> bool:
        """Whether there is more in it than imports."""
        return not all(isinstance(n, ast.Import | ast.ImportFrom) for n in self.tree.body)


def find_snippets(reply: str) -> tuple[Snippet, ...]:
    """Every piece of a reply that parses and imports, defines or assigns something, in order.

    Each fence is tried with each possible end, so that a fence inside a docstring or a missing
    last one loses nothing; where no fence defines anything the definitions in the prose are taken.
    """
    lines = THOUGHT.sub("", reply).splitlines()
    fenced = tuple(_fenced(lines))
    return fenced if any(part.defines for part in fenced) else tuple(_bare(lines))


def find_prose(reply: str) -> str:
    """What a reply says outside its code, as the model wrote it."""
    kept: list[str] = []
    inside = False
    for line in THOUGHT.sub("", reply).splitlines():
        if _FENCE.match(line):
            inside = not inside
        elif not inside and not _START.match(line):
            kept.append(line)
    return "\n".join(kept).strip()


def _fenced(lines: list[str]) -> Iterator[Snippet]:
    marks = [n for n, line in enumerate(lines) if _FENCE.match(line)][:_MAX_FENCES]
    tries, place = 0, 0
    while place < len(marks) and tries < _MAX_TRIES:
        start = marks[place] + 1
        following = place + 1
        for after in range(place + 1, len(marks) + 1):
            tries += 1
            end = marks[after] if after < len(marks) else len(lines)
            found = _parsed(lines[start:end], fenced=True)
            if found is not None:
                yield found
                following = after + 1
                break
            if tries >= _MAX_TRIES:
                break
        place = following


def _bare(lines: list[str]) -> Iterator[Snippet]:
    """Blocks that start like a definition and go on while lines are blank or deeper."""
    number, tries = 0, 0
    while number < len(lines) and tries < _MAX_TRIES:
        match = _START.match(lines[number])
        if match is None:
            number += 1
            continue
        tries += 1
        end = _block_end(lines, number, len(match[1].expandtabs()))
        while end > number and (found := _parsed(lines[number:end], fenced=False)) is None:
            end -= 1
            tries += 1
            if tries >= _MAX_TRIES:
                return
        if end > number and found is not None:
            yield found
        number = max(end, number + 1)


def _block_end(lines: list[str], start: int, margin: int) -> int:
    header = True
    for number in range(start, len(lines)):
        line = lines[number]
        depth = len(line.expandtabs()) - len(line.expandtabs().lstrip())
        starts = _START.match(line) is not None
        if line.strip() and depth <= margin and not (header or starts):
            closes = line.strip()[0] in ")]}"
            if not closes:
                return number
        header = header and line.lstrip().startswith("@")
    return len(lines)


def _parsed(lines: list[str], *, fenced: bool) -> Snippet | None:
    text = outdent("\n".join(lines) + "\n")
    if not text.strip() or len(text) > MAX_REPLY:
        return None
    try:
        tree = guard.parse(text)
    except guard.SourceRejected:
        return None
    return Snippet(text, tree, fenced) if any(isinstance(n, _USEFUL) for n in tree.body) else None


def outdent(text: str) -> str:
    """The text at the margin: comments and imports first, then code by its first line's depth.

    A method is shown at its depth, and what an answer puts above it stands at the margin.
    """
    found = _HEAD.match(text)
    cut = found.end() if found else 0
    head, code = text[:cut], text[cut:]
    margin = code[: len(code) - len(code.lstrip(" \t"))]
    above = "".join(line.lstrip() or "\n" for line in head.splitlines(keepends=True))
    return above + "\n".join(line.removeprefix(margin) for line in code.split("\n"))


def indent(text: str, margin: str) -> str:
    """Code at the margin moved in by `margin`; lines inside strings stay, docstrings move too."""
    if not margin:
        return text
    fixed = _inside_strings(text)
    return "".join(
        line if number in fixed or not line.strip() else margin + line
        for number, line in enumerate(text.splitlines(keepends=True), 1)
    )


def respace(text: str, source: str) -> str:
    """Code with the tabs or blanks that another source is indented by, where it has but one."""
    used = {line[0] for line in source.splitlines() if line[:1] in {" ", "\t"}}
    indents = [line[: len(line) - len(line.lstrip(" \t"))] for line in text.splitlines()]
    if len(used) != 1 or used.issuperset("".join(indents)):
        return text
    fixed = _inside_strings(text)
    unit = min((len(one.expandtabs(4)) for one in indents if one), default=4)
    made = []
    for number, line in enumerate(text.splitlines(keepends=True), 1):
        indent = indents[number - 1]
        width = len(indent.expandtabs(4))
        new = " " * width if " " in used else "\t" * (width // unit) + " " * (width % unit)
        made.append(line if number in fixed else new + line.removeprefix(indent))
    return "".join(made)


def _inside_strings(text: str) -> set[int]:
    """Lines that begin within a string literal other than a docstring."""
    docstrings = {
        (node.body[0].lineno, node.body[0].col_offset)
        for node in ast.walk(guard.parse(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        and ast.get_docstring(node, clean=False) is not None
    }
    inside: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        whole = token.type == tokenize.STRING or tokenize.tok_name[token.type] == "FSTRING_MIDDLE"
        if whole and token.start not in docstrings:
            inside.update(range(token.start[0] + 1, token.end[0] + 1))
    return inside
