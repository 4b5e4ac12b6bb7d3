"""Whether edits take back what a commit did: each is held against both versions of its file."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from heal_bot.core.model import ChangedFile, Edit, Target
from heal_bot.source import functions, guard, line_targets
from heal_bot.source.imports import find_missing, split_imports
from heal_bot.source.parsed_version import parse_code
from heal_bot.source.restored_definitions import drop_lines, find_added, is_restored

_IMPORTS = ast.Import | ast.ImportFrom


def explain_refusal(edits: Iterable[Edit], files: Iterable[ChangedFile], sha: str) -> str:
    """Why edits of others do not take back what a commit did to these files; '' where they do.

    Each has to lead from the code of its target as the commit left it to what that was before.
    """
    known = {file.path: file for file in files}
    for one in edits:
        target = one.target
        try:
            file = known[target.path]
            before, after = (guard.check_text(data) for data in (file.before, file.after))
            put_back = (
                _moves_lines(one, before, after)
                if target.kind == line_targets.KIND
                else [_version(target, text) for text in (before, after)]
                == [_code(one.new_source), _code(target.source)]
            ) and not find_missing(before, one.imports)
        except (guard.SourceRejected, KeyError, SyntaxError):
            put_back = False
        if not put_back:
            name = f"{target.path}::{target.qualname}"
            return f"{name} is not put back as it was before {sha}; by hand: git revert {sha}"
    return ""


def explain_others(edits: Iterable[Edit], files: Sequence[ChangedFile], sha: str, most: int) -> str:
    """Why more than `most` edits do not take back what a commit did; '' where fewer do not."""
    refusals = [reason for one in edits if (reason := explain_refusal([one], files, sha))]
    return refusals[0] if len(refusals) > most else ""


def _moves_lines(one: Edit, before: str, after: str) -> bool:
    """Whether lines are imports, of which those come that a commit took and those go it brought.

    Or they get functions beside them that it took away. In a file that did not parse after it they
    are any lines, of which each stood there.
    """
    if one.target.source in one.new_source and one.target.source in after:
        text = after.replace(one.target.source, one.new_source, 1)
        added = find_added(after, text, one.target.path)
        alike = (is_restored(target, before.encode()) for target in added)
        if added and all(alike) and _list_code(drop_lines(text, added)) == _list_code(after):
            return True
    try:
        guard.parse(after)
    except guard.SourceRejected:
        return one.target.source in after and one.new_source in before
    new, old, was, now = map(guard.parse, (one.new_source, one.target.source, before, after))
    if not all(isinstance(node, _IMPORTS) for node in (*new.body, *old.body)):
        return False
    come, gone, lost, brought = (
        set(split_imports(a.body)) - set(split_imports(b.body))
        for a, b in ((new, old), (old, new), (was, now), (now, was))
    )
    return come <= lost and gone <= brought


def _list_code(text: str) -> list[str]:
    """The lines of a text that are not blank."""
    return [line for line in text.splitlines() if line.strip()]


def _version(target: Target, text: str) -> str:
    """The code of a target in another version of its file; '' without it."""
    found = functions.find_same(target, functions.index_targets(target.path, text))
    return _code(found.source) if found else ""


def _code(source: str) -> str:
    """The tree of a target, in which comments, docstrings and layout are nothing."""
    return ast.dump(
        parse_code(f"if 1:\n{source}" if functions.find_indentation(source) else source)
    )
