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
            old, new = _parse(edit.target.source), _parse(edit.new_source)
            at = None
            # A condition of a thousand terms is too deep to be compared.
            with contextlib.suppress(RecursionError):
                at = _changed(old, new) if old is not None and new is not None else None
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


def _changed(old: ast.Module, new: ast.Module) -> int | None:
    """The number of the condition that differs, when that is all."""
    before, after = _conditions(old), _conditions(new)
    if len(before) != len(after):
        return None
    apart = [
        at
        for at, (one, other) in enumerate(zip(before, after, strict=True))
        if ast.dump(one.test) != ast.dump(other.test)
    ]
    # An outer condition that holds a changed one differs too: the last is the innermost.
    for at in reversed(apart):
        if isinstance(after[at].test, ast.Constant):
            return None
        if _dumped(old, at) == _dumped(new, at):
            return at
    return None


@dataclass(frozen=True, slots=True)
class _Condition:
    """A test and where it hangs: a field of its owner, or one of the list there."""

    owner: ast.AST
    place: int | None

    @property
    def test(self) -> ast.expr:
        if self.place is None:
            return self.owner.test  # type: ignore[attr-defined,no-any-return]
        return self.owner.ifs[self.place]  # type: ignore[attr-defined,no-any-return]

    def put(self, test: ast.expr) -> None:
        if self.place is None:
            self.owner.test = test  # type: ignore[attr-defined]
        else:
            self.owner.ifs[self.place] = test  # type: ignore[attr-defined]


def _conditions(tree: ast.Module) -> list[_Condition]:
    found: list[_Condition] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.If | ast.While | ast.IfExp):
            found.append(_Condition(node, None))
        elif isinstance(node, ast.comprehension):
            found += (_Condition(node, at) for at in range(len(node.ifs)))
    return found


def _dumped(tree: ast.Module, at: int) -> str:
    """The tree with one condition left out."""
    condition = _conditions(tree)[at]
    test = condition.test
    condition.put(ast.Constant(True))
    try:
        return ast.dump(tree)
    finally:
        condition.put(test)


def _fixed(target: Target, at: int, value: bool) -> Candidate | None:
    """The target with a constant in the place of a condition; None where it is too deep."""
    try:
        tree = ast.parse(textwrap.dedent(target.source))
        _conditions(tree)[at].put(ast.Constant(value))
        code = ast.unparse(tree)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    text = textwrap.indent(code, functions.find_indentation(target.source)) + "\n"
    return Candidate((Edit(target, text),), "vacuity", "condition", f"always {value}")
