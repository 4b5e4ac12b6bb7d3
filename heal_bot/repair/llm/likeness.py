"""Whether two proposals are the same change in other words."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Collection, Sequence
from functools import lru_cache

from heal_bot.model import Attempt, Edit
from heal_bot.source import guard

# A judge that timed out or crashed said nothing about the change.
_UNJUDGED = frozenset({"timeout", "error"})
# How often a change is judged of which nothing is learned.
_MOST = 2


def twin(edits: Sequence[Edit], attempts: Sequence[Attempt]) -> Attempt | None:
    """The earlier attempt that proposed the same, whatever its layout and local names.

    None where no verdict on it said anything yet, as long as it may be judged again.
    """
    wanted = shape(edits)
    same = [a for a in attempts if a.candidate.edits and shape(a.candidate.edits) == wanted]
    judged = (a for a in same if a.verdict.measured and a.verdict.status not in _UNJUDGED)
    return next(judged, same[-1] if len(same) >= _MOST else None)


def open_again(attempts: Sequence[Attempt]) -> tuple[int, ...]:
    """The numbers of attempts that were not measured and may be proposed again."""
    return tuple(
        attempt.number
        for attempt in attempts
        if not attempt.verdict.measured and twin(attempt.candidate.edits, attempts) is None
    )


def given_up(attempts: Sequence[Attempt], proposers: Collection[str]) -> Attempt | None:
    """The newest attempt of these proposers where their last ones that passed were not measured."""
    cold = [
        attempt
        for attempt in attempts
        if attempt.candidate.proposer in proposers
        and (attempt.verdict.status == "unconfirmed" or not attempt.verdict.measured)
    ]
    last = cold[-_MOST:]
    lost = len(last) == _MOST and not any(attempt.verdict.measured for attempt in last)
    return last[-1] if lost else None


def shape(edits: Sequence[Edit]) -> frozenset[tuple[str, str, str, int, str]]:
    """What the edits make of each target and add to its file's imports.

    Of a target its syntax without comments, docstrings and local names.
    """
    made = {
        (e.target.path, e.target.qualname, e.target.kind, e.target.nth, normal(e.new_source))
        for e in edits
    }
    added = {(e.target.path, "", "import", 0, line) for e in edits for line in e.imports}
    return frozenset(made | added)


@lru_cache(maxsize=256)
def normal(source: str) -> str:
    """The normalised syntax of a definition; the bare text where it does not parse."""
    try:
        tree = guard.parse(textwrap.dedent(source))
    except guard.SourceRejected:
        return source.strip()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            _strip(node)
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            _rename(node)
    return ast.dump(tree)


def _strip(node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    """Drop the docstring and the annotations."""
    if len(node.body) > 1 and ast.get_docstring(node, clean=False) is not None:
        del node.body[0]
    node.returns = None
    for argument in ast.walk(node.args):
        if isinstance(argument, ast.arg):
            argument.annotation = None


def _rename(node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    """Number the names the function itself binds, in the order they appear."""
    kept = {argument.arg for argument in ast.walk(node) if isinstance(argument, ast.arg)}
    for inner in ast.walk(node):
        if isinstance(inner, ast.Global | ast.Nonlocal):
            kept.update(inner.names)
    names: dict[str, str] = {}
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
            names.setdefault(inner.id, f"_{len(names)}")
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name) and inner.id in names and inner.id not in kept:
            inner.id = names[inner.id]
