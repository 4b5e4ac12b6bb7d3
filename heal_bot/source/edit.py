"""Edits applied to text: exact splices, patched files, unified diffs."""

from __future__ import annotations

import difflib
import hashlib
import io
import itertools
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import lru_cache

from heal_bot.core.errors import HealBotError
from heal_bot.core.model import Edit, PatchedFile
from heal_bot.ports import Tree
from heal_bot.source import functions, guard, imports
from heal_bot.source import line_targets as spans


class EditError(HealBotError):
    """An edit that cannot be applied; the message names the target and why."""


def splice(text: str, edits: Sequence[Edit]) -> str:
    """The text with each edit's target lines replaced and missing imports added.

    Everything outside the targets' lines stays byte for byte; new lines end as the file's lines
    do. Raises EditError when a target does not hold its source any more, when two edits overlap,
    when an import would rebind a name, or when Python would read another text than the one made.
    """
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    lines = _replace_targets(text.removeprefix(mark), edits)
    added = find_added_imports(text, edits)
    if added := tuple(one for one in added if not imports.join_line(lines, one)):
        place = imports.find_place("".join(lines))
        newline = _newline(functions.split_lines(text))
        lines[place:place] = _import_lines(lines, place, added, newline)
    made = mark + "".join(lines)
    # With another encoding in its first lines a comment could be code.
    if guard.decode(made.encode("utf-8", "surrogatepass")) != made:
        raise EditError("the file would name an encoding in which it is another text")
    return made


def find_added_imports(text: str, edits: Sequence[Edit]) -> tuple[str, ...]:
    """The imports that edits bring to a text, beside those that stand in their new sources."""
    wanted = tuple(line for edit in edits for line in edit.imports)
    return imports.find_missing("".join(_replace_targets(text, edits)), wanted) if wanted else ()


def _replace_targets(text: str, edits: Sequence[Edit]) -> list[str]:
    """The lines of a text in which each target has its new source."""
    lines = list(functions.split_lines(text.removeprefix("\ufeff")))
    newline = _newline(lines)
    ordered = sorted(edits, key=lambda edit: edit.target.first_line)
    for before, after in itertools.pairwise(ordered):
        if after.target.first_line <= before.target.last_line:
            raise EditError(
                f"edits overlap: {before.target.qualname} and {after.target.qualname}"
                f" in {after.target.path}; put both changes into the outer one"
            )
    for edit in reversed(ordered):
        target = edit.target
        if "".join(lines[target.first_line - 1 : target.last_line]) != target.source:
            raise EditError(
                f"{target.path}: {target.qualname} is not in lines"
                f" {target.first_line}-{target.last_line} any more; index the file again"
            )
        lines[target.first_line - 1 : target.last_line] = _replacement(edit, newline)
    return lines


def patch_files(tree: Tree, edits: Iterable[Edit]) -> tuple[PatchedFile, ...]:
    """The files of the tree that edits change, by path; EditError when they cannot be made."""
    by_path: defaultdict[str, list[Edit]] = defaultdict(list)
    for edit in edits:
        by_path[edit.target.path].append(edit)
    files = []
    for path, mine in sorted(by_path.items()):
        old = text_of(tree, path)
        new = splice(old, mine)
        if new != old:
            files.append(PatchedFile(path, tree.blob(path), new))
    return tuple(files)


def text_of(tree: Tree, path: str) -> str:
    """A file of the tree as text that encodes to the same bytes in UTF-8.

    Raises EditError for a file the tree does not have or that is not UTF-8: patched files are
    written as UTF-8, and SourceRejected for one beyond the caps.
    """
    try:
        data = tree.read(path)
    except KeyError as error:
        raise EditError(f"{path} is not in commit {tree.sha[:12]}; index that commit") from error
    try:
        text, same = _decoded(data)
    except guard.SourceRejected as error:
        raise guard.SourceRejected(f"{path}: {error}") from error
    if not same:
        raise EditError(f"{path} is not UTF-8; only UTF-8 sources are changed")
    return text


def diff(path: str, old: str, new: str) -> str:
    """The change as a unified diff that `git apply` accepts; empty when there is none.

    Lines end at newlines alone, as git counts them, so a carriage return is part of its line.
    """
    if old == new:
        return ""
    before, after = _quoted(f"a/{path}"), _quoted(f"b/{path}")
    body = difflib.unified_diff([*io.StringIO(old)], [*io.StringIO(new)], before, after)
    text = "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in body
    )
    return f"diff --git {before} {after}\n{text}"


def diff_all(tree: Tree, files: Iterable[PatchedFile]) -> str:
    """The diffs of all files against the tree, one after the other."""
    return "".join(
        diff(file.path, text_of(tree, file.path), file.content)
        for file in sorted(files, key=lambda file: file.path)
    )


@lru_cache(maxsize=256)
def _decoded(data: bytes) -> tuple[str, bool]:
    """The checked text, and whether it encodes to the same bytes in UTF-8."""
    text = guard.check_text(data)
    return text, text.encode("utf-8", "surrogatepass") == data


def _replacement(edit: Edit, newline: str) -> list[str]:
    """The new source as lines with the file's line end, and the old state of the last one."""
    old, new = edit.target.source, edit.new_source
    if not new.strip():
        raise EditError(f"{edit.target.qualname} would be removed; only changes are made")
    moved = functions.find_indentation(old) != functions.find_indentation(new)
    if moved and edit.target.kind != spans.KIND:
        raise EditError(
            f"{edit.target.qualname} starts at indentation {functions.find_indentation(old)!r},"
            f" its new source at {functions.find_indentation(new)!r}"
        )
    bare = [line.rstrip("\r\n") for line in functions.split_lines(new)]
    while not bare[-1].strip():
        bare.pop()
    ended = [line + newline for line in bare]
    if not old.endswith(("\n", "\r")):
        ended[-1] = bare[-1]
    return ended


def _import_lines(
    lines: Sequence[str], place: int, added: Sequence[str], newline: str
) -> list[str]:
    """The import lines for that place, set apart from code that is no import."""
    block = [line + newline for line in added]
    before = lines[place - 1] if place else newline
    if not before.endswith(("\n", "\r")):
        block[0] = newline + block[0]
    elif before.strip() and not before.startswith(("import ", "from ")) and _ends_docstring(before):
        block.insert(0, newline)
    after = lines[place] if place < len(lines) else newline
    if after.strip() and not after.startswith(("import ", "from ")):
        block.append(newline)
    return block


def _ends_docstring(line: str) -> bool:
    return line.rstrip().endswith(('"', "'"))


def _newline(lines: Sequence[str]) -> str:
    """The line end most lines have; a newline for a text without any."""
    ends = [line[len(line.rstrip("\r\n")) :] for line in lines]
    return max(("\n", "\r\n", "\r"), key=ends.count)


def _quoted(name: str) -> str:
    """A path as git writes it in diffs: C-quoted where it holds anything unusual."""
    if all(" " <= char <= "~" and char not in '"\\' for char in name):
        return name
    escapes = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}
    octal = (
        escapes.get(chr(byte), chr(byte)) if byte < 128 else f"\\{byte:03o}"
        for byte in name.encode("utf-8", "surrogateescape")
    )
    return '"' + "".join(octal) + '"'


_SHA1_DIGITS = 40


def blob_id(data: bytes, like: str) -> str:
    """The blob id of `data`, by the hash that made the id `like`: SHA-256 where it is longer."""
    digest = hashlib.sha256 if len(like) > _SHA1_DIGITS else hashlib.sha1
    return digest(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()
