"""What has to happen in any case: what follows a `yield a` moves into its `finally`.

What follows a `yield` in a context manager runs after an exception too (1.9), as does the second of
a pair such as `acquire` and `release` (2.4).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TypeGuard

from heal_bot.repair.templates.mutation_context import MutationContext
from heal_bot.repair.templates.statement_insertion import indented, is_multiline, newline, step
from heal_bot.repair.templates.target_ast import TargetAst, last_name
from heal_bot.repair.templates.text_edits import Mutation, TextEdit

_JUMPS = ast.Return | ast.Break | ast.Continue
_MANAGER, _PAIR = 1.9, 2.4
_PAIRS = {"acquire": "release", "open": "close", "start": "stop", "enter": "exit",
          "lock": "unlock", "push": "pop", "append": "pop", "connect": "close", "begin": "end",
          "add": "discard", "enable": "disable"}  # fmt: skip
# A pair farther apart is seldom one.
_NEAR = 12
_MANAGERS = frozenset({"contextmanager", "asynccontextmanager", "fixture"})


def finally_done(scope: MutationContext) -> Iterator[Mutation]:
    """What has to happen in any case moves into `finally`."""
    site, function = scope.site, scope.site.function
    if function is None:
        return
    managed = any(_called_name(mark) in _MANAGERS for mark in function.decorator_list)
    for block in site.blocks():
        for at, statement in enumerate(block[:-1]):
            if managed and isinstance(statement, ast.Expr | ast.Assign) and _yields(statement):
                yield from _in_finally(site, block[at : at + 1], block[at + 1 :], _MANAGER)
            for end in range(at + 2, min(at + _NEAR, len(block))):
                if _is_pair(statement, block[end]) and not _set_between(block[at:end]):
                    yield from _in_finally(site, block[at + 1 : end], block[end : end + 1], _PAIR)


def _called_name(node: ast.expr) -> str:
    """What a function or decorator is called, whatever it is read from."""
    return last_name(getattr(node, "func", node))


def _yields(statement: ast.Expr | ast.Assign) -> bool:
    return isinstance(statement.value, ast.Yield)


def _is_pair(one: ast.stmt, other: ast.stmt) -> bool:
    """Whether the second statement takes back what the first one did."""
    did, undoes = _function(one), _function(other)
    match one, other:
        case ast.AugAssign(op=ast.Add()), ast.AugAssign(op=ast.Sub()):
            return ast.unparse(one.target) == ast.unparse(other.target)
        case ast.Expr(), ast.Expr() if isinstance(did, ast.Attribute):
            owner: ast.expr = did.value
        case ast.Assign(targets=[owner]), ast.Expr():
            pass
        case _:
            return False
    if did is None or not isinstance(undoes, ast.Attribute):
        return False
    same = ast.unparse(owner) == ast.unparse(undoes.value)
    return same and _PAIRS.get(_called_name(did)) == undoes.attr


def _set_between(block: list[ast.stmt]) -> bool:
    """Whether what the first statement set is set again by those that follow."""
    names = {n.id for n in ast.walk(block[0]) if _is_stored(n)}
    later = (n for statement in block[1:] for n in ast.walk(statement))
    return any(n.id in names for n in later if _is_stored(n))


def _is_stored(node: ast.AST) -> TypeGuard[ast.Name]:
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)


def _function(statement: ast.stmt) -> ast.expr | None:
    """What a statement calls, awaited or not."""
    value = getattr(statement, "value", None)
    call = value.value if isinstance(value, ast.Await) else value
    return call.func if isinstance(call, ast.Call) else None


def _in_finally(
    site: TargetAst, tried: list[ast.stmt], always: list[ast.stmt], cost: float
) -> Iterator[Mutation]:
    """The statements in a `try`, and those that follow in its `finally`."""
    last = site.whole(always[-1])
    if last is None or any(map(is_multiline, (*tried, *always))):
        return
    if not all(map(site.whole, (*tried, *always))):
        return
    # A jump in `finally` swallows the exception.
    if any(isinstance(node, _JUMPS) for statement in always for node in ast.walk(statement)):
        return
    begin = site.starts[tried[0].lineno - 1]
    middle = site.starts[always[0].lineno - 1]
    indent, end = site.indent(tried[0]), newline(site)
    body, rest = (
        indented(site, span, step(indent)) for span in ((begin, middle), (middle, last[1]))
    )
    text = f"{indent}try:{end}{body}{indent}finally:{end}{rest}"
    why = f"what line {site.line(always[0])} does happens after an exception too"
    # The test that needs it leaves before it comes there.
    yield Mutation((TextEdit(begin, last[1], text),), cost, site.line(tried[0]), why)
