"""What a function has to take back: `path.append(name)` before it calls itself, `path.pop()` after.

A container of the caller that grows before a recursion and never shrinks, and a number that is
counted up: 2.2 after the last recursion of the block, 2.6 as its last statement.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from heal_bot.repair.templates.mutation_context import MutationContext
from heal_bot.repair.templates.statement_insertion import after
from heal_bot.repair.templates.text_edits import Mutation
from heal_bot.source.definitions import Function

_AFTER, _LAST = 2.2, 2.6
_BACK = {"append": "pop()", "add": "discard({})", "appendleft": "popleft()"}


def backtracks(scope: MutationContext) -> Iterator[Mutation]:
    """What a recursion found in its way is gone after it."""
    site, function = scope.site, scope.site.function
    if function is None:
        return
    taken = {ast.unparse(n.func) for n in site.each(ast.Call)}
    for block in site.blocks():
        for at, statement in enumerate(block):
            back, undone = _back(statement)
            if not back or undone in taken:
                continue
            name = _around(scope, statement) or function.name
            later = [s for s in block[at + 1 :] if _recurs(s, name)]
            for anchor, cost in {block[-1]: _LAST, later[-1]: _AFTER}.items() if later else ():
                if isinstance(anchor, ast.Return | ast.Raise):
                    continue
                yield from after(site, anchor, (back,), cost)


def _back(statement: ast.stmt) -> tuple[str, str]:
    """The statement that takes another one back, and what it would call; '' where there is none."""
    match statement:
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=into, attr=attr), args=[value])):
            if attr in _BACK:
                code = f"{ast.unparse(into)}.{_BACK[attr].format(ast.unparse(value))}"
                return code, code.partition("(")[0]
        case ast.AugAssign(op=ast.Add() | ast.Sub() as sign, target=target, value=value):
            other = "-=" if isinstance(sign, ast.Add) else "+="
            return f"{ast.unparse(target)} {other} {ast.unparse(value)}", ""
    return "", ""


def _around(scope: MutationContext, statement: ast.stmt) -> str:
    """The name of the innermost function around a statement."""
    inner = (a.name for a in scope.above(statement) if isinstance(a, Function))
    return next(inner, "")


def _recurs(statement: ast.stmt, name: str) -> bool:
    """Whether a statement calls the function that it is in."""
    for node in ast.walk(statement):
        match node:
            case ast.Call(func=ast.Name(id=called) | ast.Attribute(
                value=ast.Name(id="self" | "cls"), attr=called
            )) if called == name:  # fmt: skip
                return True
    return False
