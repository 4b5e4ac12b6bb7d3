"""Conditions that a change makes decide nothing: `if place not in seen` to `if cost not in seen`.

A condition that told calls apart and is now always true, or always false, on all of them was
taken out of the program in disguise. To see it, the condition itself is replaced by `True` and by
`False`, and what that does is compared with what the change does.
"""

from __future__ import annotations

import ast
import contextlib
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

from heal_bot.core.model import Attempt, Candidate, Edit, Target
from heal_bot.repair.ranking.behavioral_diff import Key, is_same
from heal_bot.source import functions

_PROBES = 4
_SIZE = 20_000


@dataclass(frozen=True, slots=True)
class Probe:
    """A condition with the patches, by number, that change nothing else; and without it."""

    members: frozenset[int]
    always: Candidate
    never: Candidate

    def vacuous(
        self,
        unchanged: Key,
        rows: Sequence[Key],
        always: Key,
        never: Key,
    ) -> frozenset[int]:
        """The members after which the condition decides nothing, though it did before.

        Each argument is what a program does on all calls, empty where that is not known; `rows`
        are those of the patches.
        """
        if not (unchanged and always and never):
            return frozenset()
        if is_same(unchanged, always) or is_same(unchanged, never):
            return frozenset()
        return frozenset(
            at for at in self.members if is_same(rows[at], always) or is_same(rows[at], never)
        )


def find_probes(fixes: Sequence[Attempt]) -> tuple[Probe, ...]:
    """The conditions that the patches change, those of most patches first."""
    found: list[Probe] = []
    for target, at, members in _find_places(fixes)[:_PROBES]:
        always, never = _fixed(target, at, True), _fixed(target, at, False)
        if always is not None and never is not None:
            found.append(Probe(members, always, never))
    return tuple(found)


def _find_places(fixes: Sequence[Attempt]) -> list[tuple[Target, int, frozenset[int]]]:
    """(function, number of the condition, numbers of the patches), those of most patches first."""
    found: dict[tuple[Target, int], set[int]] = {}
    for number, fix in enumerate(fixes):
        for edit in fix.candidate.edits if len(fix.candidate.edits) == 1 else ():
            at = None
            # A condition of a thousand terms is too deep to be compared.
            with contextlib.suppress(RecursionError):
                at = _changed(edit.target.source, edit.new_source)
            if at is not None:
                found.setdefault((edit.target, at), set()).add(number)
    ranked = sorted(found.items(), key=lambda item: (-len(item[1]), min(item[1])))
    return [(target, at, frozenset(members)) for (target, at), members in ranked]


def _parse(source: str) -> ast.Module | None:
    """The tree of a function's source; None where it is long or no Python of ours."""
    if len(source) > _SIZE:
        return None
    try:
        return ast.parse(textwrap.dedent(source))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _changed(old: str, new: str) -> int | None:
    """The number of the condition that differs, when that is all."""
    one, other = _parse(old), _parse(new)
    if one is None or other is None:
        return None
    before, after = _conditions(one), _conditions(other)
    if len(before) != len(after):
        return None
    pairs = enumerate(zip(before, after, strict=True))
    apart = [at for at, (was, now) in pairs if ast.dump(was) != ast.dump(now)]
    # An outer condition that holds a changed one differs too: the last is the innermost.
    for at in reversed(apart):
        if isinstance(after[at], ast.Constant):
            return None
        if ast.dump(_put(old, at, True)) == ast.dump(_put(new, at, True)):
            return at
    return None


def _conditions(tree: ast.Module) -> list[ast.expr]:
    found: list[ast.expr] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.If | ast.While | ast.IfExp):
            found.append(node.test)
        elif isinstance(node, ast.comprehension):
            found += node.ifs
    return found


class _Constant(ast.NodeTransformer):
    """Puts a constant in the place of one node."""

    def __init__(self, node: ast.expr, value: bool) -> None:
        self.node, self.value = node, value

    def visit(self, node: ast.AST) -> ast.AST:
        return ast.Constant(self.value) if node is self.node else self.generic_visit(node)


def _put(source: str, at: int, value: bool) -> ast.AST:
    """The tree of a source with a constant in the place of a condition."""
    tree = ast.parse(textwrap.dedent(source))
    return _Constant(_conditions(tree)[at], value).visit(tree)


def _fixed(target: Target, at: int, value: bool) -> Candidate | None:
    """The target with a constant in the place of a condition; None where it is too deep."""
    try:
        code = ast.unparse(_put(target.source, at, value))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    text = textwrap.indent(code, functions.find_indentation(target.source)) + "\n"
    return Candidate((Edit(target, text),), "vacuity", "condition", f"always {value}")
